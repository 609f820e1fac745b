"""JAX's names compute what JAX says they do, and refuse what it refuses."""

import numpy as np
import pytest
from gradwire_engine.errors import ArgumentError, UnknownOperation
from numpy.testing import assert_allclose, assert_array_equal

from tests.tables import cases

X = np.array([[0.5, -1.5, 2.0], [1.0, 0.25, -0.75]])
V = np.array([3.0, -1.0, 2.0])
S = np.array([[4.0, 1.0], [1.0, 3.0]])
VARIABLES = {"x": X, "v": V, "s": S, "k": np.array(-1), "n": np.array([-7, 7, 5])}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("jax.lax.add(x, 1.0) - lax.add(x, 1.0)", 0 * X),
        ("jnp.sum(x) - jax.numpy.sum(x)", 0.0),
        ("jax.numpy.pi + jnp.linalg.norm(jnp.zeros(2))", np.pi),
        ("jax.scipy.linalg.cholesky(s)", np.linalg.cholesky(S).T),
        ("jax.scipy.special.softmax(v)", np.exp(V) / np.exp(V).sum()),
        ("jax.scipy.special.expit(v)", 1 / (1 + np.exp(-V))),
        ("lax.round(2.5 * v)", [8, -3, 5]),
        ("lax.round(2.5 * v, 1)", [8, -2, 5]),
        ("lax.div(n, 2)", [-3, 3, 2]),
        ("lax.rem(n, 2)", [-1, 1, 1]),
        ("lax.dot_general(x, v, (((1,), (0,)), ((), ())))", X @ V),
        ("lax.dynamic_slice(v, (k,), (1,))", [2]),
        ("lax.dynamic_update_slice_in_dim(v, v[:1], k, 0)", [3, -1, 3]),
        ("lax.pad(v, 9.0, [(1, -1, 1)])", [9, 3, 9, -1, 9]),
        ("lax.pad(v, 9.0, [(-9, 9, 1)])", [9] * 5),
        ("lax.pad(v[:0], 9.0, [(1, 1, 5)])", [9, 9]),
        ("lax.pad(v, 9.0, [(-1, 0, 0)], precision='highest')", [-1, 2]),
        ("lax.collapse(x, 0)", X.ravel()),
        ("jax.nn.softmax(v, where=v > 0)", np.exp([3, -np.inf, 2]) / (np.e**3 + np.e**2)),
        ("jax.nn.gelu(v) - jax.nn.gelu(v, True)", 0 * V),
        ("lax.scan(lambda c, t: (c * t, t * v), 1.0, v[:0])[1]", np.zeros((0, 3))),
        ("lax.scan(lambda c, t: (c, c + v), 1.0, None, 0, reverse=True)[1]", np.zeros((0, 3))),
        ("lax.scan(lambda c, t: (c + t, None), 1.0, v[:0])[0]", 1.0),
        ("lax.map(lambda t: x @ t, x[:0])", np.zeros((0, 2))),
        ("jax.vmap(lambda t: lax.cond(t > 0, jnp.sin, jnp.cos, t))(v[:0])", np.zeros(0)),
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("jax.grad(lambda t: jnp.sum(t**2))(v)", 2 * V),
        ("jax.hessian(lambda t: jnp.sum(t**3))(v)", np.diag(6 * V)),
        ("jax.jacfwd(lambda t: t * t)(v)", np.diag(2 * V)),
        ("lax.fori_loop(0, 3, lambda i, c: (2 * c[0], c[1] + i), (v, 0))[0]", 8 * V),
        ("lax.while_loop(lambda c: c[0] < 9, lambda c: 2 * c, v)", 4 * V),
        ("lax.cond(v[0] > 0, lambda a: a, lambda a: -a, v)", V),
        ("lax.scan(lambda c, t: (c + t, None), 0.0, v)[0]", 4),
        ("lax.map(lambda d: d[0] - d[1], [v, v])", 0 * V),
        ("lax.map(lambda d: [d, -d], v)[1]", -V),
        ("jnp.nonzero(v > 0, size=3, fill_value=7)[0]", [0, 2, 7]),
        ("jnp.where(v > 0, size=1)[0]", [0]),
        ("jnp.flatnonzero(x > 0, size=2)", [0, 2]),
        ("jnp.argwhere(v > 0, size=3)", [[0], [2], [0]]),
        ("jnp.bincount(abs(n), length=6)", [0, 0, 0, 0, 0, 1]),
        ("jnp.bincount(abs(n), v, length=9)[7]", 2),
    ],
)
def test_functions_that_values_decide_on(ask, text, expected):
    assert_array_equal(ask.value(text, VARIABLES), expected)
