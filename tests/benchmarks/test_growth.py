"""Growth is measured at every requested size and drawn."""

from xml.etree import ElementTree

import growth
import pytest


@pytest.mark.parametrize("name", growth.PROGRAMS)
def test_every_size_is_measured(name):
    points = growth.by_size(name, [10, 100], rounds=1)
    assert [point.number for point in points] == [10, 100]
    assert all(point.figure > 0 and point.reference > 0 for point in points)


def test_a_first_call_takes_longer_than_later_ones():
    for point in growth.by_length([10, 100], rounds=1):
        assert point.figure > point.reference > 0


def test_sizes_are_powers_of_ten():
    assert growth.decades(10_000) == [10, 100, 1_000, 10_000]


def test_plots_have_labels_for_their_curves(tmp_path):
    pytest.importorskip("matplotlib")
    points = [growth.Point(10, 5.0, 2.0), growth.Point(100, 2.0, 1.0)]
    growth.draw(tmp_path / "growth.svg", dict.fromkeys(growth.PROGRAMS, points), points)
    texts = [*ElementTree.parse(tmp_path / "growth.svg").getroot().itertext()]
    assert {*growth.PROGRAMS, "first", "later", "elements"} <= {text.strip() for text in texts}
