import gradwire
import numpy as np
import pytest
import scipy.optimize
from gradwire.optimization.parameters import Parameter, bounds_document, ends_document

PARAMETERS = [Parameter("x_w", "w", (2, 2)), Parameter("x_b", "layers.0.b", ())]


def plain(document):
    return {
        name: [np.asarray(end).tolist() if end is not None else None for end in ends]
        for name, ends in document.items()
    }


@pytest.mark.parametrize(
    "given",
    [
        [(0, 1), (0, 1), (0, 2), (0, 2), (None, 3)],
        scipy.optimize.Bounds([0, 0, 0, 0, -np.inf], [1, 1, 2, 2, 3]),
        {"w": (0, [[1, 1], [2, 2]]), "layers[0].b": (None, 3)},
        {"w": (0, [[1, 1], [2, 2]]), "layers": (None, 3)},
    ],
    ids=["pairs", "Bounds", "path", "level"],
)
def test_all_forms_of_bounds_are_the_same(given):
    expected = {"x_w": [0.0, [[1.0, 1.0], [2.0, 2.0]]], "x_b": [None, 3.0]}
    assert plain(bounds_document(given, PARAMETERS)) == expected


def test_ends_are_the_form_of_least_squares():
    assert ends_document((0, np.inf), PARAMETERS) == {"x_w": [0.0, None], "x_b": [0.0, None]}
    given = ([0, 0, 0, 0, -np.inf], [1, 1, 1, 1, 3])
    assert ends_document(given, PARAMETERS) == {"x_w": [0.0, 1.0], "x_b": [None, 3.0]}
    assert ends_document(scipy.optimize.Bounds(1, 2), PARAMETERS) == bounds_document(
        scipy.optimize.Bounds(1, 2), PARAMETERS
    )


@pytest.mark.parametrize("given", [None, {}, scipy.optimize.Bounds(), [(None, None)] * 5])
def test_no_bounds_are_not_sent(given):
    assert bounds_document(given, PARAMETERS) is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([(0, 1)], "a pair .* for each of 5 elements, got 1"),
        ({"v": (0, 1)}, "'v', which is not optimised"),
        ({"w": 3}, "bounds of w are a pair"),
        ([(0, 1), None, *[(0, 1)] * 3], r"bounds\[1\] is no pair \(low, high\): None"),
        ({"w": ([1, 2, 3], None)}, r"the shape \(3,\), but it has \(2, 2\)"),
        (3.0, "got float"),
    ],
)
def test_wrong_bounds_are_named(given, message):
    with pytest.raises(gradwire.UsageError, match=message):
        bounds_document(given, PARAMETERS)


def test_bounds_of_least_squares_are_one_pair():
    with pytest.raises(gradwire.UsageError, match=r"a pair \(low, high\), got 5 items"):
        ends_document([(0, 1)] * 5, PARAMETERS)
