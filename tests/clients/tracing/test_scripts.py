"""Typical scripts: likelihoods, filters, simulations and benchmark functions in plain NumPy."""

import math
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
import scipy.special
import scipy.stats
from numpy import abs, arange, asarray, cos, exp, pi, prod, sin, sqrt, sum, zeros
from scipy.special import expit, gammaln, logsumexp
from scipy.stats import multivariate_normal, norm

RNG = np.random.default_rng(5)
Y = np.cumsum(RNG.normal(size=12)) * 0.3
X = np.column_stack([np.ones(12), RNG.normal(size=12)])
COUNTS = RNG.poisson(2.0, 12)
CHOICES = RNG.integers(0, 3, 12)
TIMES, EVENTS = RNG.exponential(1.0, 12), RNG.random(12) > 0.3
TWO = np.array([0.3, -0.4])
THREE = np.array([0.3, -0.4, 0.2])
FOUR = np.array([0.3, 0.6, 0.2, 0.9])


# Likelihoods


def autoregression(params):
    rho, sigma = np.tanh(params[0]), np.exp(params[1])
    ll = norm.logpdf(Y[0], 0, sigma / np.sqrt(1 - rho**2))
    for t in range(1, len(Y)):
        ll += norm.logpdf(Y[t], rho * Y[t - 1], sigma)
    return ll


def moving_average(params):
    theta, sigma = params
    errors = np.zeros(len(Y))
    errors[0] = Y[0]
    for t in range(1, len(Y)):
        errors[t] = Y[t] - theta * errors[t - 1]
    return -0.5 * len(Y) * np.log(2 * np.pi * sigma**2) - 0.5 * np.sum(errors**2) / sigma**2


def garch(params):
    omega, alpha, beta = np.exp(params)
    returns = np.diff(Y)
    sigma2 = np.empty_like(returns)
    sigma2[0] = np.var(returns)
    for t in range(1, returns.size):
        sigma2[t] = omega + alpha * returns[t - 1] ** 2 + beta * sigma2[t - 1]
    return 0.5 * np.sum(np.log(2 * math.pi) + np.log(sigma2) + returns**2 / sigma2)


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


class NegativeBinomial(Logit):
    def loglikeobs(self, params):
        beta, alpha = params[:-1], np.exp(params[-1])
        mu, size = np.exp(self.exog @ beta), 1 / alpha
        prob = size / (size + mu)
        coeff = gammaln(size + self.endog) - gammaln(self.endog + 1) - gammaln(size)
        return coeff + size * np.log(prob) + self.endog * np.log(1 - prob)


def multinomial_logit(params):
    beta = np.zeros((2, 3))
    beta[:, 1:] = params.reshape(2, 2)
    utilities = X @ beta
    return np.sum(utilities[np.arange(12), CHOICES] - logsumexp(utilities, axis=1))


def ordered_probit(params):
    cuts = np.concatenate([[-np.inf], np.cumsum(np.r_[params[1], np.exp(params[2:])]), [np.inf]])
    index = X[:, 1] * params[0]
    upper, lower = cuts[CHOICES + 1] - index, cuts[CHOICES] - index
    return np.log(norm.cdf(upper) - norm.cdf(lower)).sum()


def tobit(params):
    beta, sigma = params[:2], np.exp(params[2])
    fitted = X @ beta
    censored = Y <= 0
    inside = norm.logpdf((Y - fitted) / sigma) - np.log(sigma)
    return np.where(censored, norm.logcdf(-fitted / sigma), inside).sum()


def weibull_survival(params):
    shape, scale = np.exp(params)
    log_hazard = np.log(shape / scale) + (shape - 1) * np.log(TIMES / scale)
    return np.sum(EVENTS * log_hazard - (TIMES / scale) ** shape)


def cox_partial_likelihood(beta):
    risk = X[:, 1] * beta[0] + X[:, 1] ** 2 * beta[1]
    total = 0.0
    for i in range(len(TIMES)):
        if EVENTS[i]:
            total += risk[i] - np.log(np.sum(np.exp(risk[TIMES[i] <= TIMES])))
    return total


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


def vector_autoregression(params):
    a = params.reshape(2, 2)
    series = np.column_stack([Y, Y[::-1]])
    residuals = series[1:] - series[:-1] @ a.T
    sigma = residuals.T @ residuals / len(residuals)
    return -0.5 * len(residuals) * np.linalg.slogdet(sigma)[1]


