"""Sample with PyMC from a model that holds a differential equation: influenza in a school, 1978.

    python examples/influenza.py [picture.png]

Susceptible boys meet infected ones, and these recover. The log likelihood solves that equation and
is plain NumPy; in PyMC's graph it is a node whose gradient is known, as NUTS needs it. A value
with its gradient is one request. The sampler's scales come from the service too: they are those of
the Hessian at the most likely parameters.
"""

import os
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import gradwire
import matplotlib.pyplot as plt
import numpy as np
import pymc as pm
from gradwire.adapters.pytensor import function
from gradwire.adapters.scipy import minimize
from scipy.special import gammaln

client = gradwire.Client(os.environ.get("GRADWIRE_URL", "local"))

# Boys in bed on each day, of 763 (British Medical Journal, 4 March 1978).
in_bed = np.array([3, 8, 26, 76, 225, 298, 258, 233, 189, 128, 68, 29, 14, 4], float)
BOYS = 763.0
days = np.arange(15.0)


def spread(state, t, infection, recovery):
    susceptible, infected = state
    met = infection * susceptible * infected / BOYS
    return [-met, met - recovery * infected]


def infected(theta, days):
    """The number of ill people on each day but the first; ``theta`` are logarithms of rates."""
    infection, recovery = np.exp(theta[0]), np.exp(theta[1])
    return gradwire.odeint(spread, [BOYS - 1, 1.0], days, infection, recovery, steps=4)[1][1:]


def log_likelihood(theta):
    """Counts scatter about what the equation says, by a negative binomial distribution."""
    mean, shape = infected(theta, days), np.exp(theta[2])
    choices = gammaln(in_bed + shape) - gammaln(shape) - gammaln(in_bed + 1)
    chances = shape * np.log(shape / (shape + mean)) + in_bed * np.log(mean / (shape + mean))
    return np.sum(choices + chances)


CENTRES = np.array([0.0, -1.0, 2.0])  # of the priors, which are normal with deviation 1


def minus_log_posterior(theta):
    return np.sum((theta - CENTRES) ** 2) / 2 - log_likelihood(theta)


begin = perf_counter()
best = minimize(minus_log_posterior, CENTRES, method="BFGS", client=client)
covariance = np.linalg.inv(client.hessian(minus_log_posterior)(best.x))
with pm.Model():
    theta = pm.Normal("theta", CENTRES, 1, shape=3, initval=best.x)
    pm.Potential("in bed", function(log_likelihood, client=client)(theta))
    found = pm.sample(
        150,
        tune=30,
        step=pm.NUTS([theta], scaling=covariance, is_cov=True),
        chains=2,
        cores=1,
        random_seed=1,
        progressbar=False,
        compute_convergence_checks=False,
    )
seconds = perf_counter() - begin

draws = found.posterior["theta"].values.reshape(-1, 3)
infection, recovery = np.exp(draws[:, 0]), np.exp(draws[:, 1])
reproduction = infection / recovery
summary = {
    "infection a day": infection,
    "recovery a day": recovery,
    "boys whom each infects": reproduction,
}
# By Stan's sampler: L. Grinsztajn et al., Bayesian workflow for disease transmission (2021).
published = [1.73, 0.54, 3.22]

print(f"\n{len(reproduction)} draws in {seconds:.1f} s\n")
for (name, values), other in zip(summary.items(), published, strict=True):
    print(f"{name:24} {values.mean():6.2f} ± {values.std():4.2f}   published {other:.2f}")

# What each of the draws says of every day, in one request.
fine = np.linspace(0, 14, 113)
curves = client.vmap(infected, in_axes=(0, None))(draws, fine)

plt.style.use(Path(__file__).with_name("gradwire.mplstyle"))
figure, panels = plt.subplots(1, 3, figsize=(11, 3.6), width_ratios=[1.6, 1, 1])
panels[0].plot(fine[1:], curves.T, color="C0", lw=0.5, alpha=0.12)
panels[0].plot(fine[1:], np.median(curves, axis=0), color="C0", label="the model's draws")
panels[0].plot(days[1:], in_bed, "o", color="C1", label="counted")
panels[0].set(title="Boys in bed", xlabel="day")
panels[0].legend()
panels[1].plot(infection, recovery, ".", color="C4", ms=4, alpha=0.6)
panels[1].set(title="Both rates", xlabel="infection", ylabel="recovery")
panels[2].hist(reproduction, bins=24, color="C2")
panels[2].set(title="Whom each infects", yticks=[], xlabel="boys")
picture = sys.argv[1] if len(sys.argv) > 1 else Path(tempfile.gettempdir(), "influenza.png")
figure.savefig(picture)
print(f"\npicture: {picture}")
client.close()
