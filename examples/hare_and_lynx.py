"""Calibrate a differential equation on data: hares and lynxes in Canada, 1900 to 1920.

    python examples/hare_and_lynx.py [picture.png]

The model is Lotka and Volterra's: hares multiply and are eaten, lynxes eat and die. The equation
is solved by the service, and the Jacobian of its solution in the parameters comes from there too:
SciPy's least squares needs nothing else, and the parameters' uncertainty is read off it.
"""

import os
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import gradwire
import matplotlib.pyplot as plt
import numpy as np
from gradwire.adapters.scipy import least_squares

client = gradwire.Client(os.environ.get("GRADWIRE_URL", "local"))

# Thousands of pelts that the Hudson's Bay Company bought in each year.
years = np.arange(1900.0, 1921.0)
hares = "30 47.2 70.2 77.4 36.3 20.6 18.1 21.4 22 25.4 27.1 40.3 57 76.6 52.3 19.5 11.2 7.6 14.6"
lynxes = "4 6.1 9.8 35.2 59.4 41.7 19 13 8.3 9.1 7.4 8 12.3 19.5 45.7 51.1 29.7 15.8 9.7"
pelts = np.array([f"{hares} 16.2 24.7".split(), f"{lynxes} 10.1 8.6".split()], float).T


def change(animals, t, rates):
    """The change of both animals: births and deaths, and meetings."""
    hares, lynxes = animals
    birth, eaten, death, fed = rates
    return [birth * hares - eaten * hares * lynxes, fed * hares * lynxes - death * lynxes]


def populations(theta, t):
    """Both populations at times ``t``. The parameters are logarithms, so that all are positive."""
    rates, begin = np.exp(theta[:4]), np.exp(theta[4:])
    return np.stack(gradwire.odeint(change, [begin[0], begin[1]], t, rates, steps=20), axis=1)


def residuals(theta):
    return np.ravel(np.log(populations(theta, years)) - np.log(pelts))


# Calibrate: a request for each step, which brings the residuals and their Jacobian.

guess = np.log([0.5, 0.02, 0.5, 0.02, *pelts[0]])
begin = perf_counter()
fit = least_squares(residuals, guess, client=client)
seconds = perf_counter() - begin

scatter = np.sqrt(2 * fit.cost / (fit.fun.size - fit.x.size))
covariance = scatter**2 * np.linalg.inv(fit.jac.T @ fit.jac)
values = np.exp(fit.x)
deviations = values * np.sqrt(np.diag(covariance))

# The same by Hamiltonian Monte Carlo: B. Carpenter, Predator-Prey Population Dynamics (2018).
published = [0.55, 0.028, 0.80, 0.024, 34.0, 5.9]

print(f"{fit.nfev} steps, each one request, in {seconds:.2f} s\n")
print(f"{'':22} {'found':>8}   {'':10} published")
names = [
    "hares' births",
    "hares eaten",
    "lynxes' deaths",
    "lynxes fed",
    "hares, 1900",
    "lynxes, 1900",
]
for name, value, deviation, other in zip(names, values, deviations, published, strict=True):
    print(f"{name:22} {value:8.3f} ± {deviation:<9.3f} {other:8.3f}")


# What the data leave open: two hundred plausible sets of parameters, solved in one request.

rng = np.random.default_rng(0)
plausible = rng.multivariate_normal(fit.x, covariance, size=200)
fine = np.linspace(1900, 1925, 301)
begin = perf_counter()
curves = client.vmap(populations, in_axes=(0, None))(plausible, fine)
print(f"\n{len(plausible)} more solutions, in one request of {perf_counter() - begin:.2f} s")
best = client.function(populations)(fit.x, fine)

plt.style.use(Path(__file__).with_name("gradwire.mplstyle"))
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), width_ratios=[1.7, 1])
for i, (animal, colour) in enumerate({"hares": "C0", "lynxes": "C1"}.items()):
    low, high = np.quantile(curves[:, :, i], [0.05, 0.95], axis=0)
    left.fill_between(fine, low, high, color=colour, alpha=0.18, lw=0)
    left.plot(fine, best[:, i], color=colour, label=animal)
    left.plot(years, pelts[:, i], "o", color=colour, ms=4)
left.axvline(1920, color="gray", lw=0.8, ls=":")
left.set(title="Pelts in a year, in thousands", xlim=(1900, 1925), ylim=(0, None))
left.set_xticks(range(1900, 1926, 5))
left.legend(loc="upper right", ncols=2)
right.plot(*curves[:80].T, color="C4", lw=0.4, alpha=0.25)
right.plot(*best.T, color="C4")
right.plot(*pelts.T, "o", color="C5", ms=3)
right.set(
    title="One against the other", xlabel="hares", ylabel="lynxes", xlim=(0, 110), ylim=(0, 75)
)
picture = sys.argv[1] if len(sys.argv) > 1 else Path(tempfile.gettempdir(), "hare_and_lynx.png")
figure.savefig(picture)
print(f"\npicture: {picture}")
client.close()
