"""Programs as people write them: their values against NumPy's, their gradients against differences.

Each reference computes the same in NumPy; integer leaves are not differentiated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.special
from gradwire_engine import Leaf
from numpy.testing import assert_allclose

PROGRAMS: dict[str, Case] = {}


class Case(NamedTuple):
    """A program with values for its variables, and what NumPy makes of them."""

    program: str
    variables: dict[str, Any]
    reference: Callable[..., Any]
    tolerance: float


def program(
    text: str, tolerance: float = 1e-6, **variables: Any
) -> Callable[[Callable[..., Any]], None]:
    """Enter a program; the decorated function is its reference and gives it its name."""

    def enter(reference: Callable[..., Any]) -> None:
        PROGRAMS[reference.__name__] = Case(text, variables, reference, tolerance)

    return enter


def normal(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.default_rng((seed, *shape)).normal(size=shape)


@program(
    """
def dense(h, layer, f):
    return f(h @ layer.w + layer.b)
h = x
for layer in layers[:-1]:
    h = dense(h, layer, tanh)
out = dense(h, layers[-1], lambda z: z)
loss = mean((out - y)**2)
""",
    x=normal(4, 3),
    y=normal(4, 2),
    layers=[
        {"w": normal(3, 5), "b": normal(5)},
        {"w": normal(5, 4), "b": normal(4)},
        {"w": normal(4, 2), "b": normal(2)},
    ],
)
def perceptron(x, y, layers):
    for layer in layers[:-1]:
        x = np.tanh(x @ layer["w"] + layer["b"])
    return np.mean((x @ layers[-1]["w"] + layers[-1]["b"] - y) ** 2)


@program(
    """
logw = log_softmax(logits)
d = (x[:, None, :] - mu[None]) / exp(logs)
lp = -0.5 * sum(d**2, axis=-1) - sum(logs, axis=-1) - 0.5 * x.shape[1] * log(2 * pi)
sum(logsumexp(logw + lp, axis=1))
""",
    x=normal(7, 2),
    mu=normal(3, 2),
    logs=0.3 * normal(3, 2, seed=1),
    logits=normal(3),
)
def gaussian_mixture(x, mu, logs, logits):
    density = 0.0
    for w, m, s in zip(np.exp(logits) / np.sum(np.exp(logits)), mu, np.exp(logs), strict=True):
        density += w * np.prod(np.exp(-(((x - m) / s) ** 2) / 2) / s / np.sqrt(2 * np.pi), axis=1)
    return np.sum(np.log(density))


@program(
    """
h, c = h0, c0
for x in xs:
    i, f, g, o = split(concatenate([x, h]) @ W + b, 4)
    c = sigmoid(f) * c + sigmoid(i) * tanh(g)
    h = sigmoid(o) * tanh(c)
sum(h**2)
""",
    xs=normal(4, 3),
    h0=normal(2),
    c0=normal(2, seed=1),
    W=normal(5, 8),
    b=normal(8),
)
def long_short_term_memory(xs, h0, c0, W, b):
    h, c = h0, c0
    for x in xs:
        i, f, g, o = np.split(np.concatenate([x, h]) @ W + b, 4)
        c = scipy.special.expit(f) * c + scipy.special.expit(i) * np.tanh(g)
        h = scipy.special.expit(o) * np.tanh(c)
    return np.sum(h**2)


@program(
    """
def f(x): return x**3 - a * x - 1
x = x0
while abs(f(x)) > 1e-12:
    x = x - f(x) / grad(f)(x)
x
""",
    tolerance=1e-5,
    a=2.0,
    x0=2.0,
)
def root_by_newton(a, x0):
    return np.max(np.roots([1, 0, -a, -1]).real)


@program(
    """
def rate(y):
    return stack([al * y[0] - be * y[0] * y[1], be * y[0] * y[1] - ga * y[1]])
n = 20
dt = T / n
y = y0
for _ in range(n):
    k1 = rate(y)
    k2 = rate(y + dt/2 * k1)
    k3 = rate(y + dt/2 * k2)
    k4 = rate(y + dt * k3)
    y += dt/6 * (k1 + 2*k2 + 2*k3 + k4)
sum(y**2)
""",
    y0=np.array([1.0, 0.5]),
    T=2.0,
    al=1.1,
    be=0.4,
    ga=0.4,
)
def predators_by_runge_kutta(y0, T, al, be, ga):
    def rate(y):
        return np.array([al * y[0] - be * y[0] * y[1], be * y[0] * y[1] - ga * y[1]])

    y, dt = y0, T / 20
    for _ in range(20):
        k1 = rate(y)
        k2 = rate(y + dt / 2 * k1)
        k3 = rate(y + dt / 2 * k2)
        y = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + rate(y + dt * k3))
    return np.sum(y**2)


@program(
    """