def factor_analysis(params):
    loadings = params[:2][:, np.newaxis]
    sigma = loadings @ loadings.T + np.diag(np.exp(params[2:]))
    return multivariate_normal(mean=np.zeros(2), cov=sigma).logpdf(X).sum()


def markov_switching(params):
    p, q = expit(params[:2])
    mu = params[2:]
    prob = np.array([0.5, 0.5])
    ll = 0.0
    for y in Y:
        ahead = np.array([p * prob[0] + (1 - q) * prob[1], (1 - p) * prob[0] + q * prob[1]])
        density = ahead * norm.pdf(y, mu, 1.0)
        ll += np.log(density.sum())
        prob = density / density.sum()
    return ll


def ridge_by_normal_equations(params):
    penalty = np.exp(params[0])
    a = np.array(X.T @ X)
    a[np.diag_indices_from(a)] += penalty
    beta = np.linalg.solve(a, X.T @ (Y + params[1]))
    return np.sum((Y - X @ beta) ** 2) + float(len(Y)) * penalty


def quantile_loss(params):
    residual = Y - X @ params
    return np.mean(np.maximum(0.3 * residual, -0.7 * residual))


def huber(params):
    residual = Y - X @ params
    small = np.abs(residual) < 0.5
    return np.sum(residual[small] ** 2 / 2) + np.sum(0.5 * (np.abs(residual[~small]) - 0.25))


# Dynamics and numerics


def heat_equation(params):
    u = np.zeros((6, 8))
    u[0] = np.sin(np.linspace(0, np.pi, 8)) * params[0]
    for n in range(5):
        for i in range(1, 7):
            u[n + 1, i] = u[n, i] + params[1] * 0.1 * (u[n, i + 1] - 2 * u[n, i] + u[n, i - 1])
    return u[-1].sum()


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


def bodies(params):
    positions = np.array([[0.0, 0.0], [1.0, params[0]], [params[1], 2.0]])
    forces = np.zeros_like(positions)
    for i in range(3):
        for j in range(3):
            if i != j:
                apart = positions[j] - positions[i]
                forces[i] += apart / np.linalg.norm(apart) ** 3
    return np.sum(forces**2)


def binomial_tree(params):
    spot, vol = 1.0 + params[0], 0.2 + params[1] ** 2
    n, dt = 6, 1 / 6
    up = np.exp(vol * np.sqrt(dt))
    p = (np.exp(0.05 * dt) - 1 / up) / (up - 1 / up)
    values = np.maximum(spot * up ** (2.0 * np.arange(n + 1) - n) - 1.0, 0)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1):
            values[j] = np.exp(-0.05 * dt) * (p * values[j + 1] + (1 - p) * values[j])
    return values[0]


def black_scholes(params):
    s, k, t, r, sigma = 1.0 + params[0], 1.0, 0.5, 0.02, 0.3 + params[1] ** 2
    d1 = (math.log(s / k) + (r + 0.5 * sigma**2) * t) / (sigma * math.sqrt(t))
    d2 = d1 - sigma * math.sqrt(t)
    return s * norm.cdf(d1) - k * math.exp(-r * t) * norm.cdf(d2)


def time_warping(x):
    y = np.array([0.1, 0.5, 0.4])
    cost = np.full((len(x) + 1, len(y) + 1), np.inf)
    cost[0, 0] = 0.0
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            d = (x[i - 1] - y[j - 1]) ** 2
            cost[i, j] = d + min(cost[i - 1, j], cost[i, j - 1], cost[i - 1, j - 1])
    return cost[-1, -1]


def viterbi(params):
    score = np.zeros((3, 2))
    score[0] = params[:2]
    for t in range(1, 3):
        for s in range(2):
            score[t, s] = np.max(score[t - 1] + np.array([0.1, -0.2]) * s) + params[2] * Y[t] * s
    return score[-1].max()


def power_iteration(params):
    a = np.array([[2.0, params[0]], [params[0], 1.0 + params[1]]])
    v = np.ones(2)
    for _ in range(20):
        v = a @ v
        v /= np.sqrt(np.sum(v**2))
    return v @ a @ v


def newton_steps(params):
    x = 1.0
    while abs(x**2 - (2 + params[0])) > 1e-10:
        x = x - (x**2 - (2 + params[0])) / (2 * x)
    return x * params[1]


