"""Objectives as textbooks and public code write them: each in several ways, and by hand.

Gradients by hand are what somebody who knows NumPy writes: each value computed once, products of
matrices where there are any.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Values = dict[str, Array]
#: A value, and its gradients by the names of sources.
Found = tuple[Any, dict[str, Array]]


class Objective(NamedTuple):
    """A function of ``sources``, whose ``writings`` all have one value.

    ``contracts`` says that its cost is that of contractions, gathers and scatters.
    """

    values: Callable[[np.random.Generator], Values]
    by_hand: Callable[..., Found]
    writings: Mapping[str, str]
    sources: tuple[str, ...]
    contracts: bool = True


def _least_squares(x: Array, y: Array, w: Array) -> Found:
    r = x @ w - y
    return r @ r / len(y), {"w": 2 / len(y) * (x.T @ r)}


LEAST_SQUARES = Objective(
    lambda rng: {
        "x": rng.normal(size=(2000, 20)),
        "y": rng.normal(size=2000),
        "w": rng.normal(size=20),
    },
    _least_squares,
    {
        "matmul": "mean((x @ w - y)**2)",
        "dot, sum of squares": "r = dot(x, w) - y\nsum(r * r) / len(y)",
        "einsum": "r = einsum('ij,j->i', x, w) - y\neinsum('i,i->', r, r) / len(y)",
        "broadcast": "mean(square(sum(x * w, axis=1) - y))",
        "norm": "norm(y - x @ w)**2 / len(y)",
        "column by column": "p = 0.0\nfor j in range(20):\n    p = p + x[:, j] * w[j]\n"
        "mean((p - y)**2)",
    },
    ("w",),
)


def _logistic(x: Array, y: Array, w: Array) -> Found:
    z = x @ w
    e = np.exp(-np.abs(z))
    loss = np.maximum(z, 0) + np.log1p(e) - y * z
    p = np.where(z >= 0, 1, e) / (1 + e)
    return loss.mean(), {"w": x.T @ (p - y) / len(y)}


LOGISTIC = Objective(
    lambda rng: {
        "x": rng.normal(size=(2000, 20)),
        "y": (rng.random(2000) < 0.5).astype(float),
        "w": rng.normal(size=20) / 4,
    },
    _logistic,
    {
        "softplus": "z = x @ w\nmean(softplus(z) - y * z)",
        "cross-entropy": "p = 1 / (1 + exp(-(x @ w)))\n-mean(y * log(p) + (1 - y) * log(1 - p))",
        "sigmoid": "p = sigmoid(dot(x, w))\nmean(-y * log(p) - (1 - y) * log1p(-p))",
        "stable": "z = x @ w\nmean(maximum(z, 0) - z * y + log1p(exp(-abs(z))))",
        "signs": "s = 2 * y - 1\nmean(log(1 + exp(-s * (x @ w))))",
        "logaddexp": "z = einsum('ij,j->i', x, w)\nmean(logaddexp(0.0, z) - y * z)",
    },
    ("w",),
    contracts=False,
)


def _softmax_regression(x: Array, onehot: Array, labels: Array, w: Array) -> Found:
    z = x @ w
    z = z - z.max(axis=1, keepdims=True)
    e = np.exp(z)
    total = e.sum(axis=1, keepdims=True)
    rows = np.arange(len(labels))
    value = (np.log(total[:, 0]) - z[rows, labels]).mean()
    e /= total
    e[rows, labels] -= 1
    return value, {"w": x.T @ e / len(labels)}


def _classes(rng: np.random.Generator) -> Values:
    labels = rng.integers(0, 10, 1000)
    return {
        "x": rng.normal(size=(1000, 50)),
        "onehot": np.eye(10)[labels],
        "labels": labels,
        "w": rng.normal(size=(50, 10)) / 7,
    }


SOFTMAX_REGRESSION = Objective(
    _classes,
    _softmax_regression,
    {
        "logsumexp, one-hot": "z = x @ w\nmean(logsumexp(z, axis=1) - sum(onehot * z, axis=1))",
        "log_softmax, one-hot": "-mean(sum(onehot * log_softmax(x @ w, axis=1), axis=1))",
        "gathered": "z = x @ w\nmean(logsumexp(z, axis=1) - z[arange(len(labels)), labels])",
        "take_along_axis": "p = log_softmax(x @ w, axis=1)\n"
        "-mean(take_along_axis(p, labels[:, None], axis=1))",
        "softmax": "p = softmax(x @ w, axis=1)\n-mean(log(p[arange(len(labels)), labels]))",
        "by hand": "z = x @ w\nz = z - max(z, axis=1, keepdims=True)\n"
        "p = exp(z) / sum(exp(z), axis=1, keepdims=True)\n"
        "-sum(onehot * log(p)) / len(labels)",
    },
    ("w",),
    contracts=False,
)


def _rosenbrock(x: Array) -> Found:
    a, b = x[:-1], x[1:]
    r = b - a * a
    s = 1 - a
    gradient = np.zeros_like(x)
    gradient[:-1] = -400 * a * r - 2 * s
    gradient[1:] += 200 * r
    return 100 * (r @ r) + s @ s, {"x": gradient}


ROSENBROCK = Objective(
    lambda rng: {"x": rng.normal(size=100)},
    _rosenbrock,
    {
        "slices": "sum(100.0 * (x[1:] - x[:-1]**2)**2 + (1.0 - x[:-1])**2)",
        "two sums": "100.0 * sum(square(x[1:] - square(x[:-1]))) + sum(square(1.0 - x[:-1]))",
        "loop": "s = 0.0\nfor i in range(99):\n"
        "    s = s + 100.0 * (x[i + 1] - x[i]**2)**2 + (1.0 - x[i])**2\ns",
        "sum of a list": "r = range(99)\n"
        "sum([100.0 * (x[i + 1] - x[i]**2)**2 + (1 - x[i])**2 for i in r])",
        "named parts": "a = x[:-1]\nb = x[1:]\nt1 = b - a * a\nt2 = 1 - a\n"
        "sum(100 * t1 * t1 + t2 * t2)",
    },
    ("x",),
    contracts=False,
)


def _polynomial(x: Array, c: Array) -> Found:
    powers = np.empty((len(c), len(x)))
    powers[0] = 1
    for k in range(1, len(c)):
        np.multiply(powers[k - 1], x, out=powers[k])
    p = c @ powers
    return p @ p, {"c": 2 * (powers @ p)}


POLYNOMIAL = Objective(
    lambda rng: {"x": rng.uniform(-1, 1, 1000), "c": rng.normal(size=8)},
    _polynomial,
    {
        "Horner": "p = c[7]\nfor k in range(6, -1, -1):\n    p = p * x + c[k]\nsum(p**2)",
        "sum of powers": "p = sum([c[k] * x**k for k in range(8)], axis=0)\nsum(p**2)",
        "Vandermonde": "p = vander(x, 8, increasing=True) @ c\nsum(p**2)",
        "power of a column": "p = sum(c * x[:, None]**arange(8), axis=1)\ndot(p, p)",
        "polyval": "p = polyval(c[::-1], x)\nsum(p * p)",
    },
    ("c",),
)


def _quadratic_form(x: Array, a: Array) -> Found:
    y = a @ x
    return x @ y, {"x": y + a.T @ x}


QUADRATIC_FORM = Objective(
    lambda rng: {"x": rng.normal(size=300), "a": rng.normal(size=(300, 300))},
    _quadratic_form,
    {
        "x @ a @ x": "x @ a @ x",
        "dot": "dot(x, dot(a, x))",
        "einsum": "einsum('i,ij,j->', x, a, x)",
        "sum of products": "sum(x * (a @ x))",
        "outer": "sum(outer(x, x) * a)",
        "trace": "trace(a @ outer(x, x))",
        "columns": "sum(x[:, None] * a * x[None, :])",
    },
    ("x",),
)


def _mixture(x: Array, means: Array, logs: Array, alpha: Array) -> Found:
    scaled = (x[:, None, :] - means) * np.exp(-logs)
    terms = alpha - logs.sum(axis=1) - 0.5 * np.einsum("nkd,nkd->nk", scaled, scaled)
    top = terms.max(axis=1, keepdims=True)
    e = np.exp(terms - top)
    total = e.sum(axis=1, keepdims=True)
    norm = alpha.max() + np.log(np.exp(alpha - alpha.max()).sum())
    value = (top + np.log(total)).sum() - len(x) * norm
    r = e / total
    share = r.sum(axis=0)
    weighted = r[:, :, None] * scaled
    return value, {
        "means": weighted.sum(axis=0) * np.exp(-logs),
        "logs": np.einsum("nkd,nkd->kd", weighted, scaled) - share[:, None],
        "alpha": share - len(x) * np.exp(alpha - norm),
    }


MIXTURE = Objective(
    lambda rng: {
        "x": rng.normal(size=(500, 5)),
        "means": rng.normal(size=(8, 5)),
        "logs": rng.normal(size=(8, 5)) / 4,
        "alpha": rng.normal(size=8),
    },
    _mixture,
    {
        "broadcast": "d = (x[:, None, :] - means) / exp(logs)\n"
        "t = alpha - sum(logs, axis=1) - 0.5 * sum(d**2, axis=2)\n"
        "sum(logsumexp(t, axis=1)) - len(x) * logsumexp(alpha)",
        "component by component": "t = []\nfor k in range(8):\n"
        "    d = (x - means[k]) * exp(-logs[k])\n"
        "    t.append(alpha[k] - sum(logs[k]) - sum(d * d, axis=1) / 2)\n"
        "sum(logsumexp(stack(t, axis=1), axis=1)) - len(x) * logsumexp(alpha)",
        "normalised weights": "w = log_softmax(alpha)\n"
        "d = (x[:, None] - means[None]) * exp(-logs)\n"
        "sum(log(sum(exp(w - sum(logs, axis=1) - sum(square(d), axis=-1) / 2), axis=1)))",
        "einsum": "d = (x[:, None, :] - means) * exp(-logs)\n"
        "t = alpha - sum(logs, axis=1) - einsum('nkd,nkd->nk', d, d) / 2\n"
        "sum(logsumexp(t, axis=1) - logsumexp(alpha))",
    },
    ("means", "logs", "alpha"),
    contracts=False,
)


def _lotka_volterra(p: Array) -> Found:
    a, b, c, d = p.tolist()
    x, y = 1.0, 0.5
    h = 0.01
    saved = []
    for _ in range(200):
        saved.append((x, y))
        x, y = x + h * (a * x - b * x * y), y + h * (c * x * y - d * y)
    value = (x - 1) ** 2 + (y - 1) ** 2
    x_bar, y_bar = 2 * (x - 1), 2 * (y - 1)
    a_bar = b_bar = c_bar = d_bar = 0.0
    for x, y in reversed(saved):
        a_bar += h * x * x_bar
        b_bar -= h * x * y * x_bar
        c_bar += h * x * y * y_bar
        d_bar -= h * y * y_bar
        x_bar, y_bar = (
            x_bar * (1 + h * (a - b * y)) + y_bar * h * c * y,
            y_bar * (1 + h * (c * x - d)) - x_bar * h * b * x,
        )
    return value, {"p": np.array([a_bar, b_bar, c_bar, d_bar])}


LOTKA_VOLTERRA = Objective(
    lambda rng: {"p": rng.uniform(0.5, 1.5, 4)},
    _lotka_volterra,
    {
        "two numbers": "a, b, c, d = p\nx = 1.0\ny = 0.5\nfor i in range(200):\n"
        "    x, y = x + 0.01 * (a * x - b * x * y), y + 0.01 * (c * x * y - d * y)\n"
        "(x - 1)**2 + (y - 1)**2",
        "an array": "u = array([1.0, 0.5])\nfor i in range(200):\n"
        "    du = array([p[0] * u[0] - p[1] * u[0] * u[1], p[2] * u[0] * u[1] - p[3] * u[1]])\n"
        "    u = u + 0.01 * du\nsum((u - 1)**2)",
        "a function": "def f(u):\n    x, y = u\n"
        "    return stack([p[0] * x - p[1] * x * y, p[2] * x * y - p[3] * y])\n"
        "u = array([1.0, 0.5])\nfor i in range(200):\n    u = u + 0.01 * f(u)\nsum(square(u - 1))",
        "a list": "s = [1.0, 0.5]\nfor i in range(200):\n    x = s[0]\n    y = s[1]\n"
        "    s = [x + 0.01 * x * (p[0] - p[1] * y), y + 0.01 * y * (p[2] * x - p[3])]\n"
        "(s[0] - 1)**2 + (s[1] - 1)**2",
    },
    ("p",),
    contracts=False,
)


def _kernel_energy(x: Array, z: Array, w: Array) -> Found:
    squares = (x * x).sum(axis=1)[:, None] + (z * z).sum(axis=1) - 2 * (x @ z.T)
    k = np.exp(-0.5 * squares)
    f = k @ w
    back = np.outer(f, w) * k * 2
    return f @ f, {"z": back.T @ x - back.sum(axis=0)[:, None] * z, "w": 2 * (k.T @ f)}


KERNEL_ENERGY = Objective(
    lambda rng: {
        "x": rng.normal(size=(300, 3)),
        "z": rng.normal(size=(40, 3)),
        "w": rng.normal(size=40),
    },
    _kernel_energy,
    {
        "differences": "d = x[:, None, :] - z[None, :, :]\n"
        "sum((exp(-0.5 * sum(d**2, axis=2)) @ w)**2)",
        "expanded": "s = sum(x**2, axis=1)[:, None] + sum(z**2, axis=1) - 2 * x @ z.T\n"
        "f = exp(-s / 2) @ w\nsum(f * f)",
        "einsum": "d = x[:, None] - z\ns = einsum('ijk,ijk->ij', d, d)\n"
        "f = einsum('ij,j->i', exp(-0.5 * s), w)\ndot(f, f)",
        "axis by axis": "s = 0.0\nfor k in range(3):\n    s = s + (x[:, k][:, None] - z[:, k])**2\n"
        "f = dot(exp(-0.5 * s), w)\nsum(f**2)",
        "norm": "s = norm(x[:, None, :] - z[None, :, :], axis=-1)\nsum((exp(-0.5 * s**2) @ w)**2)",
    },
    ("z", "w"),
    contracts=False,
)


def _two_layers(x: Array, y: Array, u: Array, v: Array) -> Found:
    h = np.tanh(x @ u)
    r = h @ v - y
    r_bar = 2 / r.size * r
    h_bar = r_bar @ v.T * (1 - h * h)
    return (r * r).mean(), {"u": x.T @ h_bar, "v": h.T @ r_bar}


TWO_LAYERS = Objective(
    lambda rng: {
        "x": rng.normal(size=(256, 32)),
        "y": rng.normal(size=(256, 4)),
        "u": rng.normal(size=(32, 64)) / 6,
        "v": rng.normal(size=(64, 4)) / 8,
    },
    _two_layers,
    {
        "matmul": "mean((tanh(x @ u) @ v - y)**2)",
        "einsum": "h = tanh(einsum('ni,ij->nj', x, u))\nr = einsum('nj,jk->nk', h, v) - y\n"
        "einsum('nk,nk->', r, r) / y.size",
        "tensordot": "h = tanh(tensordot(x, u, axes=1))\nmean(square(tensordot(h, v, axes=1) - y))",
        "column vectors": "h = tanh(u.T @ x.T)\nr = v.T @ h - y.T\nsum(r**2) / y.size",
        "broadcast": "h = tanh(sum(x[:, :, None] * u, axis=1))\nmean((h @ v - y)**2)",
        "batched vectors": "h = tanh((x[:, None, :] @ u)[:, 0])\n"
        "mean(((h[:, None, :] @ v)[:, 0] - y)**2)",
    },
    ("u", "v"),
)


def _heat(u: Array, target: Array) -> Found:
    def step(x: Array) -> Array:
        left, right = np.roll(x, 1), np.roll(x, -1)
        moved: Array = x + 0.1 * (left - 2 * x + right)
        return moved

    x = u
    for _ in range(50):
        x = step(x)
    r = x - target
    bar = 2 * r
    for _ in range(50):
        bar = step(bar)  # it is symmetric
    return r @ r, {"u": bar}


HEAT = Objective(
    lambda rng: {"u": rng.normal(size=1000), "target": rng.normal(size=1000)},
    _heat,
    {
        "roll": "x = u\nfor i in range(50):\n"
        "    x = x + 0.1 * (roll(x, 1) - 2 * x + roll(x, -1))\nsum((x - target)**2)",
        "concatenate": "x = u\nfor i in range(50):\n    l = concatenate([x[-1:], x[:-1]])\n"
        "    r = concatenate([x[1:], x[:1]])\n    x = x + 0.1 * (l - 2 * x + r)\n"
        "sum((x - target)**2)",
        "padded": "x = u\nfor i in range(50):\n    p = pad(x, 1, mode='wrap')\n"
        "    x = x + 0.1 * (p[:-2] - 2 * p[1:-1] + p[2:])\nsum((x - target)**2)",
        "indices": "i = arange(1000)\nl = (i - 1) % 1000\nr = (i + 1) % 1000\nx = u\n"
        "for k in range(50):\n    x = x + 0.1 * (x[l] - 2 * x + x[r])\nsum((x - target)**2)",
        "convolution": "x = u\nfor i in range(50):\n    p = concatenate([x[-1:], x, x[:1]])\n"
        "    x = convolve(p, array([0.1, 0.8, 0.1]), 'valid')\nsum((x - target)**2)",
    },
    ("u",),
)


def _embeddings(table: Array, w: Array, i: Array, y: Array) -> Found:
    rows = table[i]
    r = rows @ w - y
    r_bar = 2 / len(y) * r
    bar = np.zeros_like(table)
    for k in range(len(w)):
        bar[:, k] = np.bincount(i, r_bar * w[k], len(table))
    return r @ r / len(y), {"table": bar, "w": rows.T @ r_bar}


EMBEDDINGS = Objective(
    lambda rng: {
        "table": rng.normal(size=(500, 16)),
        "w": rng.normal(size=16),
        "i": rng.integers(0, 500, 4000),
        "y": rng.normal(size=4000),
    },
    _embeddings,
    {
        "index": "mean((table[i] @ w - y)**2)",
        "take": "r = take(table, i, axis=0) @ w - y\nsum(r**2) / len(y)",
        "product first": "p = table @ w\nmean(square(p[i] - y))",
        "one-hot": "h = eye(500)[i]\nmean((h @ table @ w - y)**2)",
        "sum of products": "mean((sum(table[i] * w, axis=1) - y)**2)",
    },
    ("table", "w"),
)


def _autoregression(x: Array, c: Array) -> Found:
    n = len(x) - 4
    lags = np.stack([x[3 - k : 3 - k + n] for k in range(4)])
    r = x[4:] - c @ lags
    return r @ r / n, {"c": -2 / n * (lags @ r)}


AUTOREGRESSION = Objective(
    lambda rng: {"x": rng.normal(size=5000), "c": rng.normal(size=4) / 4},
    _autoregression,
    {
        "slices": "p = c[0] * x[3:-1] + c[1] * x[2:-2] + c[2] * x[1:-3] + c[3] * x[:-4]\n"
        "mean((x[4:] - p)**2)",
        "stacked": "l = stack([x[3 - k:len(x) - 1 - k] for k in range(4)])\n"
        "r = x[4:] - c @ l\nsum(r * r) / len(r)",
        "loop": "p = 0.0\nfor k in range(4):\n    p = p + c[k] * x[3 - k:len(x) - 1 - k]\n"
        "mean(square(x[4:] - p))",
        "windows": "i = arange(len(x) - 4)[:, None] + arange(3, -1, -1)\n"
        "mean((x[4:] - x[i] @ c)**2)",
        "convolution": "p = convolve(x[:-1], c, 'valid')\nmean((x[4:] - p)**2)",
    },
    ("c",),
)

OBJECTIVES: dict[str, Objective] = {
    "least squares": LEAST_SQUARES,
    "logistic regression": LOGISTIC,
    "softmax regression": SOFTMAX_REGRESSION,
    "Rosenbrock": ROSENBROCK,
    "polynomial": POLYNOMIAL,
    "quadratic form": QUADRATIC_FORM,
    "mixture": MIXTURE,
    "Lotka-Volterra": LOTKA_VOLTERRA,
    "kernel energy": KERNEL_ENERGY,
    "two layers": TWO_LAYERS,
    "heat equation": HEAT,
    "embeddings": EMBEDDINGS,
    "autoregression": AUTOREGRESSION,
}