x, P, ll = x0, P0, 0.0
for z in zs:
    x = F @ x
    P = F @ P @ F.T + Q
    y = z - H @ x
    S = H @ P @ H.T + R
    K = P @ H.T @ inv(S)
    x = x + K @ y
    P = (eye(len(x)) - K @ H) @ P
    ll += -0.5 * (y @ solve(S, y) + np.linalg.slogdet(S)[1] + len(y) * log(2 * pi))
ll
""",
    zs=normal(5, 1),
    F=np.array([[1, 0.1], [0, 1]]),
    H=np.array([[1.0, 0]]),
    Q=0.1 * np.eye(2),
    R=np.array([[0.5]]),
    x0=normal(2),
    P0=np.eye(2),
)
def kalman_filter(zs, F, H, Q, R, x0, P0):
    x, P, ll = x0, P0, 0.0
    for z in zs:
        x, P = F @ x, F @ P @ F.T + Q
        y, S = z - H @ x, H @ P @ H.T + R
        K = P @ H.T @ np.linalg.inv(S)
        x, P = x + K @ y, (np.eye(2) - K @ H) @ P
        ll -= 0.5 * (y @ np.linalg.solve(S, y) + np.log(np.linalg.det(2 * np.pi * S)))
    return ll


@program(
    """
def cdf(x): return 0.5 * (1 + erf(x / sqrt(2)))
d1 = (log(S / K) + (r + sigma**2 / 2) * T) / (sigma * sqrt(T))
price = S * cdf(d1) - K * exp(-r * T) * cdf(d1 - sigma * sqrt(T))
""",
    tolerance=1e-5,
    S=100.0,
    K=95.0,
    T=0.5,
    r=0.03,
    sigma=0.2,
)
def option_price(S, K, T, r, sigma):
    spread = sigma * np.sqrt(T)
    d = np.log(S / K) / spread + (r / sigma + sigma / 2) * np.sqrt(T)
    return S * scipy.special.ndtr(d) - K * np.exp(-r * T) * scipy.special.ndtr(d - spread)


@program(
    """
logp = log_softmax(x @ w, axis=1)
loss = -mean(logp[arange(len(labels)), labels])
""",
    x=normal(4, 3),
    w=normal(3, 3),
    labels=np.array([0, 2, 1, 2]),
)
def cross_entropy(x, w, labels):
    p = np.exp(x @ w)
    return -np.mean(np.log(p[range(4), labels] / p.sum(axis=1)))


@program(
    """
d = x[:, None] - x[None, :]
K = exp(2 * lf) * exp(-0.5 * d**2 / exp(2 * ll)) + exp(2 * ln) * eye(len(x))
L = cholesky(K)
a = solve_triangular(L, y, lower=True)
-0.5 * sum(a**2) - sum(log(diag(L))) - len(x) / 2 * log(2 * pi)
""",
    x=np.linspace(0, 2, 5),
    y=normal(5),
    lf=0.1,
    ll=-0.3,
    ln=-1.0,
)
def gaussian_process(x, y, lf, ll, ln):
    d = x[:, None] - x[None, :]
    K = np.exp(2 * lf - 0.5 * d**2 * np.exp(-2 * ll)) + np.exp(2 * ln) * np.eye(5)
    return -0.5 * (y @ np.linalg.solve(K, y) + np.log(np.linalg.det(2 * np.pi * K)))


@program(
    """
q, k, v = x @ Wq, x @ Wk, x @ Wv
s = einsum('bte,bse->bts', q, k) / sqrt(q.shape[-1])
n = s.shape[-1]
s = where(tril(ones((n, n))) > 0, s, -inf)
sum((softmax(s) @ v)**2)
""",
    x=normal(2, 4, 3),
    Wq=normal(3, 3),
    Wk=normal(3, 3, seed=1),
    Wv=normal(3, 2),
)
def causal_attention(x, Wq, Wk, Wv):
    total = 0.0
    for sequence in x:
        for t in range(len(sequence)):
            seen = sequence[: t + 1]
            weights = np.exp(seen @ Wk @ (sequence[t] @ Wq) / np.sqrt(3))
            total += np.sum((weights @ seen @ Wv / weights.sum()) ** 2)
    return total


@program(
    """
u = tanh(outer(x, a) + b) @ c
ux = grad(u, x)
uxx = grad(ux, x)
mean((uxx + u)**2)
""",
    x=normal(5),
    a=normal(3),
    b=normal(3, seed=1),
    c=normal(3, seed=2),
)
def physics_residual(x, a, b, c):
    t = np.tanh(np.outer(x, a) + b)
    return np.mean(((t - 2 * t * (1 - t**2) * a**2) @ c) ** 2)


@program(
    """
