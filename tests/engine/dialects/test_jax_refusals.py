"""Refusals of arguments that JAX's functions do not take: they say which they do take."""

import numpy as np
import pytest
from gradwire_engine.errors import BadArgument, ShapeMismatch

VARIABLES = {"x": np.array([[0.5, -1.5, 2.0], [1.0, 0.25, -0.75]]), "v": np.array([3.0, -1.0, 2.0])}


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("lax.dot_general(v, v, 5)", BadArgument, "two pairs of axes, got an integer"),
        ("lax.dot_general(v, v, [1, 2])", BadArgument, "two pairs of axes, got a list"),
        ("lax.dot_general(v, v, [])", BadArgument, "two pairs of axes, got a list"),
        ("lax.dot_general(v, v, [[1, [0]], [[], []]])", ShapeMismatch, "no axis 1"),
        ("lax.dot_general(v, v, [[[0], 1], [[], []]])", ShapeMismatch, "no axis 1"),
        ("lax.dot_general(v, v, [['a', 1], [[], []]])", BadArgument, "dimension_numbers must be"),
        ("lax.pad(v, 0.0, 1)", ShapeMismatch, "for each of 1 axes, got .* and an integer"),
        ("lax.pad(v, 0.0, [(1, 1)])", ShapeMismatch, "for each of 1 axes, got .* and a list"),
        ("lax.slice_in_dim(v, 'a', 1)", BadArgument, "start must be an integer, got a string"),
        ("lax.slice_in_dim(v, 0, 1.5)", BadArgument, "stop must be an integer, got a number"),
        ("lax.slice_in_dim(v, 0, 2**63)", BadArgument, "stop must be an integer of at most 64"),
        ("lax.collapse(x, 'a')", BadArgument, "start must be an integer, got a string"),
        (
            "lax.reduce_window(v, 0.0, lax.add, 1, base_dilation=2)",
            BadArgument,
            "base_dilation 1 only",
        ),
        (
            "lax.reduce_window(v, 0.0, lax.add, 1, base_dilation='a')",
            BadArgument,
            "base_dilation must be an integer, got a string",
        ),
        (
            "lax.conv_general_dilated_patches(v[None, None], (1,), (1,), 'SAME', 2)",
            BadArgument,
            "lhs_dilation 1 only",
        ),
        ("lax.reduce(x, 0.0, lax.add, 'a')", BadArgument, "dimensions must be an integer"),
        ("lax.scan(lambda c, t: (c, t), 0.0)", BadArgument, "arrays to go through, or a length"),
        ("lax.scan(lambda c, t: (c, t), 0.0, [])", BadArgument, "arrays to go through, or a"),
        ("lax.associative_scan(add, [])", BadArgument, "at least one array"),
        ("lax.associative_scan(lambda a, b: [], v)", ShapeMismatch, "of the shapes it takes"),
        ("lax.associative_scan(lambda a, b: a[:1], v)", ShapeMismatch, "of the shapes it takes"),
        ("lax.associative_scan(lambda a, b: a, [v, 1.0])", ShapeMismatch, "one length along axis"),
        ("lax.associative_scan(lambda a, b: a, [v, x])", ShapeMismatch, "one length along axis"),
    ],
)
def test_is_refused(ask, text, error, message):
    with pytest.raises(error, match=message) as caught:
        ask.value(text, VARIABLES)
    assert type(caught.value) is error


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("lax.reduce_window(v, 0.0, lax.add, 1, base_dilation=1)", [3, -1, 2]),
        ("lax.conv_general_dilated_patches(v[None, None], (1,), (1,), 'SAME', 1)", [[[3, -1, 2]]]),
        ("lax.reduce(v, 0.0, lax.add, 0)", 4),
        ("lax.scan(lambda c, t: (2 * c, c), 1.0, [], length=3)[1]", [1, 2, 4]),
        ("lax.scan(lambda c, t: (c, t), 1.0, [], length=3)[0]", 1),
        ("lax.slice_in_dim(v, -2, None)", [-1, 2]),
        ("lax.collapse(x, 0)", VARIABLES["x"].ravel()),
    ],
)
def test_what_is_close_to_it_is_answered(ask, text, expected):
    np.testing.assert_array_equal(ask.value(text, VARIABLES), expected)
