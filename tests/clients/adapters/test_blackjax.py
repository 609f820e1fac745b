import blackjax
import gradwire
import gradwire.adapters.jax
import jax
import jax.numpy as jnp
import numpy as np
import pytest


def log_density(position, x):
    return -0.5 * np.sum((x - position["m"]) ** 2)


def test_a_jax_compiled_sampler_draws_through_the_service(client, transport):
    x = np.random.default_rng(0).normal(3.0, 1.0, size=25)
    adapted = gradwire.adapters.jax.function(log_density, client=client)
    kernel = blackjax.hmc(
        lambda position: adapted(position, x),
        step_size=0.1,
        inverse_mass_matrix=jnp.ones(1),
        num_integration_steps=3,
    )

    @jax.jit
    def run(key, state):
        def step(state, key):
            state, _ = kernel.step(key, state)
            return state, state.position["m"]

        return jax.lax.scan(step, state, jax.random.split(key, 100))[1]

    state = kernel.init({"m": jnp.asarray(2.5)})
    run(jax.random.key(0), state)
    before = transport.count
    drawn = jax.block_until_ready(run(jax.random.key(1), state))
    assert transport.count - before == 100 * 3
    assert np.mean(drawn) == pytest.approx(x.mean(), abs=0.1)
    assert np.std(drawn) == pytest.approx(0.2, abs=0.08)
