"""JAX's names compute what JAX says they do, and refuse what it refuses."""

import numpy as np
import pytest
from gradwire_engine.errors import ArgumentError, UnknownOperation
from numpy.testing import assert_allclose, assert_array_equal

from tests.tables import cases, table

X = np.array([[0.5, -1.5, 2.0], [1.0, 0.25, -0.75]])
V = np.array([3.0, -1.0, 2.0])
S = np.array([[4.0, 1.0], [1.0, 3.0]])
VARIABLES = {"x": X, "v": V, "s": S, "k": np.array(-1), "n": np.array([-7, 7, 5])}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *table(__file__, "test_value"),
        ("lax.scan(lambda c, t: (c * t, t * v), 1.0, v[:0])[1]", np.zeros((0, 3))),
        ("lax.scan(lambda c, t: (c, c + v), 1.0, None, 0, reverse=True)[1]", np.zeros((0, 3))),
        ("lax.map(lambda t: x @ t, x[:0])", np.zeros((0, 2))),
    ],
)
def test_value(ask, text, expected):
    assert_allclose(np.asarray(ask.value(text, VARIABLES)), expected, atol=1e-14)


@pytest.mark.parametrize(
    "text",
    [
        "lax.round(x, 2)",
        "lax.select_n(x > 0, x, x, x)",
        "lax.slice(x, (0, 0), (2, 4))",
        "lax.slice(x, (0,), (2,))",
        "lax.split(v, (1, 1))",
        "lax.collapse(x, 1, 1)",
        "lax.broadcast_in_dim(x, (2, 3), (1, 0))",
        "lax.pad(v, 0.0, [(0, 0)])",
        "lax.pad(v, 0.0, [(0, 0, -1)])",
        "lax.pad(v, 0.0, [(-2, -2, 0)])",
        "lax.dynamic_slice(x, (0,), (1, 1))",
        "lax.dot_general(x, v, (((1,), ()), ((), ())))",
        "lax.conv_general_dilated(x, x, (), 'SAME', dimension_numbers=('NC', 'OI'))",
        "lax.conv_general_dilated(x, x, (), 'SAME', dimension_numbers=('NC', 'OH', 'NC'))",
        "lax.conv_transpose(x[None], x[:, :, None], (1,), 'FULL')",
        "lax.fft(x, 'dct', (3,))",
        "lax.reduce_sum(x)",
        "jnp.block([[x], v])",
        "jnp.block([[x], []])",
        "jnp.block([])",
        "lax.scan(lambda c, t: c, 0.0, v)",
        "lax.scan(lambda c, t: (c, t), 0.0, v, length=2)",
        "lax.scan(lambda c, t: (c, t), 0.0, length=-1)",
        "lax.map(lambda t: t[0], (v, x))",
        "lax.switch(0, [], v)",
        "lax.reduce(x, 1.0, lax.add, (0,))",
        "lax.reduce_window(x, 0.0, lax.sub, (1, 1))",
        "lax.reduce_window(x, 1.0, lax.mul, (1, 1))",
        "lax.reduce_window(x, 0.0, lax.add, (1, 1), base_dilation=(2, 1))",
        "lax.conv_general_dilated_patches(x[None, None], (1, 1), (1, 1), 'SAME', (2, 1))",
        "jax.nn.one_hot(n)",
        "jnp.max(x, where=x > 0)",
    ],
)
def test_what_jax_does_not_take_is_refused(ask, text):
    with pytest.raises(ArgumentError):
        ask.value(text, VARIABLES)


@pytest.mark.parametrize("text", ["lax.summ(x)", "jax.nn.reluu(x)", "jax.scipy.linalg.nothing(x)"])
def test_unknown_names(ask, text):
    with pytest.raises(UnknownOperation):
        ask.value(text, VARIABLES)


@cases("text, expected")
def test_updates_at_places(ask, text, expected):
    assert_array_equal(ask.value(text, VARIABLES), expected)


@pytest.mark.parametrize(
    "text", ["v.at[0].add()", "v.at[0].get(1)", "v.at[0].set([1.0, 2.0])", "v.at[0].set(1, mode=2)"]
)
def test_updates_that_do_not_fit_are_refused(ask, text):
    with pytest.raises(ArgumentError):
        ask.value(text, VARIABLES)


def test_updates_that_are_not_known(ask):
    with pytest.raises(UnknownOperation):
        ask.value("v.at[0].append(1.0)", VARIABLES)


def test_append_of_a_library_is_no_statement(ask):
    assert_array_equal(ask.value("jnp.append(v, 1.0)", VARIABLES), [3, -1, 2, 1])


@cases("text, expected")
def test_functions_that_values_decide_on(ask, text, expected):
    assert_array_equal(ask.value(text, VARIABLES), expected)
