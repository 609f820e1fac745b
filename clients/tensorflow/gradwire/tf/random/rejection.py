"""Gamma, Poisson and binomial numbers, by rejection: each has a part of the sequence of its own.

Sources: Marsaglia and Tsang, A simple method for generating gamma variables (2000); Hörmann, The
transformed rejection method for generating Poisson random variables (1993), and The generation of
binomial random variates (1993); Knuth, The art of computer programming 2, 3.4.1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradwire.tf.philox import RESERVED, Philox
from gradwire.tf.random.laws import double_normals, doubles

#: The number of blocks between binomial numbers with few successes.
_FEW = 42

Doubles = NDArray[np.float64]
Places = NDArray[np.int64]


class Lanes:
    """Generators side by side, one for each number, in double precision.

    A block has two numbers, of which the second is taken first.
    """

    def __init__(self, source: Philox, count: int, apart: int = RESERVED) -> None:
        self._source: Philox = source
        self._next: Places = np.arange(count) * apart
        self._kept: dict[str, tuple[Doubles, Places]] = {
            kind: (np.zeros((count, 2)), np.zeros(count, np.int64)) for kind in _KINDS
        }

    def uniform(self, lanes: Places) -> Doubles:
        """The next number from 0 to below 1 of each lane."""
        return self._drawn("uniform", lanes)

    def normal(self, lanes: Places) -> Doubles:
        """The next standard normal number of each lane."""
        return self._drawn("normal", lanes)

    def _drawn(self, kind: str, lanes: Places) -> Doubles:
        numbers, left = self._kept[kind]
        empty = lanes[left[lanes] == 0]
        if len(empty):
            words = self._source.blocks_at(self._next[empty])
            self._next[empty] += 1
            numbers[empty] = _KINDS[kind](words.reshape(-1, 2)).reshape(-1, 2)
            left[empty] = 2
        left[lanes] -= 1
        return numbers[lanes, left[lanes]]


_KINDS: dict[str, Callable[[Any], Doubles]] = {"uniform": doubles, "normal": double_normals}


def drawn(
    law: Callable[..., Doubles], source: Philox, shape: tuple[int, ...], *parameters: Any
) -> Doubles:
    """Numbers of a law, ``shape`` being the whole shape, which ends with the parameters' one.

    The numbers of each parameter are drawn one after another.
    """
    batch = np.broadcast_shapes(*(np.shape(each) for each in parameters))
    width = math.prod(batch)
    times = math.prod(shape) // max(width, 1)
    flat = (np.broadcast_to(each, batch).astype(np.float64).reshape(-1) for each in parameters)
    numbers = law(source, *(np.repeat(each, times) for each in flat))
    return numbers.reshape(width, times).T.reshape(shape)


def gamma(source: Philox, alpha: Doubles) -> Doubles:
    """One gamma number for each shape parameter."""
    lanes, found = Lanes(source, len(alpha)), np.zeros(len(alpha))
    exponential = np.flatnonzero(alpha == 1)
    found[exponential] = -np.log1p(-lanes.uniform(exponential))
    less = alpha < 1
    d = alpha + np.where(less, 2 / 3, -1 / 3)
    c = 1 / 3 / np.sqrt(d)
    pending = np.flatnonzero(alpha != 1)
    while len(pending):
        x = lanes.normal(pending)
        v = 1 + c[pending] * x
        positive = v > 0
        at, x, v = pending[positive], x[positive], v[positive] ** 3
        u = lanes.uniform(at)
        with np.errstate(divide="ignore"):
            slow = np.log(u) < 0.5 * x * x + d[at] * (1 - v + np.log(v))
        taken = (u < 1 - 0.0331 * (x * x) * (x * x)) | slow
        done = at[taken]
        found[done] = d[done] * v[taken]
        pending = np.setdiff1d(pending, done)
    small = np.flatnonzero(less)
    found[small] *= lanes.uniform(small) ** (1 / alpha[small])
    return found


def poisson(source: Philox, rate: Doubles) -> Doubles:
    """One Poisson number for each rate."""
    lanes, found = Lanes(source, len(rate)), np.zeros(len(rate))
    _few(lanes, rate, found)
    _many(lanes, rate, found)
    return found


def _few(lanes: Lanes, rate: Doubles, found: Doubles) -> None:
    """Rates below 10: how many uniform numbers until their product is below ``exp(-rate)``."""
    least, product = np.exp(-rate), np.ones(len(rate))
    pending = np.flatnonzero(rate < 10)
    while len(pending):
        product[pending] *= lanes.uniform(pending)
        pending = pending[product[pending] > least[pending]]
        found[pending] += 1


def _many(lanes: Lanes, rate: Doubles, found: Doubles) -> None:
    """Rates from 10 on, by transformed rejection."""
    pending = np.flatnonzero(rate >= 10)
    while len(pending):
        mean = rate[pending]
        b = 0.931 + 2.53 * np.sqrt(mean)
        a = -0.059 + 0.02483 * b
        u, v = lanes.uniform(pending) - 0.5, lanes.uniform(pending)
        shifted = 0.5 - np.abs(u)
        k = np.floor((2 * a / shifted + b) * u + mean + 0.43)
        tight = (shifted >= 0.07) & (v <= 0.9277 - 3.6224 / (b - 2))
        senseless = (k < 0) | ((shifted < 0.013) & (v > shifted))
        with np.errstate(divide="ignore"):
            inverse = 1.1239 + 1.1328 / (b - 3.4)
            left = np.log(v * inverse / (a / (shifted * shifted) + b))
        right = -mean + k * np.log(mean) - _log_factorial(k)
        taken = tight | (~senseless & (left <= right))
        found[pending[taken]] = k[taken]
        pending = pending[~taken]


def binomial(source: Philox, count: Doubles, probability: Doubles) -> Doubles:
    """One binomial number for each number of trials and probability."""
    found = np.zeros(len(count))
    rare = np.where(probability > 0.5, 1 - probability, probability)
    few = count * rare < 10
    _inverted(Lanes(source, len(count), _FEW), count, rare, np.flatnonzero(few), found)
    _rejected(Lanes(source, len(count)), count, rare, np.flatnonzero(~few), found)
    return np.where(probability > 0.5, count - found, found)


def _inverted(
    lanes: Lanes, count: Doubles, probability: Doubles, pending: Places, found: Doubles
) -> None:
    """Few successes: how many geometric numbers until their sum is beyond the trials."""
    total = np.zeros(len(count))
    while len(pending):
        with np.errstate(divide="ignore"):
            steps = np.log(lanes.uniform(pending)) / np.log1p(-probability[pending])
        total[pending] += np.ceil(steps)
        pending = pending[total[pending] <= count[pending]]
        found[pending] += 1


def _rejected(
    lanes: Lanes, count: Doubles, probability: Doubles, pending: Places, found: Doubles
) -> None:
    """Many successes, by transformed rejection."""
    while len(pending):
        n, p = count[pending], probability[pending]
        deviation = np.sqrt(n * p * (1 - p))
        b = 1.15 + 2.53 * deviation
        a = -0.0873 + 0.0248 * b + 0.01 * p
        r, m = p / (1 - p), np.floor((n + 1) * p)
        u, v = lanes.uniform(pending) - 0.5, lanes.uniform(pending)
        shifted = 0.5 - np.abs(u)
        k = np.floor((2 * a / shifted + b) * u + n * p + 0.5)
        tight = (shifted >= 0.07) & (v <= 0.92 - 4.2 / b)
        possible = (k >= 0) & (k <= n)
        k = np.where(possible, k, 0)
        with np.errstate(divide="ignore"):
            left = np.log(v * (2.83 + 5.1 / b) * deviation / (a / (shifted * shifted) + b))
        right = (
            (m + 0.5) * np.log((m + 1) / (r * (n - m + 1)))
            + (n + 1) * np.log((n - m + 1) / (n - k + 1))
            + (k + 0.5) * np.log(r * (n - k + 1) / (k + 1))
            + _tail(m)
            + _tail(n - m)
            - _tail(k)
            - _tail(n - k)
        )
        taken = tight | (possible & (left <= right))
        found[pending[taken]] = k[taken]
        pending = pending[~taken]


def _tail(k: Doubles) -> Doubles:
    """The difference of ``log(k!)`` from Stirling's approximation."""
    stirling = (k + 0.5) * np.log(k + 1) - (k + 1) + 0.5 * np.log(2 * np.pi)
    square = (k + 1) ** 2
    series = (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (k + 1)
    return np.where(k <= 9, _log_factorial(np.minimum(k, 9)) - stirling, series)


def _log_factorial(k: Doubles) -> Doubles:
    found: Doubles = np.vectorize(math.lgamma, otypes=[np.float64])(np.maximum(k, 0) + 1)
    return found
