"""Convolutions and poolings give PyTorch's and TensorFlow's values and gradients.

Recorded from PyTorch 2.13 and TensorFlow 2.21 in double precision: the shape, the mark of the
value ``z``, and the marks added up of the gradients of ``sum(z sin z)``.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.tables import cases


def waves(shapes):
    return {
        name: np.sin(1.7 * k + np.arange(np.prod(shape)) * 1.3).reshape(shape)
        for k, (name, shape) in enumerate(shapes.items())
    }


TORCH = waves(
    {
        "x1": (2, 4, 9),
        "w1": (6, 4, 3),
        "w1g": (6, 2, 2),
        "d1": (4, 1, 3),
        "b6": (6,),
        "x2": (2, 4, 7, 6),
        "w2": (6, 4, 3, 2),
        "w2g": (6, 2, 2, 3),
        "d2": (8, 1, 3, 3),
        "x3": (1, 2, 5, 4, 6),
        "w3": (3, 2, 2, 3, 2),
        "u1": (4, 3, 3),
        "u2": (4, 3, 3, 2),
        "u2g": (4, 2, 3, 3),
        "u3": (2, 3, 2, 3, 2),
        "b3": (3,),
        "p2": (2, 4, 7, 6),
        "c2": (2, 24, 30),
    }
)
TORCH["p2"] += 1.5
TF = waves(
    {
        "x1": (2, 9, 4),
        "w1": (3, 4, 6),
        "x2": (2, 7, 6, 4),
        "w2": (3, 2, 4, 6),
        "w2g": (2, 3, 2, 6),
        "d2": (3, 3, 4, 2),
        "pw": (1, 1, 8, 5),
        "x3": (1, 5, 4, 6, 2),
        "w3": (2, 3, 2, 2, 3),
        "u1": (3, 5, 4),
        "u2": (3, 2, 5, 4),
        "u3": (2, 3, 2, 3, 2),
    }
)


def mark(z):
    """A number that tells arrays of one size apart."""
    return np.cos(np.arange(z.size)) @ np.ravel(z)


def compare(ask, text, variables, shape, value, gradient):
    used = {name: v for name, v in variables.items() if name in text}
    z = ask.value(text, used)
    assert z.shape == tuple(shape)
    assert mark(z) == pytest.approx(value, rel=1e-8, abs=1e-8)
    if z.dtype.kind == "f":
        bars = ask.gradients(f"z = {text}\nsum(z * sin(z))", used).values()
        total = sum(mark(np.asarray(bar)) for bar in bars if bar is not None)
        assert total == pytest.approx(gradient, rel=1e-8, abs=1e-8)


@cases("text, shape, value, gradient")
def test_torch(ask, text, shape, value, gradient):
    compare(ask, text, TORCH, shape, value, gradient)


@cases("text, shape, value, gradient")
def test_tensorflow(ask, text, shape, value, gradient):
    compare(ask, text, TF, shape, value, gradient)


@cases("text, channels_last, numbers")
def test_channels_come_first_or_last(ask, text, channels_last, numbers):
    first = channels_last[0] + "C" + channels_last[1:-1]
    lengths = len(first) - 2
    x = TF[f"x{lengths}"]
    expected = ask.value(text.format(numbers[0], channels_last), {**TF, "x": x})
    short, whole = numbers
    if isinstance(whole, str):
        bracketed = whole.strip("[]").split(", ")
        moved = ", ".join([bracketed[0], bracketed[-1], *bracketed[1:-1]])
        whole = f"[{moved}]" if "[" in whole else moved
    for given in (short, whole):
        found = ask.value(text.format(given, first), {**TF, "x": np.moveaxis(x, -1, 1)})
        assert_allclose(np.moveaxis(found, 1, -1), expected, atol=1e-12)


def test_ceiling_keeps_no_window_beyond_the_elements(ask):
    text = "torch.nn.functional.max_pool1d(x, 2, 3, 1, ceil_mode=True)"
    assert ask.value(text, {"x": np.arange(6.0)[None]}).tolist() == [[0, 3, 5]]


def test_norms_of_zeros_have_derivative_zero(ask):
    found = ask.gradients("sum(F.lp_pool1d(x, 2, 2))", {"x": np.array([[0.0, 0, 3, 4]])})
    assert_allclose(found["x"], [[0, 0, 0.6, 0.8]])
    assert ask.value("F.lp_pool1d([[2, 4]], -1, 2)") == 4 / 3


@cases("text, error, message")
def test_torch_refuses(ask, text, error, message):
    with pytest.raises(error, match=message):
        ask.value(text, TORCH)


@cases("text, error, message")
def test_tensorflow_refuses(ask, text, error, message):
    with pytest.raises(error, match=message):
        ask.value(text, TF)


@cases("text, expected")
def test_scipys_and_numpys_names(ask, text, expected):
    variables = {"x": np.array([[0.0, 2, 2], [4, 3, 5]]), "y": np.array([[1.0, 2], [3, 4]])}
    assert_allclose(ask.value(text, variables), expected, atol=1e-12)
