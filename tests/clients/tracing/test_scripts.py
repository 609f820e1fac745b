"""Typical scripts: likelihoods, filters, simulations, networks and benchmarks in plain NumPy."""

from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
import scipy.special
import scipy.stats
from numpy import abs, arange, cos, exp, pi, sin, sqrt, sum
from scipy.special import expit, gammaln, logsumexp
from scipy.stats import multivariate_normal, norm

RNG = np.random.default_rng(5)
Y = np.cumsum(RNG.normal(size=12)) * 0.3
X = np.column_stack([np.ones(12), RNG.normal(size=12)])
COUNTS = RNG.poisson(2.0, 12)
CHOICES = RNG.integers(0, 3, 12)
TWO = np.array([0.3, -0.4])
THREE = np.array([0.3, -0.4, 0.2])
FOUR = np.array([0.3, 0.6, 0.2, 0.9])


# Likelihoods


class Logit:
    """A model in statsmodels' manner."""

    def __init__(self, endog, exog):
        self.endog = np.asarray(endog)
        self.exog = np.asarray(exog)
        self.nobs = float(len(self.endog))

    def cdf(self, x):
        x = np.asarray(x)
        return 1 / (1 + np.exp(-x))

    def loglikeobs(self, params):
        q = 2 * self.endog - 1
        return np.log(self.cdf(q * np.dot(self.exog, params)))

    def loglike(self, params):
        return self.loglikeobs(params).sum()


class Poisson(Logit):
    def loglikeobs(self, params):
        linear = np.dot(self.exog, params)
        return self.endog * linear - np.exp(linear) - gammaln(self.endog + 1)


def mixture(params):
    weights = np.exp(params[:2]) / np.sum(np.exp(params[:2]))
    parts = [np.log(w) + norm(m, 1.0).logpdf(Y) for w, m in zip(weights, params[2:], strict=True)]
    return logsumexp(np.stack(parts), axis=0).sum()


def hidden_markov(params):
    stay = expit(params[0])
    transition = np.array([[stay, 1 - stay], [1 - stay, stay]])
    means = params[1:3]
    alpha = np.log(np.full(2, 0.5))
    for y in Y:
        emission = norm.logpdf(y, loc=means, scale=1.0)
        alpha = emission + logsumexp(alpha[:, None] + np.log(transition), axis=0)
    return logsumexp(alpha)


def kalman(params):
    q, r = np.exp(params)
    state, cov = np.zeros(2), np.eye(2)
    step = np.array([[1.0, 1.0], [0.0, 1.0]])
    observe = np.array([[1.0, 0.0]])
    ll = 0.0
    for y in Y:
        state, cov = step @ state, step @ cov @ step.T + q * np.eye(2)
        error = y - observe @ state
        s = observe @ cov @ observe.T + r
        gain = cov @ observe.T @ np.linalg.inv(s)
        state = state + gain @ error
        cov = (np.eye(2) - gain @ observe) @ cov
        ll += multivariate_normal.logpdf(error, np.zeros(1), s)
    return ll


def gaussian_process(params):
    length, noise = np.exp(params)
    y = Y[:6]
    n = len(y)
    k = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            k[i, j] = np.exp(-0.5 * ((i - j) / length) ** 2)
            k[j, i] = k[i, j]
    k[np.diag_indices(n)] += noise
    factor = scipy.linalg.cho_factor(k, lower=True)
    logs = 2 * np.sum(np.log(np.diag(factor[0])))
    return -0.5 * (y @ scipy.linalg.cho_solve(factor, y) + logs + n * np.log(2 * np.pi))


def ridge_by_normal_equations(params):
    penalty = np.exp(params[0])
    a = np.array(X.T @ X)
    a[np.diag_indices_from(a)] += penalty
    beta = np.linalg.solve(a, X.T @ (Y + params[1]))
    return np.sum((Y - X @ beta) ** 2) + float(len(Y)) * penalty


# Dynamics and numerics


