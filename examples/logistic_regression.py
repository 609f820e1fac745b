"""Fit a logistic regression with SciPy's optimisers, on derivatives that a service computes.

    python examples/logistic_regression.py [picture.png]

The loss is a plain NumPy function. L-BFGS asks for its value and gradient, the Newton method with
conjugate gradients also for Hessian-vector products; each of these is one request. Then the service
runs L-BFGS by itself, which is one request in all. The coefficients are compared with
scikit-learn's own.
"""

import os
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import gradwire
import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

client = gradwire.Client(os.environ.get("GRADWIRE_URL", "local"))

data = load_breast_cancer()
x, y = StandardScaler().fit_transform(data.data), data.target.astype(float)


# The model: minus the log likelihood, and a penalty on all coefficients but the intercept.


def loss(theta):
    score = x @ theta[1:] + theta[0]
    return np.sum(np.logaddexp(0, score) - y * score) + np.sum(theta[1:] ** 2) / 2


value_and_grad = client.value_and_grad(loss)


def hessp(theta, v):
    _, products = client.hvp(loss, (theta,), (v,))
    return products[0]


# Fit it by two methods, keeping the loss of each request.

fits, losses, seconds, requests = {}, {}, {}, {}
for method, options in {
    "L-BFGS-B": {"jac": True, "options": {"ftol": 0.0, "gtol": 1e-6}},
    "Newton-CG": {"jac": True, "hessp": hessp, "options": {"xtol": 1e-10}},
}.items():
    seen = losses[method] = []

    def asked(theta, seen=seen):
        value, slope = value_and_grad(theta)
        seen.append(value)
        return value, slope

    begin = perf_counter()
    fits[method] = minimize(asked, np.zeros(31), method=method, **options)
    seconds[method] = perf_counter() - begin
    requests[method] = fits[method].nfev + fits[method].get("nhev", 0)

# The same by one request.

begin = perf_counter()
options = {"ftol": 0.0, "gtol": 1e-6}
fits["whole"] = client.minimize(loss, np.zeros(31), method="L-BFGS-B", options=options)
seconds["whole"], requests["whole"] = perf_counter() - begin, 1

reference = LogisticRegression(C=1.0, solver="newton-cholesky", tol=1e-12).fit(x, y)
expected = np.concatenate([reference.intercept_, reference.coef_[0]])

print(f"{len(x)} patients, {x.shape[1]} standardised features\n")
print("method       iterations   requests       time   off scikit-learn")
for method, fit in fits.items():
    off = np.abs(fit.x - expected).max()
    print(f"{method:10} {fit.nit:12} {requests[method]:10} {seconds[method]:8.2f} s {off:18.1e}")
theta = fits["Newton-CG"].x
accuracy = np.mean((x @ theta[1:] + theta[0] > 0) == y)
print(f"\naccuracy {accuracy:.2%}, scikit-learn's {reference.score(x, y):.2%}")

plt.style.use(Path(__file__).with_name("gradwire.mplstyle"))
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), width_ratios=[1, 1.2])
for method, seen in losses.items():
    gap = np.minimum.accumulate(seen) - fits["Newton-CG"].fun
    left.plot(np.where(gap > 1e-10, gap, np.nan), label=method)  # beyond are rounding errors
left.set(title="What the loss lacks to the best", xlabel="values and gradients", yscale="log")
left.legend()
largest = np.argsort(np.abs(theta[1:]))[-12:]
right.barh(data.feature_names[largest], theta[1:][largest], color="C2", height=0.6)
right.plot(expected[1:][largest], data.feature_names[largest], "|", color="black", ms=14, mew=2)
right.set(title="Coefficients, and scikit-learn's (black)")
right.axvline(0, color="gray", lw=0.8)
right.grid(axis="y", visible=False)
picture = (
    sys.argv[1] if len(sys.argv) > 1 else Path(tempfile.gettempdir(), "logistic_regression.png")
)
figure.savefig(picture)
print(f"\npicture: {picture}")
client.close()
