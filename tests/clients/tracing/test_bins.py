"""Bins, counts and choices are NumPy's, and refused by value where NumPy raises an error."""

import itertools

import gradwire
import numpy as np
import pytest

X = np.array([0.5, -1.0, 3.0, 1.0, 0.0, 2.0])
EDGES = [
    *itertools.product((0.0, 1.0, 2.0), repeat=3),
    *([], [1.0], [2.0, 1.0], [3.0, 2.0, 2.0, 0.5], [0.0, 1.0, 3.0, 2.5]),
]
NUMBERS = [*itertools.product((-1, 0, 1, 2), repeat=3)]


def agrees(client, f, *args):
    """Whether a function has NumPy's value, or is refused where NumPy refuses it."""
    try:
        expected = f(*args)
    except ValueError:
        with pytest.raises(gradwire.GradwireError):
            client.function(f)(*args)
    else:
        np.testing.assert_array_equal(client.function(f)(*args), expected)


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("edges", EDGES)
def test_bins_rise_or_fall(client, edges, right):
    agrees(client, lambda x: np.digitize(x, edges, right=right), X)
    agrees(client, lambda x, bins: np.digitize(x, bins, right), X, np.array(edges))


@pytest.mark.parametrize("edges", [edges for edges in EDGES if len(edges) > 1])
def test_edges_of_histograms_rise(client, edges):
    agrees(client, lambda x: np.histogram(x, edges)[0], X)
    agrees(client, lambda x, bins: np.histogram(x, bins, weights=x)[0], X, np.array(edges))


@pytest.mark.parametrize(
    "ends", [(0, 2), (2, 0), (1, 1), (0, np.inf), (np.nan, 1), (-np.inf, np.inf)]
)
def test_ranges_of_histograms(client, ends):
    agrees(client, lambda x: np.histogram(x, 3, range=ends)[0], X)
    agrees(client, lambda x: np.histogram(x, 3)[0], np.append(X, ends[1]))


@pytest.mark.parametrize("numbers", NUMBERS)
def test_counted_and_chosen_numbers(client, numbers):
    numbers = np.array(numbers)
    weights = np.array([1.0, 2.0, 4.0])
    agrees(client, lambda w: np.bincount(numbers, weights=w), weights)
    agrees(client, lambda n, w: np.bincount(n, w, 5), numbers, weights)
    agrees(client, lambda w: np.choose(numbers, [w, w * 2]), weights)
    agrees(client, lambda n, w: np.choose(n, [w, w * 2]), numbers, weights)
