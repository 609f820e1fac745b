from itertools import islice, repeat

import gradwire
import gradwire.adapters.optax
import jax
import numpy as np
import optax
import pytest

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3)).astype(np.float32)
Y = (X @ [1.0, -2.0, 0.5] + 0.7).astype(np.float32)
LEAST = np.linalg.lstsq(np.column_stack([X, np.ones(40)]), Y, rcond=None)[0]


def loss(params, x, y):
    return np.mean((x @ params["w"] + params["b"] - y) ** 2)


def start(kind):
    return {"w": kind(np.zeros(3, np.float32)), "b": kind(np.float32(0.0))}


@pytest.mark.parametrize("kind", [np.asarray, jax.numpy.asarray], ids=["NumPy", "JAX"])
def test_a_step_is_one_request(client, transport, kind):
    batches = islice(repeat((X, Y)), 150)
    before = transport.count
    walk = gradwire.adapters.optax.steps(loss, start(kind), optax.adam(0.1), batches, client=client)
    taken = list(walk)
    assert transport.count - before == 150
    assert taken[0].value == pytest.approx(np.mean(Y**2))
    assert taken[-1].value < 1e-3
    assert np.allclose(taken[-1].params["w"], LEAST[:3], atol=0.05)
    assert isinstance(taken[-1].params["b"], jax.Array)
    assert taken[-1].params["w"].dtype == np.float32


def test_line_searches_get_function_values(client):
    walk = gradwire.adapters.optax.steps(
        loss, start(np.asarray), optax.lbfgs(), islice(repeat((X, Y)), 7), client=client
    )
    *_, last = walk
    assert np.allclose(last.params["w"], LEAST[:3], atol=1e-3)
    assert np.allclose(last.params["b"], LEAST[3], atol=1e-3)


def test_a_hand_written_loop_needs_no_adapter(client, requests):
    derive = gradwire.value_and_grad(loss, client=client)
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.sgd(0.1))
    params = start(jax.numpy.asarray)
    state = optimizer.init(params)
    with requests(1):
        value, gradients = derive(params, X, Y)
    updates, state = optimizer.update(gradients, state, params)
    moved = optax.apply_updates(params, updates)
    assert derive(moved, X, Y)[0] < value