def runge_kutta(params):
    def slope(y):
        dydt = np.zeros_like(y)
        dydt[0] = y[1]
        dydt[1] = -params[0] * y[0] - params[1] * y[1]
        return dydt

    y, h = np.array([1.0, 0.0]), 0.1
    path = [y]
    for _ in range(5):
        k1 = slope(y)
        k2 = slope(y + h / 2 * k1)
        k3 = slope(y + h / 2 * k2)
        k4 = slope(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        path.append(y)
    return np.array(path)[:, 0] @ np.arange(6.0)


def time_warping(x):
    y = np.array([0.1, 0.5, 0.4])
    cost = np.full((len(x) + 1, len(y) + 1), np.inf)
    cost[0, 0] = 0.0
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            d = (x[i - 1] - y[j - 1]) ** 2
            cost[i, j] = d + min(cost[i - 1, j], cost[i, j - 1], cost[i - 1, j - 1])
    return cost[-1, -1]


def newton_steps(params):
    x = 1.0
    while abs(x**2 - (2 + params[0])) > 1e-10:
        x = x - (x**2 - (2 + params[0])) / (2 * x)
    return x * params[1]


# Networks and optimisation


@dataclass
class Layer:
    w: object
    b: object


def network(params):
    layers = [Layer(params.reshape(2, 2), np.zeros(2)), Layer(params[:2].reshape(2, 1), 0.1)]
    activations: dict[str, Any] = {"tanh": np.tanh, "linear": lambda h: h}
    h = X
    for layer, name in zip(layers, ("tanh", "linear"), strict=True):
        h = activations[name](h @ layer.w + layer.b)
    return np.mean((h.ravel() - Y) ** 2)


def softmax_regression(params):
    logits = X @ params.reshape(2, 2)
    logits -= logits.max(axis=1, keepdims=True)
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    target = np.zeros((12, 2))
    target[np.arange(12), CHOICES % 2] = 1
    return -np.sum(target * np.log(p)) / len(p)


def portfolio(params):
    w = np.append(params, 1 - params.sum())
    cov = np.diag([0.1, 0.2, 0.3])
    return 0.5 * w @ cov @ w - np.array([0.05, 0.07, 0.1]).dot([0.0, 1.0, 0.0]) * w[1]


# Benchmark functions in the manner of SciPy's


class Benchmark:
    def __init__(self, dimensions=2):
        self.N = dimensions
        self.nfev = 0
        self.bounds = list(zip([-5.0] * self.N, [5.0] * self.N, strict=True))


class Ackley(Benchmark):
    def fun(self, x, *args):
        self.nfev += 1
        u, v = sum(x**2), sum(cos(2 * pi * x))
        return -20.0 * exp(-0.2 * sqrt(u / self.N)) - exp(v / self.N) + 20.0 + exp(1.0)


class Damavandi(Benchmark):
    def fun(self, x, *args):
        try:
            num = sin(pi * (x[0] - 2.0)) * sin(pi * (x[1] - 2.0))
            den = (pi**2) * (x[0] - 2.0) * (x[1] - 2.0)
            factor1 = 1.0 - (abs(num / den)) ** 5.0
            return factor1 * (2 + (x[0] - 7.0) ** 2.0 + 2 * (x[1] - 7.0) ** 2.0)
        except ZeroDivisionError:
            return np.nan


class Weierstrass(Benchmark):
    def fun(self, x, *args):
        kmax, a, b = 2, 0.5, 3.0
        k = np.atleast_2d(arange(kmax + 1.0)).T
        t1 = a**k * cos(2 * pi * b**k * (x + 0.5))
        t2 = self.N * sum(a**k.T * cos(pi * b**k.T))
        return sum(sum(t1, axis=0)) - t2


class Zimmerman(Benchmark):
    def fun(self, x, *args):
        def Zp(t):  # noqa: N802 - as there
            return 100.0 * (1.0 + t)

        Zh3 = (x[0] - 3.0) ** 2 + (x[1] - 2.0) ** 2 - 16.0
        Zh4 = x[0] * x[1] - 14.0
        px = [9.0 - x[0] - x[1], Zp(Zh3) * np.sign(Zh3), Zp(Zh4) * np.sign(Zh4), Zp(-x[0])]
        return max(px)


class Langermann(Benchmark):
    def fun(self, x, *args):
        a, b = [3, 5, 2, 1, 7], [5, 2, 1, 4, 9]
        c = [1, 2, 5, 2, 3]
        return -sum(
            c
            * exp(-(1 / pi) * ((x[0] - a) ** 2 + (x[1] - b) ** 2))
            * cos(pi * ((x[0] - a) ** 2 + (x[1] - b) ** 2))
        )


class Stepped(Benchmark):
    def fun(self, x, *args):
        total = 0.0
        for i, xi in enumerate(x):
            total += float(xi >= 0) * xi**2 + np.int64(xi > 0.1) * (i + 1) * xi
        return total


def rosenbrock(x):
    return scipy.optimize.rosen(x)


def composed(x):
    steps: list[Any] = [partial(np.multiply, 2.0), np.tanh, lambda v: v + x[0]]
    return reduce(lambda value, step: step(value), steps, x).sum()


MODELS = (
    ("logit", Logit(CHOICES > 1, X).loglike, TWO),
    ("poisson", Poisson(COUNTS, X).loglike, TWO),
    ("mixture", mixture, FOUR),
    ("hidden markov", hidden_markov, THREE),
    ("kalman", kalman, TWO),
    ("gaussian process", gaussian_process, TWO),
    ("ridge", ridge_by_normal_equations, TWO),
    ("runge kutta", runge_kutta, TWO),
    ("time warping", time_warping, THREE),
    ("newton steps", newton_steps, TWO),
    ("network", network, FOUR),
    ("softmax regression", softmax_regression, FOUR),
    ("portfolio", portfolio, TWO),
    ("rosenbrock", rosenbrock, FOUR),
    ("composed", composed, THREE),
)
BENCHMARKS = tuple(
    (kind.__name__, kind().fun, TWO)
    for kind in (Ackley, Damavandi, Weierstrass, Zimmerman, Langermann, Stepped)
)
CASES = [*MODELS, *BENCHMARKS]


@pytest.mark.thorough
def test_scripts_have_numpy_s_values_and_derivatives(case, check):
    _, f, x = case
    check(f, x, rtol=1e-5)