def thomas_algorithm(params):
    n = 5
    a, b, c, d = (
        -np.ones(n),
        (2 + params[0] ** 2) * np.ones(n),
        -np.ones(n),
        np.arange(n) * params[1],
    )
    for i in range(1, n):
        w = a[i] / b[i - 1]
        b[i] = b[i] - w * c[i - 1]
        d[i] = d[i] - w * d[i - 1]
    x = np.zeros(n)
    x[-1] = d[-1] / b[-1]
    for i in range(n - 2, -1, -1):
        x[i] = (d[i] - c[i] * x[i + 1]) / b[i]
    return x.sum()


def cholesky_by_hand(params):
    a = np.array([[4.0, params[0], 0.5], [params[0], 3.0, params[1]], [0.5, params[1], 2.0]])
    lower = np.zeros((3, 3))
    for i in range(3):
        for j in range(i + 1):
            s = a[i, j] - lower[i, :j] @ lower[j, :j]
            lower[i, j] = np.sqrt(s) if i == j else s / lower[j, j]
    return np.log(np.diag(lower)).sum()


def filtered(x):
    kernel = np.array([0.25, 0.5, 0.25])
    padded = np.pad(x, 1, mode="edge")
    out = np.zeros(len(x))
    for i in range(len(x)):
        out[i] = (padded[i : i + 3] * kernel).sum()
    return np.abs(np.fft.rfft(out)).sum()


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


def recurrent(params):
    hidden = np.zeros((12, 2))
    state = np.zeros(2)
    for t, y in enumerate(Y):
        state = np.tanh(params[:2] * y + params[2:] * state)
        hidden[t, :] = state
    return hidden.mean(axis=0) @ np.ones(2)


def softmax_regression(params):
    logits = X @ params.reshape(2, 2)
    logits -= logits.max(axis=1, keepdims=True)
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    target = np.zeros((12, 2))
    target[np.arange(12), CHOICES % 2] = 1
    return -np.sum(target * np.log(p)) / len(p)


def attention(params):
    q, k, v = (X * p for p in params[:3])
    scores = q @ k.T / np.sqrt(X.shape[-1])
    mask = np.triu(np.full(scores.shape, -1e9), k=1)
    weights = scipy.special.softmax(scores + mask, axis=-1)
    return np.sum(weights @ v)


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


class Paviani(Benchmark):
    def fun(self, x, *args):
        x = asarray(x) + 3.0
        return sum(np.log(x - 2) ** 2.0 + np.log(10.0 - x) ** 2.0) - prod(x) ** 0.2


class Penalty(Benchmark):
    def fun(self, x, *args):
        a, b, c = 0.3, 100.0, 4.0
        xx = abs(x)
        u = np.where(xx > a, b * (xx - a) ** c, 0.0)
        y = 1.0 + (x + 1.0) / 4.0
        return sum(u) + (pi / self.N) * (10 * sin(pi * y[0]) ** 2 + (y[-1] - 1) ** 2)


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


class Katsuura(Benchmark):
    def fun(self, x, *args):
        k = np.atleast_2d(arange(1, 5)).T
        idx = arange(0.0, self.N * 1.0)
        inner = np.round(2**k * x) * (2.0 ** (-k))
        return prod(sum(inner, axis=0) * (idx + 1) + 1 + x)


class Langermann(Benchmark):
    def fun(self, x, *args):
        a, b = [3, 5, 2, 1, 7], [5, 2, 1, 4, 9]
        c = [1, 2, 5, 2, 3]
        return -sum(
            c
            * exp(-(1 / pi) * ((x[0] - a) ** 2 + (x[1] - b) ** 2))
            * cos(pi * ((x[0] - a) ** 2 + (x[1] - b) ** 2))
        )


class Trid(Benchmark):
    def fun(self, x, *args):
        return sum((x - 1.0) ** 2.0) - sum(x[1:] * x[:-1])


class Shekel(Benchmark):
    def fun(self, x, *args):
        A = asarray([[4.0, 4.0], [1.0, 1.0], [8.0, 8.0]])
        C = asarray([0.1, 0.2, 0.2])
        return -sum(1 / (sum((x - A) ** 2, axis=1) + C))


