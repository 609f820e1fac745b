"""Each workload as a function of an array namespace, for tools that trace Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from peers.workloads import STEP


def scan(step: Callable[..., Any], carry: Any, times: int, *rows: Any) -> Any:
    """``step(carry, *row)`` repeatedly, unrolled by Python."""
    for i in range(times):
        carry = step(carry, *[row[i] for row in rows])
    return carry


class Namespace(Protocol):
    """The functions of a tool with NumPy's names, and those that tools name differently."""

    sum: Callable[..., Any]
    exp: Callable[[Any], Any]
    log: Callable[[Any], Any]
    sin: Callable[[Any], Any]
    sqrt: Callable[[Any], Any]
    tanh: Callable[[Any], Any]
    #: ``affine(x, w, b)`` adds ``b`` to each row of the product.
    affine: Callable[[Any, Any, Any], Any]
    einsum: Callable[..., Any]
    diagonal: Callable[[Any], Any]
    cholesky: Callable[[Any], Any]
    #: Of a lower triangular matrix.
    solve_triangular: Callable[[Any, Any], Any]
    logsumexp: Callable[[Any, int], Any]
    #: ``log(1 + exp(x))``
    softplus: Callable[[Any], Any]
    #: Along the last axis.
    concatenate: Callable[[Any], Any]
    stack: Callable[[Any], Any]
    #: ``odeint(slope, start, times, *parameters)``, by adaptive steps.
    odeint: Callable[..., Any]
    #: ``scan(step, carry, times, *rows)`` repeats ``step(carry, *row)``.
    scan: Callable[..., Any]


def rosenbrock(xp: Namespace, x: Any) -> Any:
    return xp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def chain(xp: Namespace, x: Any) -> Any:
    return xp.sum(links(xp, x))


def links(xp: Namespace, x: Any) -> Any:
    """The terms of the sum ``chain``."""
    a = xp.sin(x)
    b = a * x
    c = xp.tanh(b)
    e = xp.exp(-(c + a))
    g = e * c + x
    return xp.sqrt(g * g + 1.0) - b


def mlp(
    xp: Namespace,
    x: Any,
    labels: Any,
    w1: Any,
    w2: Any,
    w3: Any,
    b1: Any,
    b2: Any,
    b3: Any,
) -> Any:
    h1 = xp.tanh(xp.affine(x, w1, b1))
    h2 = xp.tanh(xp.affine(h1, w2, b2))
    logits = xp.affine(h2, w3, b3)
    return xp.sum(xp.logsumexp(logits, 1) - xp.sum(labels * logits, 1)) / x.shape[0]


def gmm(xp: Namespace, x: Any, index: Any, alpha: Any, means: Any, logs: Any, lower: Any) -> Any:
    diagonal = xp.exp(logs)
    factors = xp.concatenate([0.0 * logs[:, :1], diagonal, lower])[:, index]
    whitened = xp.einsum("kij,nkj->nki", factors, x[:, None, :] - means)
    terms = alpha + xp.sum(logs, 1) - 0.5 * xp.sum(whitened**2, 2)
    prior = 0.5 * (xp.sum(diagonal**2) + xp.sum(lower**2)) - xp.sum(logs)
    return xp.sum(xp.logsumexp(terms, 1)) - len(x) * xp.logsumexp(alpha, 0) + prior


def lstm(xp: Namespace, sequence: Any, gates: Any, extra: Any, state: Any) -> Any:
    layers = range(len(gates))

    def step(carry: Any, now: Any, following: Any) -> Any:
        hidden, cell, loss = carry
        x = now * extra[0]
        shown, kept = [], []
        for i in layers:
            weight, bias = gates[i, 0], gates[i, 1]
            forget = logistic_function(x * weight[0] + bias[0])
            write = logistic_function(hidden[i] * weight[1] + bias[1])
            read = logistic_function(x * weight[2] + bias[2])
            kept.append(cell[i] * forget + write * xp.tanh(hidden[i] * weight[3] + bias[3]))
            x = read * xp.tanh(kept[i])
            shown.append(x)
        predicted = x * extra[1] + extra[2]
        scores = predicted - xp.log(2.0 + xp.sum(xp.exp(predicted)))
        return shown, kept, loss - xp.sum(following * scores)

    def logistic_function(x: Any) -> Any:
        return 0.5 + 0.5 * xp.tanh(0.5 * x)

    start = [state[2 * i] for i in layers], [state[2 * i + 1] for i in layers], 0.0
    return xp.scan(step, start, len(sequence) - 1, sequence[:-1], sequence[1:])[2]


def odeint(
    xp: Namespace, start: Any, times: Any, alpha: Any, beta: Any, delta: Any, kappa: Any
) -> Any:
    def slope(y: Any, _: Any, a: Any, b: Any, d: Any, k: Any) -> Any:
        return xp.stack([a * y[0] - b * y[0] * y[1], d * y[0] * y[1] - k * y[1]])

    return xp.sum(xp.odeint(slope, start, times, alpha, beta, delta, kappa) ** 2)


def runge_kutta(
    xp: Namespace,
    prey: Any,
    predators: Any,
    alpha: Any,
    beta: Any,
    delta: Any,
    kappa: Any,
    steps: int,
) -> Any:
    def slopes(u: Any, v: Any) -> Any:
        return alpha * u - beta * u * v, delta * u * v - kappa * v

    def step(carry: Any) -> Any:
        u, v = carry
        p1, q1 = slopes(u, v)
        p2, q2 = slopes(u + STEP / 2 * p1, v + STEP / 2 * q1)
        p3, q3 = slopes(u + STEP / 2 * p2, v + STEP / 2 * q2)
        p4, q4 = slopes(u + STEP * p3, v + STEP * q3)
        end = u + STEP / 6 * (p1 + 2 * p2 + 2 * p3 + p4)
        return end, v + STEP / 6 * (q1 + 2 * q2 + 2 * q3 + q4)

    u, v = xp.scan(step, (prey, predators), steps)
    return u * u + v * v


def hessian(xp: Namespace, a: Any, x: Any) -> Any:
    return xp.sum(xp.tanh(a @ x) ** 2) + xp.sum(x**4)


def logistic(xp: Namespace, x: Any, y: Any, w: Any) -> Any:
    return xp.sum(xp.softplus(-y * (x @ w)))


def cholesky(xp: Namespace, covariance: Any, y: Any) -> Any:
    factor = xp.cholesky(covariance)
    solved = xp.solve_triangular(factor, y)
    return xp.sum(solved**2) / 2 + xp.sum(xp.log(xp.diagonal(factor)))
