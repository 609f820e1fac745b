"""Functions whose kernels are more than one of NumPy's: their values beside extended precision."""

import numpy as np
import pytest
from gradwire_engine.answer import Limits
from gradwire_engine.autodiff.reverse import gradient
from gradwire_engine.backends.reference.namespace import NUMPY
from gradwire_engine.backends.walk.backend import NUMPY_BACKEND
from gradwire_engine.ops.base import FUNCTIONS, PRIMITIVES
from gradwire_engine.ops.builder import Builder
from gradwire_engine.optimize.simplify import optimize
from gradwire_engine.tape import ArrayType
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from tests.engine.conftest import Asker

#: Both sides of the length from which on kernels take another way.
LENGTHS = st.sampled_from([1, 7, 300])
EXPONENTS = st.floats(-800, 800) | st.floats(-2, 2) | st.sampled_from([0.0, -0.0])
EDGES = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 1e308, -1e308, 5e-324, 709.9, -745.2])


def computed(name, *operands):
    with np.errstate(all="ignore"):
        return PRIMITIVES[name]().kernel(NUMPY, *operands)


def drawn(length):
    return arrays(np.float64, length, elements=EXPONENTS)


def log_of_sum(x, y):
    top = np.maximum(x, y)
    return top + np.log1p(np.exp(-np.abs(x - y)))


@given(LENGTHS.flatmap(drawn))
def test_softplus(x):
    expected = log_of_sum(x.astype(np.longdouble), np.longdouble(0))
    assert_allclose(computed("softplus", x), expected, rtol=1e-15, atol=1e-323)


@given(LENGTHS.flatmap(drawn))
def test_sigmoid(x):
    with np.errstate(over="ignore"):
        expected = 1 / (1 + np.exp(-x.astype(np.longdouble)))
    assert_allclose(computed("sigmoid", x), expected, rtol=1e-15, atol=1e-307)


@given(LENGTHS.flatmap(lambda n: st.tuples(drawn(n), drawn(n) | EXPONENTS.map(np.float64))))
def test_logaddexp(pair):
    x, y = pair
    expected = log_of_sum(x.astype(np.longdouble), y.astype(np.longdouble))
    scale = np.maximum(np.abs(x), np.abs(y)) + 1  # near 0 the sum of two numbers is
    error = np.abs(computed("logaddexp", x, y) - expected)
    assert (error <= 1e-15 * scale).all()


@pytest.mark.parametrize("repeats", [1, 100])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_edges_are_those_of_numpy(repeats, dtype):
    with np.errstate(all="ignore"):
        x, y = np.stack(np.meshgrid(np.repeat(EDGES, repeats), EDGES)).astype(dtype)
        kind = np.finfo(dtype)
        expected = np.logaddexp(x, y)
        near = {"rtol": 4 * kind.eps, "atol": kind.smallest_normal}
        assert_allclose(computed("logaddexp", x, y), expected, **near)
        zero = np.zeros((), dtype)
        assert_allclose(computed("softplus", x), np.logaddexp(x, zero), **near)


@pytest.mark.parametrize("text", ["logaddexp(0, x)", "logaddexp(x, 0.0)", "softplus(x)"])
def test_a_sum_with_one_has_the_logistic_slope(ask, text):
    x = np.array([-np.inf, -1e3, -1.0, 0.0, 2.0, 1e3])
    answer = ask.answer(f"sum({text})", {"x": x})
    assert_allclose(answer.value, np.logaddexp(0, x).sum(), rtol=1e-15)
    assert_array_equal(answer.gradients["x"], computed("sigmoid", x))


@given(arrays(np.float64, (3, 5), elements=EXPONENTS | st.just(-np.inf)))
def test_logsumexp_has_the_slopes_of_softmax(x):
    """In rows with finite elements; a row of ``-inf`` has no slope."""
    answer = Asker().answer("sum(where(isfinite(x), logsumexp(x, 1)[:, None], 0))", {"x": x})
    exact = x.astype(np.longdouble)
    some = np.isfinite(x).any(axis=1, keepdims=True)
    top = np.where(some, exact.max(axis=1, keepdims=True), 0)
    powers = np.exp(exact - top)
    total = np.where(some, powers.sum(axis=1, keepdims=True), 1)
    value = np.where(np.isfinite(x), np.log(total) + top, 0).sum()
    slopes = powers / total * np.isfinite(x).sum(axis=1, keepdims=True)
    assert_allclose(float(answer.value), float(value), rtol=1e-14, atol=1e-13)
    found = answer.gradients["x"]  # differences of up to 1,600 are exact to 2e-13
    assert_allclose(found, slopes.astype(float), rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("name", ["logsumexp", "log_softmax", "softmax"])
def test_value_and_gradient_take_the_same_exponentials(name):
    b = Builder(Limits())
    x = b.input(ArrayType(np.dtype(float), (3, 5)))
    y = FUNCTIONS[name].record(b, x, 1)
    (x_bar,) = gradient(b, [FUNCTIONS["sum"].record(b, y * y)], [x])
    assert x_bar is not None
    ops = [i.op.name for i in optimize(b.tape([y, x_bar]), NUMPY_BACKEND).instructions]
    assert ops.count("exp") + ops.count("softmax") == 1
