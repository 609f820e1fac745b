"""Learn the hyperparameters of a Gaussian process: the trend and the rhythm of a series.

    python examples/gaussian_process.py [picture.png]

The log marginal likelihood is plain NumPy, through a Cholesky decomposition. L-BFGS climbs it by
its gradient in all seven hyperparameters, a request for each step. Scikit-learn, which has such
gradients written out by hand for its kernels, checks value and gradient.
"""

import os
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import gradwire
import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.optimize import minimize
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, ExpSineSquared, WhiteKernel
from threadpoolctl import threadpool_limits

client = gradwire.Client(os.environ.get("GRADWIRE_URL", "local"))

# Twelve years of a monthly series, with a gap: a trend, a season that changes, and noise.
rng = np.random.default_rng(4)
t = np.sort(np.concatenate([rng.uniform(0, 5.5, 110), rng.uniform(7.5, 12, 90)]))
season = (1 + 0.06 * t) * (np.sin(2 * np.pi * t) + 0.4 * np.sin(4 * np.pi * t + 0.5))
y = 0.035 * (t - 5) ** 2 - 0.3 * np.sin(0.8 * t) + season + rng.normal(scale=0.25, size=t.shape)
y = y - y.mean()


def kernel(theta, a, b):
    """A smooth trend and a rhythm that drifts; ``theta`` are logarithms of what is positive."""
    trend, trend_scale, rhythm, shape, period, drift = np.exp(theta[:6])
    apart = a[:, None] - b[None, :]
    slow = trend * np.exp(-(apart**2) / (2 * trend_scale**2))
    wave = np.exp(-2 * np.sin(np.pi * np.abs(apart) / period) ** 2 / shape**2)
    return slow + rhythm * wave * np.exp(-(apart**2) / (2 * drift**2))


def log_likelihood(theta, t, y):
    n = len(t)
    covariance = kernel(theta, t, t) + np.exp(theta[6]) * np.eye(n)
    factor = cholesky(covariance, lower=True)
    whitened = solve_triangular(factor, y, lower=True)
    return -np.sum(whitened**2) / 2 - np.sum(np.log(np.diag(factor))) - n / 2 * np.log(2 * np.pi)


# Climb.

value_and_grad = client.value_and_grad(log_likelihood)
path = []


def descent(theta):
    value, slope = value_and_grad(theta, t, y)
    path.append(value)
    return -value, -slope


guess = np.log([1.0, 3.0, 1.0, 1.0, 0.9, 10.0, 0.1])
begin = perf_counter()
fit = minimize(descent, guess, jac=True, method="L-BFGS-B")
seconds = perf_counter() - begin

trend, season = ConstantKernel() * RBF(), ConstantKernel() * ExpSineSquared() * RBF()
process = GaussianProcessRegressor(trend + season + WhiteKernel(), alpha=0, optimizer=None)
process.fit(t[:, None], y)
value, slope = value_and_grad(guess, t, y)
with threadpool_limits(1):  # as the service has it
    begin = perf_counter()
    for _ in range(10):
        expected, expected_slope = process.log_marginal_likelihood(guess, eval_gradient=True)
    seconds_by_hand = (perf_counter() - begin) / 10
errors = abs(value / expected - 1), np.abs(slope / expected_slope - 1).max()

names = ["trend", "its scale", "rhythm", "its shape", "period", "drift", "noise"]
each = 1000 * seconds / fit.nfev
print(f"{len(t)} points, {fit.nfev} requests in {seconds:.2f} s, {each:.1f} ms each")
print(f"log likelihood {path[0]:.2f} → {-fit.fun:.2f}\n")
for name, before, after in zip(names, np.exp(guess), np.exp(fit.x), strict=True):
    print(f"{name:10} {before:7.3f} → {after:7.3f}")
print(f"\nscikit-learn takes {1000 * seconds_by_hand:.1f} ms for the same value and gradient,")
print(f"the value off by {errors[0]:.0e} and the gradient by {errors[1]:.0e}")


# What it has learned: the series inside the gap and beyond the data, and its trend alone.


def posterior(theta, t, y, at):
    factor = cholesky(kernel(theta, t, t) + np.exp(theta[6]) * np.eye(len(t)), lower=True)
    across = solve_triangular(factor, kernel(theta, t, at), lower=True)
    smooth = np.exp(theta[0] - (at[:, None] - t) ** 2 / (2 * np.exp(2 * theta[1])))
    weights = cho_solve((factor, True), y)
    variance = np.exp(theta[0]) + np.exp(theta[2]) - np.sum(across**2, axis=0)
    return weights @ kernel(theta, t, at), np.sqrt(variance), smooth @ weights


at = np.linspace(0, 14, 500)
mean, deviation, smooth = client.function(posterior)(fit.x, t, y, at)

# And how sure it is of the period: the likelihood of many, in one request.


def likelihood_of_period(log_period):
    theta = np.concatenate([fit.x[:4], np.reshape(log_period, (1,)), fit.x[5:]])
    return log_likelihood(theta, t, y)


periods = np.linspace(0.35, 2.4, 120)
begin = perf_counter()
profile = client.vmap(likelihood_of_period)(np.log(periods))
print(f"{len(periods)} likelihoods in one request of {perf_counter() - begin:.2f} s")

plt.style.use(Path(__file__).with_name("gradwire.mplstyle"))
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), width_ratios=[2.2, 1])
left.fill_between(at, mean - 2 * deviation, mean + 2 * deviation, alpha=0.2, lw=0)
left.plot(at, mean, lw=1.4, label="series, ± 2 deviations")
left.plot(at, smooth, color="C1", label="its trend")
left.plot(t, y, "o", color="C5", ms=2.5, alpha=0.8)
left.set(title="What was measured, and what is between and beyond", xlabel="year", xlim=(0, 14))
left.legend(loc="upper left")
right.plot(periods, profile)
right.axvline(np.exp(fit.x[4]), color="C1", lw=1)
right.annotate(
    f"{np.exp(fit.x[4]):.3f} years", (np.exp(fit.x[4]) + 0.05, profile.max()), color="C1"
)
right.set(title="Log likelihood of each period", xlabel="period in years")
picture = sys.argv[1] if len(sys.argv) > 1 else Path(tempfile.gettempdir(), "gaussian_process.png")
figure.savefig(picture)
print(f"\npicture: {picture}")
client.close()
