"""Each workload's value and gradient written by hand with NumPy, as the reference."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
import scipy.integrate
from numpy.typing import NDArray

from peers.workloads import STEP

Array: TypeAlias = NDArray[Any]


def rosenbrock(x: Array) -> tuple[Any, Array]:
    """``Σ 100 (x_{i+1} − x_i²)² + (1 − x_i)²`` and its gradient, written out."""
    low, high = x[:-1], x[1:]
    off = high - low * low
    short = 1.0 - low
    value = (100.0 * off * off + short * short).sum()
    gradient = np.zeros_like(x)
    gradient[:-1] = -400.0 * low * off - 2.0 * short
    gradient[1:] += 200.0 * off
    return value, gradient


def chain(x: Array) -> tuple[Any, Array]:
    a = np.sin(x)
    b = a * x
    c = np.tanh(b)
    e = np.exp(-(c + a))
    g = e * c + x
    h = np.sqrt(g * g + 1.0)
    value = (h - b).sum()
    g_bar = g / h
    d_bar = -g_bar * c * e
    c_bar = g_bar * e + d_bar
    b_bar = c_bar * (1.0 - c * c) - 1.0
    return value, (d_bar + b_bar * x) * np.cos(x) + b_bar * a + g_bar


def mlp(
    x: Array, labels: Array, w1: Array, w2: Array, w3: Array, b1: Array, b2: Array, b3: Array
) -> tuple[Any, ...]:
    h1 = np.tanh(x @ w1 + b1)
    h2 = np.tanh(h1 @ w2 + b2)
    logits = h2 @ w3 + b3
    highest = logits.max(axis=1, keepdims=True)
    powers = np.exp(logits - highest)
    total = powers.sum(axis=1, keepdims=True)
    value = ((np.log(total) + highest)[:, 0] - (labels * logits).sum(axis=1)).mean()
    z3 = (powers / total - labels) / len(x)
    z2 = (z3 @ w3.T) * (1 - h2 * h2)
    z1 = (z2 @ w2.T) * (1 - h1 * h1)
    weights = x.T @ z1, h1.T @ z2, h2.T @ z3
    return value, *weights, z1.sum(axis=0), z2.sum(axis=0), z3.sum(axis=0)


def gmm(
    x: Array, index: Array, alpha: Array, means: Array, logs: Array, lower: Array
) -> tuple[Any, ...]:
    k, d = means.shape
    diagonal = np.exp(logs)
    factors = np.concatenate([np.zeros((k, 1)), diagonal, lower], axis=1)[:, index]
    centres = np.matmul(factors, means[:, :, None])[:, :, 0]
    whitened = (x @ factors.reshape(k * d, d).T).reshape(-1, k, d)
    whitened -= centres
    terms = alpha + logs.sum(axis=1) - 0.5 * np.einsum("nkd,nkd->nk", whitened, whitened)
    highest = terms.max(axis=1, keepdims=True)
    shares = np.exp(terms - highest)
    total = shares.sum(axis=1, keepdims=True)
    shares /= total
    weights = np.exp(alpha - alpha.max())
    norm = np.log(weights.sum()) + alpha.max()
    prior = 0.5 * ((diagonal**2).sum() + (lower**2).sum()) - logs.sum()
    value = (np.log(total) + highest).sum() - len(x) * norm + prior
    whitened *= -shares[:, :, None]
    slopes = whitened.sum(axis=0)
    factors_bar = (whitened.reshape(-1, k * d).T @ x).reshape(k, d, d)
    factors_bar -= slopes[:, :, None] * means[:, None, :]
    volumes = shares.sum(axis=0)
    on, below = np.arange(d), np.tril_indices(d, -1)
    logs_bar = (factors_bar[:, on, on] + diagonal) * diagonal + volumes[:, None] - 1
    means_bar = -np.matmul(slopes[:, None, :], factors)[:, 0]
    alpha_bar = volumes - len(x) * weights / weights.sum()
    return value, alpha_bar, means_bar, logs_bar, factors_bar[:, *below] + lower


def lstm(sequence: Array, gates: Array, extra: Array, state: Array) -> tuple[Any, ...]:
    """Layer by layer; everything that is not recurrent is computed for all steps at once."""
    x, targets = sequence[:-1] * extra[0], sequence[1:]
    layers = []
    for gate, hidden, cell in zip(gates, state[::2], state[1::2], strict=True):
        layers.append(_layer(x, gate[0], gate[1], hidden, cell))
        x = layers[-1][1][1:]
    predicted = x * extra[1] + extra[2]
    powers = np.exp(predicted)
    total = 2.0 + powers.sum(axis=1, keepdims=True)
    value = -(targets * (predicted - np.log(total))).sum()
    slopes = targets.sum(axis=1, keepdims=True) * powers / total - targets
    extra_bar = np.empty_like(extra)
    extra_bar[1], extra_bar[2] = (slopes * x).sum(axis=0), slopes.sum(axis=0)
    gates_bar, x_bar = np.empty_like(gates), slopes * extra[1]
    for i in reversed(range(len(gates))):
        gates_bar[i], x_bar = _layer_back(x_bar, gates[i][0], *layers[i])
    extra_bar[0] = (x_bar * sequence[:-1]).sum(axis=0)
    return value, gates_bar, extra_bar


def _layer(x: Array, weight: Array, bias: Array, h: Array, c: Array) -> tuple[Array, ...]:
    """The values that the backward pass needs: inputs, hidden and cell states, and the gates."""
    forget, read = (0.5 + 0.5 * np.tanh(0.5 * (x * weight[i] + bias[i])) for i in (0, 2))
    # The logistic function is a hyperbolic tangent of half the argument: one call for both gates.
    scale = np.array([[0.5], [1.0]])
    w, b, shift = scale * weight[1::2], scale * bias[1::2], np.array([[0.5], [0.0]])
    hidden, cell = (np.empty((len(x) + 1, len(h))) for _ in "hc")
    both, squashed = np.empty((len(x), 2, len(h))), np.empty_like(x)
    hidden[0], cell[0] = h, c
    for t in range(len(x)):
        write = scale * np.tanh(h * w + b) + shift
        c = c * forget[t] + write[0] * write[1]
        flat = np.tanh(c)
        h = read[t] * flat
        both[t], squashed[t], cell[t + 1], hidden[t + 1] = write, flat, c, h
    return x, hidden, cell, forget, read, both, squashed


def _layer_back(
    out_bar: Array,
    weight: Array,
    x: Array,
    hidden: Array,
    cell: Array,
    forget: Array,
    read: Array,
    both: Array,
    squashed: Array,
) -> tuple[Array, Array]:
    """The cotangents of a layer's weights, biases and inputs."""
    write, change = both[:, 0], both[:, 1]
    through = read * (1 - squashed * squashed)
    slopes = np.stack([write * (1 - write) * change, (1 - change * change) * write], axis=1)
    recurrent = slopes * weight[1::2]
    carried = recurrent.sum(axis=1)  # from a cell's cotangent to that of the previous state
    h_bars, c_bars = np.empty_like(x), np.empty_like(x)
    h_bar, c_bar = out_bar[-1], np.zeros_like(x[0])
    for t in range(len(x) - 1, -1, -1):
        c_bar = c_bar + h_bar * through[t]
        h_bars[t], c_bars[t] = h_bar, c_bar
        h_bar = c_bar * carried[t] + out_bar[t - 1]
        c_bar = c_bar * forget[t]
    recurring = c_bars[:, None] * slopes
    kept = c_bars * cell[:-1] * forget * (1 - forget)
    shown = h_bars * squashed * read * (1 - read)
    bars = np.stack([kept, recurring[:, 0], shown, recurring[:, 1]])
    before = np.stack([x, hidden[:-1], x, hidden[:-1]])
    return np.stack([(bars * before).sum(axis=1), bars.sum(axis=1)]), (
        kept * weight[0] + shown * weight[2]
    )


