"""Refusals of arguments that JAX's functions do not take: they say which they do take."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.tables import cases

VARIABLES = {"x": np.array([[0.5, -1.5, 2.0], [1.0, 0.25, -0.75]]), "v": np.array([3.0, -1.0, 2.0])}


@cases("text, error, message")
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
    assert_array_equal(ask.value(text, VARIABLES), expected)
