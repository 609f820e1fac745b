"""A row says whether it meets its bar."""

import pytest
from measure import Row


def row(**bars):
    return Row.of("what", [2.0, 4.0, 3.0], [4.0, 4.0, 4.0], "us", **bars)


def test_figures_are_medians_and_the_ratio_is_the_median_of_ratios():
    found = Row.of("what", [1.0, 8.0, 9.0], [1.0, 2.0, 3.0], "us")
    assert (found.figure, found.reference, found.ratio) == (8.0, 2.0, 3.0)


@pytest.mark.parametrize(
    ("bars", "bar", "verdict"),
    [
        ({}, "-", ""),
        ({"figure_bar": 3.0}, "<= 3 us", "ok"),
        ({"figure_bar": 2.5}, "<= 2.5 us", "over"),
        ({"ratio_bar": 0.75}, "ratio <= 0.75", "ok"),
        ({"ratio_bar": 0.7}, "ratio <= 0.7", "over"),
        ({"ratio_floor": 0.75}, "ratio >= 0.75", "ok"),
        ({"ratio_floor": 0.8}, "ratio >= 0.8", "under"),
    ],
)
def test_bars_are_maximums_and_floors_minimums(bars, bar, verdict):
    found = row(**bars)
    assert (found.bar, found.verdict) == (bar, verdict)
    assert found.cells()[-2:] == [bar, verdict]