def odeint(
    start: Array, times: Array, alpha: Array, beta: Array, delta: Array, kappa: Array
) -> tuple[Any, ...]:
    """By SciPy's solver, together with the derivatives by the start and the four rates."""
    a, b, d, k = map(float, (alpha, beta, delta, kappa))

    def slope(moving: Array, _: float) -> Array:
        x, y = moving[:2]
        rows = moving[2:].reshape(2, 6)
        change = np.array([[a - b * y, -b * x], [d * y, d * x - k]]) @ rows
        change[0, 2] += x
        change[0, 3] -= x * y
        change[1, 4] += x * y
        change[1, 5] -= y
        return np.concatenate([[a * x - b * x * y, d * x * y - k * y], change.ravel()])

    before = np.concatenate([start, np.eye(2, 6).ravel()])
    found = scipy.integrate.odeint(slope, before, times, rtol=1.5e-8, atol=1.5e-8)
    values, rows = found[:, :2], found[:, 2:].reshape(-1, 2, 6)
    slopes = 2 * np.einsum("ti,tij->j", values, rows)
    return (values**2).sum(), slopes[:2], *slopes[2:]


def runge_kutta(
    prey: Array,
    predators: Array,
    alpha: Array,
    beta: Array,
    delta: Array,
    kappa: Array,
    steps: int,
) -> tuple[float, ...]:
    """With Python floats, since one NumPy call takes as long as ten of their operations."""
    return orbits([float(each) for each in (prey, predators, alpha, beta, delta, kappa)], steps)


