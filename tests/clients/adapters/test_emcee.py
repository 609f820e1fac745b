import emcee
import gradwire
import numpy as np
import pytest
from gradwire.adapters.emcee import Ensemble

WALKERS, STEPS = 16, 60


def log_density(params, x):
    scale = np.exp(params["log_s"])
    return np.sum(-0.5 * ((x - params["m"]) / scale) ** 2) - len(x) * params["log_s"]


def test_each_half_of_the_ensemble_is_one_request(client, transport):
    x = np.random.default_rng(0).normal(3.0, 0.5, size=100)
    log_probability = Ensemble(log_density, {"m": 3.0, "log_s": -0.7}, client=client)
    start = log_probability.around(0.1, walkers=WALKERS, rng=np.random.default_rng(1))
    sampler = emcee.EnsembleSampler(WALKERS, 2, log_probability, vectorize=True, args=[x])
    before = transport.count
    state = sampler.run_mcmc(start, STEPS)
    assert transport.count - before == 1 + 2 * STEPS
    samples = log_probability.nested(sampler.get_chain(discard=STEPS // 2, flat=True))
    assert np.mean(samples["m"]) == pytest.approx(x.mean(), abs=0.1)
    assert np.mean(np.exp(samples["log_s"])) == pytest.approx(x.std(), abs=0.1)
    last = log_probability.nested(state.coords)
    expected = [
        log_density({"m": m, "log_s": s}, x) for m, s in zip(last["m"], last["log_s"], strict=True)
    ]
    assert np.allclose(state.log_prob, expected)


def test_program_text_is_accepted(client):
    density = gradwire.program("-sum((x - m)**2) / 2", "m", "x", client=client)
    log_probability = Ensemble(density, np.zeros(2))
    positions = np.random.default_rng(0).normal(size=(5, 2))
    x = np.array([1.0, 2.0])
    assert np.allclose(log_probability(positions, x), -np.sum((x - positions) ** 2, 1) / 2)


def test_nan_densities_are_passed_on_to_emcee(client):
    log_probability = Ensemble(lambda p: np.log(p[0]), np.ones(1), client=client)
    sampler = emcee.EnsembleSampler(4, 1, log_probability, vectorize=True)
    with np.errstate(invalid="ignore"), pytest.raises(ValueError, match="NaN"):
        sampler.run_mcmc(np.array([[1.0], [2.0], [3.0], [-1.0]]), 1)
