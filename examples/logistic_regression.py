"""Fit a logistic regression with SciPy on gradients that a running service computes.

    GRADWIRE_URL=http://127.0.0.1:8000 python examples/logistic_regression.py

The model is scikit-learn's, written as a program: the log loss of the breast cancer data from
Wisconsin, and an L2 penalty on all coefficients but the intercept. The coefficients must agree
with scikit-learn's own; otherwise the exit status is 1.
"""

from __future__ import annotations

import sys
from time import perf_counter

import gradwire
import numpy as np
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

# -log p(y | x) = log(1 + exp(score)) - y * score, without overflow for any score.
PROGRAM = """
intercept, weights = theta[0], theta[1:]
score = x @ weights + intercept
log_loss = logaddexp(0, score) - y * score
sum(log_loss) + sum(weights**2) / (2 * c)
"""
C = 1.0
LARGEST_DIFFERENCE = 1e-4


def main() -> int:
    """Fit, compare, report."""
    features, y = load_breast_cancer(return_X_y=True)
    x = StandardScaler().fit_transform(features)

    with gradwire.Client() as client:
        objective = client.value_and_grad(PROGRAM, sources="theta")
        begin = perf_counter()
        found = minimize(
            lambda theta: objective(theta=theta, x=x, y=y, c=C),
            x0=np.zeros(1 + x.shape[1]),
            jac=True,
            method="L-BFGS-B",
            options={"ftol": 0.0, "gtol": 1e-7, "maxiter": 10_000},
        )
        seconds = perf_counter() - begin

    reference = LogisticRegression(C=C, solver="newton-cholesky", tol=1e-10).fit(x, y)
    expected = np.concatenate([reference.intercept_, reference.coef_[0]])
    difference = np.abs(found.x - expected).max()
    accuracy = np.mean((x @ found.x[1:] + found.x[0] > 0) == y)

    print(f"data         {x.shape[0]} patients, {x.shape[1]} standardised features")
    print(f"optimiser    {found.nit} iterations, {found.nfev} requests")
    print(f"time         {seconds:.2f} s, {1000 * seconds / found.nfev:.1f} ms a request")
    print(f"objective    {found.fun:.10f}")
    print(f"accuracy     {accuracy:.2%} (scikit-learn {reference.score(x, y):.2%})")
    print(f"difference   {difference:.1e} at most, from scikit-learn's coefficients")
    if difference > LARGEST_DIFFERENCE:
        print(f"The coefficients disagree by more than {LARGEST_DIFFERENCE:.0e}.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