score = tanh(x @ w)
g = grad(score, x)
mean((norm(g, axis=1) - 1)**2)
""",
    x=normal(4, 3),
    w=normal(3),
)
def gradient_penalty(x, w):
    return np.mean(((1 - np.tanh(x @ w) ** 2) * np.sqrt(w @ w) - 1) ** 2)


@program(
    """
def loss(w): return mean((X @ w - y)**2)
for _ in range(3):
    w = w - lr * grad(loss)(w)
loss(w)
""",
    X=normal(4, 2),
    y=normal(4),
    w=normal(2),
    lr=0.1,
)
def descent_differentiated_through(X, y, w, lr):
    for _ in range(3):
        w = w - lr * X.T @ (X @ w - y) / 2
    return np.mean((X @ w - y) ** 2)


@program(
    """
def p(x, cs): return sum([c * x**i for i, c in enumerate(cs)])
z = p(re + 1j * im, coefficients)
abs(z)**2 + z.real
""",
    re=0.7,
    im=-0.4,
    coefficients=normal(4),
)
def complex_polynomial(re, im, coefficients):
    z = np.polyval(coefficients[::-1], re + 1j * im)
    return abs(z) ** 2 + z.real


@program(
    """
a = log_softmax(A, axis=1)
b = log_softmax(B, axis=1)
alpha = log_softmax(p) + b[:, seen[0]]
for o in seen[1:]:
    alpha = logsumexp(alpha[:, None] + a, axis=0) + b[:, o]
logsumexp(alpha)
""",
    A=normal(3, 3),
    B=normal(3, 4),
    p=normal(3),
    seen=np.array([0, 3, 1, 2]),
)
def hidden_markov_model(A, B, p, seen):
    a, b, forward = [np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True) for x in (A, B, p)]
    forward = forward * b[:, seen[0]]
    for o in seen[1:]:
        forward = forward @ a * b[:, o]
    return np.log(np.sum(forward))


@program(
    """
w = copy(u)
for _ in range(5):
    w[1:-1] += r * (w[2:] - 2*w[1:-1] + w[:-2])
ordered = sort(w)
c = cumsum(w)
ordered[1] * ordered[-2] + median(w) + c @ c
""",
    u=normal(6),
    r=0.2,
)
def heat_and_order_statistics(u, r):
    w = u.copy()
    for _ in range(5):
        w[1:-1] += r * (w[2:] - 2 * w[1:-1] + w[:-2])
    return np.sort(w)[1] * np.sort(w)[-2] + np.median(w) + np.sum(np.cumsum(w) ** 2)


@pytest.mark.parametrize("name", PROGRAMS)
def test_value_and_gradients(ask, name):
    case = PROGRAMS[name]
    answer = ask.answer(case.program, wrapped(case.variables))
    assert answer.value == pytest.approx(case.reference(**case.variables), rel=1e-10)
    assert not answer.nonfinite
    for path, value in leaves(case.variables):
        found = at(answer.gradients, path)
        if value.dtype.kind != "f":
            assert found is None
            continue
        slopes = differences(case, path, value)
        assert found.shape == value.shape
        scale = 1 + np.max(np.abs(slopes))
        assert_allclose(found, slopes, rtol=0, atol=case.tolerance * scale)


def differences(case: Case, path: tuple[Any, ...], value: Any) -> Any:
    """Central differences of the reference in one leaf, of fourth order (DLMF 3.4.15)."""
    slopes, h = np.zeros(value.shape), 1e-3
    for index in np.ndindex(value.shape):

        def moved(steps: int, index: tuple[int, ...] = index) -> Any:
            shifted = value.copy()
            shifted[index] += steps * h
            return case.reference(**replaced(case.variables, path, shifted[()]))

        slopes[index] = (8 * (moved(1) - moved(-1)) - (moved(2) - moved(-2))) / (12 * h)
    return slopes


def leaves(nested: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if isinstance(nested, dict | list):
        items = nested.items() if isinstance(nested, dict) else enumerate(nested)
        for key, item in items:
            yield from leaves(item, (*path, key))
    else:
        yield path, np.asarray(nested)


def at(nested: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        nested = nested[key]
    return nested


def replaced(nested: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A copy of ``nested`` with another leaf at ``path``."""
    if not path:
        return value
    copied = nested.copy()
    copied[path[0]] = replaced(nested[path[0]], path[1:], value)
    return copied


def wrapped(nested: Any) -> Any:
    """The same structure of leaves, each with its own dtype."""
    if isinstance(nested, dict):
        return {key: wrapped(item) for key, item in nested.items()}
    if isinstance(nested, list):
        return [wrapped(item) for item in nested]
    return Leaf(np.asarray(nested))
