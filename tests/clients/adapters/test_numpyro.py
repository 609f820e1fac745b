import gradwire
import gradwire.adapters.jax
import jax
import numpy as np
import numpyro
import numpyro.distributions as dist
import pytest
from numpyro.infer import HMC, MCMC

X = np.random.default_rng(0).normal(3.0, 0.5, size=50)
DENSITY = gradwire.program("-sum(((x - m) / s)**2) / 2 - size(x) * log(s)", "m", "s", "x")


@pytest.fixture
def model(client):
    density = gradwire.adapters.jax.function(DENSITY, client=client)

    def model():
        m = numpyro.sample("m", dist.Normal(0.0, 10.0))
        s = numpyro.sample("s", dist.HalfNormal(2.0))
        numpyro.factor("x", density(m, s, X))

    return model


def test_one_step_of_all_chains_is_one_request(model, transport):
    kernel = HMC(model, step_size=0.05, num_steps=3, adapt_step_size=False, adapt_mass_matrix=False)
    sampler = MCMC(
        kernel,
        num_warmup=0,
        num_samples=5,
        num_chains=4,
        chain_method="vectorized",
        progress_bar=False,
    )
    before = transport.count
    sampler.run(jax.random.key(0))
    to_start = transport.count - before - 5 * 3
    assert 0 < to_start < 20
    assert sampler.get_samples()["m"].shape == (20,)
