"""Quality values in ``Accept`` and similar headers."""

import pytest
from gradwire_service.wire.preferences import qualities, quality


def test_names_and_quality_values_are_parsed():
    assert qualities("Text/HTML;level=1;q=0.5, a/b ;Q=0.25,*/*;q=x") == {
        "text/html": 0.5,
        "a/b": 0.25,
        "*/*": 0.0,
    }
    assert qualities("gzip") == {"gzip": 1.0}


@pytest.mark.parametrize(
    ("ranges", "expected"),
    [
        ({"*/*": 0.1}, 0.1),
        ({"a/*": 0.2, "*/*": 0.1}, 0.2),
        ({"a/b": 0.0, "a/*": 0.2}, 0.0),
        ({"a/c": 1.0}, 0.0),
    ],
)
def test_the_most_specific_range_applies(ranges, expected):
    assert quality("a/b", ranges) == expected