def orbits(given: Iterable[Any], steps: int) -> tuple[Any, ...]:
    """Of one pair of predators and prey with numbers, or of many with arrays."""
    x, y, a, b, d, k = given
    half, sixth, third = STEP / 2, STEP / 6, STEP / 3
    kept = []
    for _ in range(steps):
        p1, q1 = x * (a - b * y), y * (d * x - k)
        x2, y2 = x + half * p1, y + half * q1
        p2, q2 = x2 * (a - b * y2), y2 * (d * x2 - k)
        x3, y3 = x + half * p2, y + half * q2
        p3, q3 = x3 * (a - b * y3), y3 * (d * x3 - k)
        x4, y4 = x + STEP * p3, y + STEP * q3
        p4, q4 = x4 * (a - b * y4), y4 * (d * x4 - k)
        last, third_stage = (x4, y4, sixth, 0.0), (x3, y3, third, STEP)
        kept.append((last, third_stage, (x2, y2, third, half), (x, y, sixth, half)))
        x = x + sixth * (p1 + 2 * p2 + 2 * p3 + p4)
        y = y + sixth * (q1 + 2 * q2 + 2 * q3 + q4)
    x_bar, y_bar = 2 * x, 2 * y
    a_bar = b_bar = d_bar = k_bar = 0.0
    for stages in reversed(kept):
        x_end, y_end, s, t = x_bar, y_bar, 0.0, 0.0
        for i, j, weight, length in stages:
            p, q = weight * x_end + length * s, weight * y_end + length * t
            pi, qj = p * i, q * j
            a_bar = a_bar + pi
            b_bar = b_bar - pi * j
            d_bar = d_bar + qj * i
            k_bar = k_bar - qj
            s, t = p * (a - b * j) + qj * d, q * (d * i - k) - pi * b
            x_bar = x_bar + s
            y_bar = y_bar + t
    return x * x + y * y, x_bar, y_bar, a_bar, b_bar, d_bar, k_bar


def hessian(a: Array, x: Array) -> tuple[Array]:
    t = np.tanh(a @ x)
    s = 1 - t * t
    found = a.T @ ((2 * s * (s - 2 * t * t))[:, None] * a)
    found[np.diag_indices(len(x))] += 12 * x * x
    return (found,)


def logistic(x: Array, y: Array, w: Array) -> tuple[Any, Array]:
    z = -y * (x @ w)
    powers = np.exp(-np.abs(z))
    value = (np.maximum(z, 0) + np.log1p(powers)).sum()
    return value, x.T @ (-y * np.where(z > 0, 1, powers) / (1 + powers))


def cholesky(covariance: Array, y: Array) -> tuple[Any, Array, Array]:
    """``½ yᵀ K⁻¹ y + ½ log det K``; with ``α = K⁻¹ y`` its gradients are ``½ (K⁻¹ − α αᵀ)``, ``α``.

    Source: Rasmussen and Williams, Gaussian Processes for Machine Learning, equation 5.9.
    """
    factor = np.linalg.cholesky(covariance)
    inverse = np.linalg.inv(covariance)
    weights = inverse @ y
    value = 0.5 * y @ weights + np.log(factor.diagonal()).sum()
    return value, 0.5 * (inverse - weights[:, None] * weights), weights
