"""Attention: what is masked, and what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.engine.ops.calls import results

RNG = np.random.default_rng(53)
Q, K, V = RNG.normal(size=(2, 3, 4)), RNG.normal(size=(2, 5, 4)), RNG.normal(size=(2, 5, 6))


def attended(*args, **kwargs):
    return results("scaled_dot_product_attention", *args, **kwargs)[0]


def expected(scores):
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ V


def test_means_of_values():
    scores = Q @ K.swapaxes(1, 2)
    assert_allclose(attended(Q, K, V), expected(scores / 2))
    assert_allclose(attended(Q, K, V, scale=0.3), expected(scores * 0.3))
    added = RNG.normal(size=(3, 5))
    assert_allclose(attended(Q, K, V, added), expected(scores / 2 + added))


def test_masks_agree():
    seen = np.tri(3, 5, dtype=bool)
    found = attended(Q, K, V, is_causal=True)
    assert_array_equal(attended(Q, K, V, seen), found)
    assert_array_equal(attended(Q, K, V, np.where(seen, 0.0, -np.inf)), found)
    assert_allclose(found[:, 0], V[:, 0])


@pytest.mark.parametrize("mask", [np.zeros((3, 5), bool), np.full((3, 5), -np.inf)])
def test_a_query_that_may_look_at_nothing_gets_zeros(gradients, mask):
    assert not attended(Q, K, V, mask).any()

    def function(f, q, k, v):
        return f.scaled_dot_product_attention(q, k, v, f.b.constant(mask))

    for bar in gradients(function, Q, K, V):
        assert not np.any(bar)


def test_large_scores_do_not_overflow():
    assert np.isfinite(attended(Q * 1e200, K * 1e100, V, np.tri(3, 5, dtype=bool))).all()
