"""Convolutions against loops, NumPy's and SciPy's; transposes against derivatives."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from gradwire_engine.answer import Limits
from gradwire_engine.autodiff.reverse import gradient
from gradwire_engine.backends.plan import plan
from gradwire_engine.check import Call, interpret, trace
from gradwire_engine.ops.base import FUNCTIONS
from gradwire_engine.ops.builder import Builder
from gradwire_engine.ops.promotion import DTYPES
from gradwire_engine.tape import ArrayType
from numpy.testing import assert_allclose, assert_array_equal
from scipy import signal

from tests.engine.ops.sampled import checked

RNG = np.random.default_rng(3)
NUMBERS = [name for name, dtype in DTYPES.items() if dtype.kind in "iufc"]
X = RNG.integers(0, 5, (2, 4, 6, 5))
W = RNG.integers(0, 4, (6, 2, 3, 2))
A = RNG.integers(0, 9, (4, 5))
V = RNG.integers(0, 9, (2, 3))
TOLERANCES = {"float16": 1e-2, "bfloat16": 1e-1, "float32": 1e-5, "complex64": 1e-5}


def value(name, *args, **kwargs):
    call = Call.of(name, *args, **kwargs)
    return checked(call)[0]


def close(ours, theirs):
    assert ours.dtype == theirs.dtype
    tolerance = TOLERANCES.get(str(theirs.dtype), 1e-9)
    assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance * np.abs(theirs).max())


def looped(x, w, stride, pairs, dilation, groups):
    """Two lengths, every sum written out."""
    filters, each, *sizes = w.shape
    x = np.pad(x, ((0, 0), (0, 0), *pairs))
    spans = [d * (k - 1) + 1 for k, d in zip(sizes, dilation, strict=True)]
    counts = [(n - m) // s + 1 for n, m, s in zip(x.shape[2:], spans, stride, strict=True)]
    z = np.zeros((len(x), filters, *counts), x.dtype)
    for f, i, j in np.ndindex(*z.shape[1:]):
        first = f // (filters // groups) * each
        top, left = i * stride[0], j * stride[1]
        part = x[:, first : first + each, top : top + spans[0], left : left + spans[1]]
        z[:, f, i, j] = (part[:, :, :: dilation[0], :: dilation[1]] * w[f]).sum((1, 2, 3))
    return z


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize(
    ("stride", "pairs", "dilation"),
    [
        ((1, 1), ((0, 0), (0, 0)), (1, 1)),
        ((2, 3), ((1, 0), (2, 2)), (1, 2)),
        ((1, 2), ((2, 2), (0, 1)), (3, 1)),
    ],
)
def test_layers_are_loops(dtype, stride, pairs, dilation):
    x, w = X.astype(dtype), W.astype(dtype)
    found = value("conv", x, w, stride, pairs, dilation, 2)
    close(found, looped(x, w, stride, pairs, dilation, 2))


def test_padding_by_name():
    found = value("conv", X[..., 0], W[:, :, :, 0], padding="same", stride=2, groups=2)
    expected = looped(X[..., :1], W[..., :1], (2, 1), ((0, 1), (0, 0)), (1, 1), 2)
    assert_array_equal(found, expected[..., 0])
    found = value("conv", X, W, padding="valid", groups=2)
    assert_array_equal(found, value("conv", X, W, groups=2))


def test_input_dilation_puts_zeros_between():
    spaced = np.zeros((2, 4, 11, 13), int)
    spaced[:, :, ::2, ::3] = X
    found = value("conv", X, W, 1, 1, 1, 2, (2, 3))
    assert_array_equal(found, value("conv", spaced, W, 1, 1, 1, 2))


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"stride": (2, 3), "groups": 2},
        {"padding": ((1, 0), (0, 2)), "dilation": (1, 2)},
        {"padding": ((-1, 1), (0, -1))},
    ],
)
def test_transposes_are_derivatives(gradients, parameters):
    """``sum(z conv(x))`` has the gradient ``conv_transpose(z)`` in ``x``, where windows fit."""
    w = W[:, :2] if parameters.get("groups") else np.concatenate([W, W], 1)
    shape = value("conv", X, w, **parameters).shape
    z = RNG.integers(0, 5, shape)
    (bar,) = gradients(lambda f, x: f.multiply(f.conv(x, w.tolist(), **parameters), z.tolist()), X)
    found = value("conv_transpose", z, w, **parameters)
    expected = np.zeros(X.shape)
    kept = tuple(map(slice, found.shape))
    expected[kept] = np.asarray(bar)[kept]
    assert_allclose(bar, expected)  # what no window held has no derivative
    assert_allclose(found, expected[kept])


def test_the_transpose_of_same_is_stride_times_as_long():
    for step, size in product((1, 2, 4), (1, 2, 3)):
        assert value("conv_transpose", X[0, :, :, 0], W[:4, :, :size, 0], step, "same").shape == (
            2,
            6 * step,
        )


@pytest.mark.parametrize("dtype", DTYPES)
def test_windows_are_numpys(dtype):
    x = A.astype(dtype)
    for shape, axis in (((2, 3), None), (3, 0), ((2, 1), (1, 0)), ((2,), (-1,))):
        found = value("sliding_window_view", x, shape, axis)
        close(found, np.lib.stride_tricks.sliding_window_view(x, shape, axis))


def test_folding_counts_the_windows_that_hold_an_element():
    ones = np.ones((6, 9))
    found = value("fold", ones, (4, 6), (2, 3), (1, 2), (0, 1))
    assert_array_equal(found[0], np.outer([1, 2, 2, 1], [1, 2, 1, 2, 1, 1]))
    unfolded = value("unfold", np.ones((1, 4, 6)), (2, 3), (1, 2), (0, 1))
    assert unfolded.shape == ones.shape


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_arrays_are_scipys(name, mode, dtype):
    function = getattr(signal, name)
    for x, y in ((A, V), (V, A), (A[0], V[0]), (A[None], V[:, None]), (A, A)):
        if mode == "valid" and x.ndim == 3:
            continue
        a, v = x.astype(dtype), y.astype(dtype)
        expected = function(a.astype(complex if a.dtype.kind == "c" else float), v, mode, "direct")
        found = value(f"signal.{name}", a, v, mode)
        close(found, expected.astype(dtype))


def test_the_cost_counts_every_pair():
    call = Call.of("signal.convolve", np.ones((30, 20)), np.ones((4, 5)))
    b, _, outputs = trace(call.record, call.values)
    assert plan(b.tape(outputs)).flops == 2 * 600 * 20


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_fourier_convolutions_are_scipys(mode, dtype):
    a, v = A.astype(dtype), V.astype(dtype)
    close(value("fftconvolve", a, v, mode), signal.fftconvolve(a, v, mode))
    close(value("fftconvolve", a, v[:1], mode, 1), signal.fftconvolve(a, v[:1], mode, 1))
    by_axis = signal.fftconvolve(a.T, v.T[:, :1], mode, 0)
    close(value("signal.fftconvolve", a.T, v.T[:, :1], mode, 0), by_axis)


@pytest.mark.parametrize("boundary", ["fill", "wrap", "symm"])
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("name", ["convolve2d", "correlate2d"])
def test_boundaries_are_scipys(name, mode, boundary):
    a, v = A + 0.5j, V * (1 - 0.25j)
    close(value(name, a, v, mode, boundary), getattr(signal, name)(a, v, mode, boundary))
    filled = getattr(signal, name)(A * 1.0, V, mode, fillvalue=1.5)
    close(value(name, A * 1.0, V, mode, fillvalue=1.5), filled)


@pytest.mark.parametrize(
    ("n", "m"), [((9,), (4,)), ((5, 6), (2, 3)), ((4, 5), (4, 4)), ((3,), (3,))]
)
def test_derivatives_of_convolutions_compute_no_more_than_is_read(n, m):
    """A gradient has as many products as the convolution, for each operand."""
    x, y = RNG.normal(size=n), RNG.normal(size=m)
    name = "convolve" if len(n) == 1 else "signal.convolve"
    b = Builder(Limits())
    operands = [b.input(ArrayType(np.dtype("float64"), shape)) for shape in (n, m)]
    z = FUNCTIONS[name].record(b, *operands)
    bars = gradient(b, [z], operands)
    made = [i for i in b.instructions if i.op.name.endswith("convolution")]
    kinds: list[Any] = [[i.type, *[b.instructions[a].type for a in i.args]] for i in made]
    costs = [i.op.flops(*of_one) for i, of_one in zip(made, kinds, strict=True)]
    assert costs == [2 * x.size * y.size] * 3
    found = [bar for bar in bars if bar is not None]
    results = interpret(b.tape(found), [x, y])
    ones = np.ones(z.type.shape)
    for bar, operand, other in zip(found, (x, y), (y, x), strict=True):
        expected = signal.correlate(ones, other, "valid")
        assert_allclose(results[bar.slot], expected, rtol=1e-12)
        assert expected.shape == operand.shape