class Whitley(Benchmark):
    def fun(self, x, *args):
        XI, XJ = np.atleast_2d(x), np.atleast_2d(x).T
        temp = 100.0 * ((XI**2.0) - XJ) + (1.0 - XJ) ** 2.0
        return sum((temp**2.0 / 4000.0) - cos(temp) + 1.0)


class Stepped(Benchmark):
    def fun(self, x, *args):
        total = 0.0
        for i, xi in enumerate(x):
            total += float(xi >= 0) * xi**2 + np.int64(xi > 0.1) * (i + 1) * xi
        return total


class Deceptive(Benchmark):
    def fun(self, x, *args):
        alpha, beta = asarray([0.25, 0.75]), 2.0
        g = zeros((self.N,))
        for i in range(self.N):
            if x[i] <= 0.0:
                g[i] = x[i]
            elif x[i] < 0.8 * alpha[i]:
                g[i] = -x[i] / alpha[i] + 0.8
            elif x[i] < alpha[i]:
                g[i] = 5.0 * x[i] / alpha[i] - 4.0
            else:
                g[i] = (x[i] - 1) / (1 - alpha[i])
        return -(((1.0 / self.N) * sum(g)) ** beta)


def rosenbrock(x):
    return scipy.optimize.rosen(x)


def composed(x):
    steps: list[Any] = [partial(np.multiply, 2.0), np.tanh, lambda v: v + x[0]]
    return reduce(lambda value, step: step(value), steps, x).sum()


MODELS = (
    ("autoregression", autoregression, TWO),
    ("moving average", moving_average, np.array([0.3, 0.9])),
    ("garch", garch, np.array([-1.0, -2.0, -0.5])),
    ("logit", Logit(CHOICES > 1, X).loglike, TWO),
    ("poisson", Poisson(COUNTS, X).loglike, TWO),
    ("negative binomial", NegativeBinomial(COUNTS, X).loglike, THREE),
    ("multinomial logit", multinomial_logit, FOUR),
    ("ordered probit", ordered_probit, np.array([0.3, -0.4, 0.2])),
    ("tobit", tobit, THREE),
    ("weibull", weibull_survival, TWO),
    ("cox", cox_partial_likelihood, TWO),
    ("mixture", mixture, FOUR),
    ("hidden markov", hidden_markov, THREE),
    ("kalman", kalman, TWO),
    ("gaussian process", gaussian_process, TWO),
    ("vector autoregression", vector_autoregression, FOUR),
    ("factor analysis", factor_analysis, FOUR),
    ("markov switching", markov_switching, FOUR),
    ("ridge", ridge_by_normal_equations, TWO),
    ("quantile loss", quantile_loss, TWO),
    ("huber", huber, TWO),
    ("heat equation", heat_equation, TWO),
    ("runge kutta", runge_kutta, TWO),
    ("bodies", bodies, TWO),
    ("binomial tree", binomial_tree, TWO),
    ("black scholes", black_scholes, TWO),
    ("time warping", time_warping, THREE),
    ("viterbi", viterbi, THREE),
    ("power iteration", power_iteration, TWO),
    ("newton steps", newton_steps, TWO),
    ("thomas algorithm", thomas_algorithm, TWO),
    ("cholesky by hand", cholesky_by_hand, TWO),
    ("filtered", filtered, FOUR),
    ("network", network, FOUR),
    ("recurrent", recurrent, FOUR),
    ("softmax regression", softmax_regression, FOUR),
    ("attention", attention, THREE),
    ("portfolio", portfolio, TWO),
    ("rosenbrock", rosenbrock, FOUR),
    ("composed", composed, THREE),
)
BENCHMARKS = tuple(
    (kind.__name__, kind().fun, TWO)
    for kind in (
        Ackley, Damavandi, Paviani, Penalty, Weierstrass, Zimmerman, Katsuura, Langermann, Trid,
        Shekel, Whitley, Stepped, Deceptive,
    )
)  # fmt: skip
CASES = [*MODELS, *BENCHMARKS]
#: Orders of derivatives, where the second is NaN: ``x exp(-x**2)`` of an infinite bound.
ORDERS = {"ordered probit": 1}


@pytest.mark.thorough
def test_scripts_have_numpy_s_values_and_derivatives(case, check):
    name, f, x = case
    check(f, x, rtol=1e-5, order=ORDERS.get(name, 2))
