import warnings

import gradwire
import gradwire.adapters.pytensor_jax
import jax
import numpy as np
import pytensor
import pytest

with warnings.catch_warnings():  # ArviZ announces its next version
    warnings.simplefilter("ignore", FutureWarning)
    import pymc as pm
    from pymc.sampling.jax import get_jaxified_logp

RNG = np.random.default_rng(0)
X = np.linspace(-1.0, 1.0, 40)
Y = 2.0 * X - 0.5 + RNG.normal(scale=0.3, size=40)


@pytest.fixture
def interpreted():
    """Make functions run in Python instead of compiling C code, which takes seconds."""
    with pytensor.config.change_flags(linker="py", cxx=""):
        yield


def log_likelihood(params, x, y):
    residual = (y - params["slope"] * x - params["at_0"]) / params["scale"]
    return np.sum(-0.5 * residual**2) - len(x) * np.log(params["scale"])


def priors():
    return {
        "slope": pm.Normal("slope", 0.0, 5.0),
        "at_0": pm.Normal("at_0", 0.0, 5.0),
        "scale": pm.HalfNormal("scale", 2.0),
    }


@pytest.fixture
def model(client):
    with pm.Model() as model:
        adapted = gradwire.adapters.pytensor.function(log_likelihood, client=client)
        pm.Potential("y", adapted(priors(), X, Y))
    return model


@pytest.mark.usefixtures("interpreted")
def test_a_density_with_its_gradient_is_one_request(model, requests):
    with pm.Model() as known:
        params = priors()
        pm.Potential(
            "y",
            pm.math.sum(
                pm.logp(pm.Normal.dist(params["slope"] * X + params["at_0"], params["scale"]), Y)
            ),
        )
    point = model.initial_point()
    value = model.compile_fn(model.logp())
    gradient = model.logp_dlogp_function(ravel_inputs=True)
    expected = known.logp_dlogp_function(ravel_inputs=True)
    gradient.set_extra_values({})
    expected.set_extra_values({})
    vector = np.array([1.0, -0.3, 0.2])
    gradient(vector)
    with requests(1):
        found = gradient(vector)
    known_value, known_gradient = expected(vector)
    assert found[0] == pytest.approx(known_value + len(X) * np.log(2 * np.pi) / 2)
    np.testing.assert_allclose(found[1], known_gradient)
    with requests(1):
        value(point)


def test_a_model_can_be_sampled(model, transport):
    before = transport.count
    with model:
        drawn = pm.sample(
            30,
            tune=40,
            chains=1,
            cores=1,
            random_seed=1,
            progressbar=False,
            compute_convergence_checks=False,
        )
    slope, at_0 = np.linalg.lstsq(np.column_stack([X, np.ones(40)]), Y, rcond=None)[0]
    assert float(drawn.posterior["slope"].mean()) == pytest.approx(slope, abs=0.1)
    assert float(drawn.posterior["at_0"].mean()) == pytest.approx(at_0, abs=0.1)
    steps = int(drawn.sample_stats["n_steps"].sum())
    assert transport.count - before >= steps


def test_a_model_compiled_by_jax_makes_one_request_too(model, requests):
    derive = jax.jit(jax.value_and_grad(get_jaxified_logp(model)))
    point = [np.asarray(1.0), np.asarray(-0.3), np.asarray(0.2)]
    jax.block_until_ready(derive(point))
    with requests(1):
        value, gradients = jax.block_until_ready(derive(point))
    both = model.logp_dlogp_function(ravel_inputs=True, mode=pytensor.compile.mode.FAST_COMPILE)
    both.set_extra_values({})
    expected = both(np.array(point))
    assert value == pytest.approx(expected[0], rel=1e-5)
    np.testing.assert_allclose(gradients, expected[1], rtol=1e-4)


@pytest.mark.usefixtures("interpreted")
def test_a_custom_distribution_can_use_a_recorded_density(client, requests):
    density = gradwire.program("-abs(value - m) / s - log(2 * s)", "value", "m", "s")
    adapted = gradwire.adapters.pytensor.function(density, client=client)
    with pm.Model() as model:
        m = pm.Normal("m")
        pm.CustomDist("y", m, 2.0, logp=adapted, observed=Y)
    logp = model.compile_fn(model.logp(sum=False))
    logp({"m": 0.3})
    with requests(1):
        _, found = logp({"m": 0.3})
    np.testing.assert_allclose(found, -abs(Y - 0.3) / 2 - np.log(4))
