"""Numeric programs as people write them, whose derivatives are timed beside their values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Shape = tuple[int, ...]


class Uniform(NamedTuple):
    """Numbers from ``low`` to ``high``, whole ones if these are."""

    shape: Shape
    low: float
    high: float


class Program(NamedTuple):
    """A text, and its variables: normal numbers of these shapes, or uniform ones.

    All variables but whole numbers and ``held`` are sources.
    """

    text: str
    shapes: Mapping[str, Shape | Uniform]
    held: tuple[str, ...] = ()

    def values(self, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        """The variables of the program."""
        return {name: _drawn(rng, of) for name, of in self.shapes.items()}


def _drawn(rng: np.random.Generator, of: Shape | Uniform) -> NDArray[Any]:
    if not isinstance(of, Uniform):
        return np.asarray(rng.normal(size=of))
    if isinstance(of.low, int) and isinstance(of.high, int):
        return np.asarray(rng.integers(of.low, of.high, of.shape))
    return np.asarray(rng.uniform(of.low, of.high, of.shape))


POSITIVE = 0.5, 2.0
PROGRAMS = {
    # polynomials, series and tables
    "powers of a column": Program(
        "sum((x[:, None] ** arange(12)) @ c)", {"x": (2000,), "c": (12,)}
    ),
    "Chebyshev's recurrence": Program(
        "a = ones(2000)\nb = x\ns = c[0] * a + c[1] * b\nfor k in range(2, 20):\n"
        "    a, b = b, 2 * x * b - a\n    s = s + c[k] * b\nsum(s**2)",
        {"x": Uniform((2000,), -1.0, 1.0), "c": (20,)},
    ),
    "Fourier series": Program(
        "k = arange(1, 20)\nsum((sin(x[:, None] * k) @ a + cos(x[:, None] * k) @ b)**2)",
        {"x": (1000,), "a": (19,), "b": (19,)},
    ),
    "interp": Program(
        "sum(interp(x, linspace(0.0, 1.0, 50), y)**2)",
        {"x": Uniform((5000,), 0.0, 1.0), "y": (50,)},
    ),
    "a table between knots": Program(
        "i = clip(floor(x * 49), 0, 48)\ni = astype(i, 'int64')\nt = x * 49 - i\n"
        "sum((y[i] * (1 - t) + y[i + 1] * t)**2)",
        {"x": Uniform((5000,), 0.0, 1.0), "y": (50,)},
    ),
    "searchsorted": Program(
        "g = linspace(0.0, 1.0, 50)**2\ni = clip(searchsorted(g, x) - 1, 0, 48)\n"
        "t = (x - g[i]) / (g[i + 1] - g[i])\n"
        "sum(y[i] + t * (y[i + 1] - y[i]))",
        {"x": Uniform((5000,), 0.0, 0.99), "y": (50,)},
    ),
    # differences, windows and images
    "second differences": Program("sum(diff(x, 2)**2)", {"x": (20000,)}),
    "total variation": Program(
        "dx = u[1:, :-1] - u[:-1, :-1]\ndy = u[:-1, 1:] - u[:-1, :-1]\n"
        "sum(sqrt(dx**2 + dy**2 + 1e-3))",
        {"u": (200, 200)},
    ),
    "Laplacian by padding": Program(
        "p = pad(u, 1)\nl = p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - 4 * u\n"
        "sum(l**2)",
        {"u": (150, 150)},
    ),
    "Laplacian by rolling": Program(
        "l = roll(u, 1, 0) + roll(u, -1, 0) + roll(u, 1, 1) + roll(u, -1, 1) - 4 * u\nsum(l * l)",
        {"u": (150, 150)},
    ),
    "a padded concatenation": Program(
        "z = zeros(1)\np = concatenate([z, x, z])\nsum((p[2:] - 2 * p[1:-1] + p[:-2])**2)",
        {"x": (20000,)},
    ),
    "a moving average": Program(
        "c = cumsum(x)\nm = (c[20:] - c[:-20]) / 20\nsum((x[20:] - m)**2)", {"x": (20000,)}
    ),
    "a convolution": Program("sum(convolve(x, k, 'same')**2)", {"x": (5000,), "k": (9,)}),
    "shifted sums": Program(
        "s = 0.0\nfor k in range(9):\n    s = s + w[k] * x[k:4992 + k]\nsum(tanh(s))",
        {"x": (5000,), "w": (9,)},
    ),
    "two-dimensional filter by slices": Program(
        "s = 0.0\nfor i in range(3):\n    for j in range(3):\n"
        "        s = s + k[i, j] * u[i:98 + i, j:98 + j]\nsum(maximum(s, 0.0)**2)",
        {"u": (100, 100), "k": (3, 3)},
    ),
    "pooling by reshape": Program(
        "sum(max(max(u.reshape(100, 2, 100, 2), axis=3), axis=1)**2)", {"u": (200, 200)}
    ),
    "finite volumes with limiter": Program(
        "d = u[1:] - u[:-1]\ns = where(d[1:] * d[:-1] > 0, minimum(abs(d[1:]), abs(d[:-1])), 0.0)\n"
        "sum(s**2) + sum(d**2)",
        {"u": (10000,)},
    ),
    # products and quadratic forms
    "a quadratic form by broadcasting": Program(
        "sum(x[:, None] * a * x[None, :])", {"x": (400,), "a": (400, 400)}, held=("a",)
    ),
    "many quadratic forms": Program(
        "sum(sum((x @ a) * x, axis=1)**2)", {"x": (2000, 20), "a": (20, 20)}
    ),
    "Mahalanobis by solving": Program(
        "l = cholesky(a @ a.T + 20 * eye(20))\ny = solve_triangular(l, x.T, lower=True)\n"
        "sum(y * y)",
        {"x": (1000, 20), "a": (20, 20)},
    ),
    "a Gaussian's likelihood": Program(
        "s = a @ a.T + 30 * eye(30)\nr = x - m\nsum(r.T * solve(s, r.T)) + len(x) * slogdet(s)[1]",
        {"x": (300, 30), "m": (30,), "a": (30, 30)},
        held=("x",),
    ),
    "Cramer's rule": Program(
        "d = a * e - b * b\nu = (c * e - b * f) / d\nv = (a * f - b * c) / d\nsum(u**2 + v**2)",
        dict.fromkeys("acf", Uniform((5000,), *POSITIVE))
        | {"b": Uniform((5000,), 0.0, 0.4), "e": Uniform((5000,), *POSITIVE)},
    ),
    "3 x 3 determinants": Program(
        "sum(m[:, 0, 0] * (m[:, 1, 1] * m[:, 2, 2] - m[:, 1, 2] * m[:, 2, 1])"
        " - m[:, 0, 1] * (m[:, 1, 0] * m[:, 2, 2] - m[:, 1, 2] * m[:, 2, 0])"
        " + m[:, 0, 2] * (m[:, 1, 0] * m[:, 2, 1] - m[:, 1, 1] * m[:, 2, 0]))",
        {"m": (3000, 3, 3)},
    ),
    "a determinant by det": Program(
        "sum(log(det(m @ transpose(m, (0, 2, 1)) + eye(3))))", {"m": (1000, 3, 3)}
    ),
    "cross products": Program("sum(cross(a, b)**2)", {"a": (3000, 3), "b": (3000, 3)}),
    "rotations": Program(
        "c = cos(t)\ns = sin(t)\nx = p[:, 0] * c - p[:, 1] * s\ny = p[:, 0] * s + p[:, 1] * c\n"
        "sum((x - q[:, 0])**2 + (y - q[:, 1])**2)",
        {"t": (), "p": (5000, 2), "q": (5000, 2)},
    ),
    "quaternions": Program(
        "w, x, y, z = [q[:, i] for i in range(4)]\nn = w*w + x*x + y*y + z*z\n"
        "a = (w*w + x*x - y*y - z*z) / n\nb = 2 * (x*y + w*z) / n\nsum(a**2 + b**2)",
        {"q": (3000, 4)},
    ),
    "matrix factorisation over all pairs": Program(
        "sum(m * (r - u @ v.T)**2) + 0.1 * (sum(u**2) + sum(v**2))",
        {"u": (300, 8), "v": (200, 8), "r": (300, 200), "m": Uniform((300, 200), 0.0, 1.0)},
        held=("r", "m"),
    ),
    "matrix factorisation by broadcasting": Program(
        "sum((r - sum(u[:, None, :] * v[None, :, :], axis=2))**2)",
        {"u": (300, 8), "v": (200, 8), "r": (300, 200)},
        held=("r",),
    ),
    "matrix factorisation of ratings": Program(
        "sum((sum(u[i] * v[j], axis=1) - r)**2)",
        {
            "u": (500, 8),
            "v": (400, 8),
            "i": Uniform((5000,), 0, 500),
            "j": Uniform((5000,), 0, 400),
            "r": (5000,),
        },
        held=("r",),
    ),
    "a factorisation machine": Program(
        "s = (x @ v)**2 - x**2 @ v**2\nsum((x @ w + sum(s, axis=1) / 2)**2)",
        {"x": (1000, 40), "v": (40, 8), "w": (40,)},
        held=("x",),
    ),
    "pairwise distances": Program(
        "sum(sqrt(sum((x[:, None, :] - x[None, :, :])**2, axis=2) + 1e-6))", {"x": (120, 3)}
    ),
    "Lennard-Jones": Program(
        "d = x[:, None] - x[None]\nr = sum(d * d, axis=-1) + eye(len(x))\ns = 1 / r**3\n"
        "sum((s * s - s) * (1 - eye(len(x))))",
        {"x": Uniform((100, 3), 0.0, 8.0)},
    ),
    "gravity": Program(
        "d = x[None] - x[:, None]\nr = sqrt(sum(d**2, axis=2) + 0.01)\n"
        "-sum(m[:, None] * m * (1 - eye(80)) / r) / 2",
        {"x": (80, 3), "m": Uniform((80,), *POSITIVE)},
    ),
    # probabilities
    "products by cumprod": Program(
        "p = cumprod(1 - h)\nq = concatenate([ones(1), p[:-1]])\n-sum(log(h * q))",
        {"h": Uniform((5000,), 1e-4, 2e-3)},
    ),
    "Kaplan-Meier by sums": Program(
        "-sum(cumsum(log1p(-h)) + log(h))", {"h": Uniform((5000,), 0.01, 0.5)}
    ),
    "a normal density by hand": Program(
        "s = exp(t)\nz = (x - m) / s\n-sum(-0.5 * z**2 - t - 0.9189385332046727)",
        {"x": (5000,), "m": (), "t": ()},
        held=("x",),
    ),
    "a normal density by norm": Program(
        "-sum(scipy.stats.norm.logpdf(x, m, exp(t)))", {"x": (5000,), "m": (), "t": ()}, held=("x",)
    ),
    "Student's t": Program(
        "-sum(gammaln((n + 1) / 2) - gammaln(n / 2) - 0.5 * log(n * pi)"
        " - (n + 1) / 2 * log1p(x**2 / n))",
        {"x": (5000,), "n": Uniform((), *POSITIVE)},
        held=("x",),
    ),
    "negative binomial": Program(
        "m = exp(z @ w)\nl = r * log(r / (r + m)) + y * log(m / (r + m))\n"
        "-sum(gammaln(y + r) - gammaln(r) + l)",
        {"z": (1000, 5), "w": (5,), "y": Uniform((1000,), 0, 9), "r": Uniform((), *POSITIVE)},
        held=("z",),
    ),
    "Poisson regression": Program(
        "e = z @ w\nsum(exp(e) - y * e)",
        {"z": Uniform((3000, 10), -0.3, 0.3), "w": (10,), "y": Uniform((3000,), 0, 9)},
        held=("z",),
    ),
    "Cox's partial likelihood": Program(
        "e = z @ w\nc = log(cumsum(exp(e)))\n-sum(d * (e - c))",
        {"z": Uniform((3000, 5), -0.5, 0.5), "w": (5,), "d": Uniform((3000,), 0, 2)},
        held=("z",),
    ),
    "ordered logit": Program(
        "e = z @ w\nc = concatenate([array([-1e3]), cumsum(exp(t)), array([1e3])])\n"
        "-sum(log(sigmoid(c[y + 1] - e) - sigmoid(c[y] - e)))",
        {
            "z": Uniform((2000, 4), -0.3, 0.3),
            "w": (4,),
            "t": Uniform((3,), -0.3, 0.3),
            "y": Uniform((2000,), 0, 4),
        },
        held=("z",),
    ),
    "KL of normals": Program(
        "sum(0.5 * (exp(2 * (s - t)) + (m - n)**2 * exp(-2 * t)) - s + t)",
        dict.fromkeys("stmn", Uniform((5000,), -1.0, 1.0)),
    ),
    "Wasserstein by sorting": Program("sum((sort(x) - sort(y))**2)", {"x": (3000,), "y": (3000,)}),
    "quantile loss": Program(
        "r = y - z @ w\nsum(maximum(0.9 * r, -0.1 * r))",
        {"z": (3000, 8), "w": (8,), "y": (3000,)},
        held=("z", "y"),
    ),
    "Huber's loss": Program(
        "r = y - z @ w\na = abs(r)\nsum(where(a < 1, 0.5 * r**2, a - 0.5))",
        {"z": (3000, 8), "w": (8,), "y": (3000,)},
        held=("z", "y"),
    ),
    "Black-Scholes": Program(
        "d = (log(s / k) + (r + v**2 / 2) * t) / (v * sqrt(t))\n"
        "sum(s * ndtr(d) - k * exp(-r * t) * ndtr(d - v * sqrt(t)))",
        dict.fromkeys("sktv", Uniform((3000,), *POSITIVE)) | {"r": Uniform((), 0.01, 0.1)},
    ),
    "a hidden Markov model": Program(
        "a = p\nfor k in range(60):\n    a = logsumexp(a[:, None] + t, axis=0) + e[y[k]]\n"
        "logsumexp(a)",
        {"p": (6,), "t": (6, 6), "e": (10, 6), "y": Uniform((60,), 0, 10)},
    ),
    "a Gaussian process": Program(
        "d = x[:, None] - x\nk = exp(2 * a - d**2 / (2 * exp(2 * l))) + exp(2 * s) * eye(len(x))\n"
        "c = cholesky(k)\nz = solve_triangular(c, y, lower=True)\n"
        "z @ z / 2 + sum(log(diag(c)))",
        {
            "x": Uniform((150,), 0.0, 10.0),
            "y": (150,),
            "a": Uniform((), 0.0, 0.5),
            "l": Uniform((), 0.0, 0.5),
            "s": Uniform((), -1.0, 0.0),
        },
        held=("x", "y"),
    ),
    # integrations
    "Runge-Kutta, logistic": Program(
        "y = u\nh = 0.05\nfor i in range(50):\n    k1 = r * y * (1 - y)\n    b = y + h / 2 * k1\n"
        "    k2 = r * b * (1 - b)\n    b = y + h / 2 * k2\n    k3 = r * b * (1 - b)\n"
        "    b = y + h * k3\n    k4 = r * b * (1 - b)\n"
        "    y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)\n"
        "sum((y - t)**2)",
        {
            "u": Uniform((200,), 0.1, 0.9),
            "r": Uniform((200,), *POSITIVE),
            "t": Uniform((200,), 0.0, 1.0),
        },
        held=("t",),
    ),
    "Runge-Kutta over data": Program(
        "y = u\ns = 0.0\nh = 0.05\nfor i in range(len(d)):\n    k1 = r * y * (1 - y)\n"
        "    b = y + h / 2 * k1\n    k2 = r * b * (1 - b)\n    b = y + h / 2 * k2\n"
        "    k3 = r * b * (1 - b)\n    b = y + h * k3\n    k4 = r * b * (1 - b)\n"
        "    y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)\n    s = s + (y - d[i])**2\ns",
        {"u": Uniform((), 0.1, 0.9), "r": Uniform((), *POSITIVE), "d": (200,)},
        held=("d",),
    ),
    "Runge-Kutta by a function": Program(
        "def f(y):\n    return r * y * (1 - y)\ndef step(y, d):\n    k1 = f(y)\n"
        "    k2 = f(y + 0.025 * k1)\n    k3 = f(y + 0.025 * k2)\n    k4 = f(y + 0.05 * k3)\n"
        "    z = y + 0.05 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)\n    return z, (z - d)**2\n"
        "y, e = lax.scan(step, u, d)\nsum(e)",
        {"u": Uniform((), 0.1, 0.9), "r": Uniform((), *POSITIVE), "d": (200,)},
        held=("d",),
    ),
    "a pendulum": Program(
        "q = a\np = b\nfor i in range(300):\n    p = p - 0.02 * (w * sin(q) + c * p)\n"
        "    q = q + 0.02 * p\nq**2 + p**2",
        {"a": (), "b": (), "w": Uniform((), *POSITIVE), "c": Uniform((), 0.0, 0.2)},
    ),
    "odeint": Program(
        "def f(y, t):\n    return stack([y[0] * (a - b * y[1]), y[1] * (c * y[0] - d)])\n"
        "sum(odeint(f, u, linspace(0.0, 3.0, 20))**2)",
        {"u": Uniform((2,), *POSITIVE)} | dict.fromkeys("abcd", Uniform((), 0.5, 1.5)),
    ),
    "heat, 100 steps": Program(
        "u = x\nfor i in range(100):\n    u = u + k * (roll(u, 1) - 2 * u + roll(u, -1))\n"
        "sum(u**2)",
        {"x": (500,), "k": Uniform((), 0.05, 0.2)},
    ),
    "a leaky integrator": Program(
        "v = 0.0\ns = 0.0\nfor i in range(len(x)):\n    v = a * v + b * x[i]\n"
        "    s = s + tanh(v)\ns",
        {"x": (1000,), "a": Uniform((), 0.5, 0.9), "b": ()},
    ),
    "GARCH": Program(
        "h = 1.0\nl = 0.0\nfor i in range(len(r)):\n    l = l + log(h) + r[i]**2 / h\n"
        "    h = w + a * r[i]**2 + b * h\nl",
        {
            "r": (1000,),
            "w": Uniform((), 0.05, 0.1),
            "a": Uniform((), 0.05, 0.1),
            "b": Uniform((), 0.7, 0.9),
        },
        held=("r",),
    ),
    "a Kalman filter": Program(
        "m = zeros(2)\np = eye(2)\nl = 0.0\nfor i in range(len(y)):\n    m = f @ m\n"
        "    p = f @ p @ f.T + q * eye(2)\n    s = p[0, 0] + r\n    e = y[i] - m[0]\n"
        "    k = p[:, 0] / s\n"
        "    l = l + log(s) + e**2 / s\n    m = m + k * e\n    p = p - outer(k, p[0])\nl",
        {
            "f": Uniform((2, 2), -0.5, 0.5),
            "q": Uniform((), *POSITIVE),
            "r": Uniform((), *POSITIVE),
            "y": (100,),
        },
        held=("y",),
    ),
    # networks
    "a network of three layers": Program(
        "h = tanh(x @ a + b)\nh = tanh(h @ c + d)\nmean((h @ e)**2)",
        {"x": (256, 20), "a": (20, 40), "b": (40,), "c": (40, 40), "d": (40,), "e": (40, 1)},
        held=("x",),
    ),
    "attention": Program(
        "s = q @ transpose(k, (0, 2, 1)) / sqrt(16.0)\nsum((softmax(s, axis=-1) @ v)**2)",
        dict.fromkeys("qkv", (8, 50, 16)),
    ),
    "layer normalisation": Program(
        "m = mean(x, axis=1, keepdims=True)\nv = mean((x - m)**2, axis=1, keepdims=True)\n"
        "sum(((x - m) / sqrt(v + 1e-5) * g + b)**3)",
        {"x": (500, 64), "g": (64,), "b": (64,)},
    ),
    "a recurrent network": Program(
        "h = zeros(20)\ns = 0.0\nfor i in range(len(x)):\n    h = tanh(w @ h + u @ x[i])\n"
        "    s = s + v @ h\ns",
        {"x": (60, 8), "w": Uniform((20, 20), -0.3, 0.3), "u": (20, 8), "v": (20,)},
        held=("x",),
    ),
    "embeddings": Program(
        "e = t[i]\nsum(tanh(mean(e, axis=1) @ w)**2)",
        {"t": (1000, 16), "i": Uniform((200, 12), 0, 1000), "w": (16, 4)},
    ),
    "contrastive": Program(
        "a = x / norm(x, axis=1, keepdims=True)\nb = y / norm(y, axis=1, keepdims=True)\n"
        "s = a @ b.T / 0.1\nmean(logsumexp(s, axis=1) - diag(s))",
        {"x": (128, 32), "y": (128, 32)},
    ),
}
