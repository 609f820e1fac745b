"""Draws in the names of ``jax.random``, by their own order of parameters, have their moments."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

COUNT = 20_000
EULER = 0.5772156649015329


@pytest.mark.parametrize(
    ("call", "mean", "variance"),
    [
        ("normal(key, (n,))", 0, 1),
        ("uniform(key, (n,), jnp.float64, -1.0, 3.0)", 1, 16 / 12),
        ("bernoulli(key, 0.3, (n,))", 0.3, 0.21),
        ("binomial(key, 5, 0.3, (n,))", 1.5, 1.05),
        ("beta(key, 2.0, 3.0, (n,))", 0.4, 0.04),
        ("chisquare(key, 3.0, (n,))", 3, 6),
        ("exponential(key, (n,))", 1, 1),
        ("f(key, 3.0, 12.0, (n,))", 1.2, 2 * 144 * 13 / (3 * 100 * 8)),
        ("gamma(key, 2.5, (n,))", 2.5, 2.5),
        ("geometric(key, 0.4, (n,))", 2.5, 0.6 / 0.16),
        ("gumbel(key, (n,))", EULER, math.pi**2 / 6),
        ("laplace(key, (n,))", 0, 2),
        ("logistic(key, (n,))", 0, math.pi**2 / 3),
        ("lognormal(key, 0.5, (n,))", math.exp(0.125), (math.exp(0.25) - 1) * math.exp(0.25)),
        ("maxwell(key, (n,))", math.sqrt(8 / math.pi), 3 - 8 / math.pi),
        ("pareto(key, 6.0, (n,))", 1.2, 6 / (25 * 4)),
        ("poisson(key, 2.5, (n,))", 2.5, 2.5),
        ("rademacher(key, (n,))", 0, 1),
        ("randint(key, (n,), 2, 8)", 4.5, 35 / 12),
        ("rayleigh(key, 2.0, (n,))", 2 * math.sqrt(math.pi / 2), 4 * (2 - math.pi / 2)),
        ("t(key, 9.0, (n,))", 0, 9 / 7),
        ("triangular(key, 0.0, 1.0, 3.0, (n,))", 4 / 3, 7 / 18),
        ("truncated_normal(key, -1.0, 1.0, (n,))", 0, 0.2911250947),
        ("weibull_min(key, 2.0, 2.0, (n,))", math.sqrt(math.pi), 4 - math.pi),
        ("categorical(key, jnp.log(p), shape=(n,))", 1.3, 0.61),
        ("choice(key, 4, (n,))", 1.5, 1.25),
        ("choice(key, jnp.array([0.0, 5.0]), (n,), p=jnp.array([0.8, 0.2]))", 1, 4),
        ("multivariate_normal(key, p, jnp.eye(3), (n,))[:, 2]", 0.5, 1),
        ("dirichlet(key, 2.0 * p, (n,))[:, 1]", 0.3, 0.07),
    ],
)
def test_moments(ask, call, mean, variance):
    text = f"key = jax.random.key(7)\njax.random.{call}"
    variables = {"n": np.array(COUNT), "p": np.array([0.2, 0.3, 0.5])}
    found = np.asarray(ask.value(text, variables), float)
    assert found.shape == (COUNT,)
    assert abs(found.mean() - mean) < 5 * math.sqrt(variance / COUNT)
    spread = np.mean((found - mean) ** 2)
    assert abs(spread - variance) <= 6 * np.std((found - mean) ** 2) / math.sqrt(COUNT)


def test_keys_split_as_jax_writes_it(ask):
    text = """
key = jax.random.PRNGKey(3)
key, sub = jax.random.split(key)
one, other = jax.random.normal(sub, (4,)), jax.random.normal(key, (4,))
again = jax.random.normal(jax.random.split(jax.random.PRNGKey(3))[1], (4,))
folded = jax.random.normal(jax.random.fold_in(sub, 1), (4,))
"""
    one, other, again, folded = ask.value(text, outputs=["one", "other", "again", "folded"])
    assert_array_equal(one, again)
    assert not np.any(np.isin(one, np.concatenate([other, folded])))


def test_permutations_and_draws_without_replacement(ask):
    drawn = "jnp.sort(jax.random.choice(jax.random.key(1), 5, (5,), False))"
    assert_array_equal(ask.value(drawn), np.arange(5))
    mixed = "jnp.sort(jax.random.permutation(jax.random.key(1), jnp.arange(6)))"
    assert_array_equal(ask.value(mixed), np.arange(6))


def test_gradients_of_reparametrised_draws(ask):
    draws = "jax.random.normal(jax.random.key(2), (5,))"
    gradient = ask.gradients(f"sum(m + s * {draws})", {"m": 1.0, "s": 2.0}, sources=["m", "s"])
    assert_allclose(gradient, [5, np.sum(ask.value(draws))])
