"""Closed forms of queues and caches, which the simulation is held to."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

Floats = NDArray[np.float64]


def erlang_c(servers: int, load: float) -> float:
    """The probability that a request of an M/M/c queue waits; ``load`` is λ/μ, less than c.

    Source: Kleinrock, Queueing Systems I, 3.40; by the recursion of Erlang B, which is stable.
    """
    blocked = 1.0
    for number in range(1, servers + 1):
        blocked = load * blocked / (number + load * blocked)
    return blocked / (1 - load / servers * (1 - blocked))


def mmc_wait(servers: int, rate: float, service: float) -> float:
    """The mean wait of an M/M/c queue, ``C(c, λ/μ) / (c μ - λ)``, for a mean ``service`` time."""
    return erlang_c(servers, rate * service) / (servers / service - rate)


def mg1_wait(rate: float, mean: float, second_moment: float) -> float:
    """Pollaczek and Khinchine's mean wait of an M/G/1 queue, ``λ E[S²] / (2 (1 - ρ))``."""
    return rate * second_moment / (2 * (1 - rate * mean))


def mg1_wait_quantile(quantile: float, rate: float, mean: float, second_moment: float) -> float:
    """The wait that this share of an M/G/1 queue's requests does not exceed, nearly.

    A request waits with probability ρ, and then for a time that is nearly exponential.
    Source: Kleinrock, Queueing Systems II, 2.1 (heavy traffic).
    """
    load = rate * mean
    if load >= 1:
        return math.inf
    later = mg1_wait(rate, mean, second_moment) / load
    return max(later * math.log(load / (1 - quantile)), 0.0)


def che_seconds(
    rates: Floats, counts: Floats, capacity: float, sizes: tuple[float, float] = (1.0, 1.0)
) -> float:
    """Che's characteristic time of an LRU cache: what was not asked for so long has been evicted.

    ``counts[i]`` programs are each requested with rate ``rates[i]``. They take ``sizes[1]``, but
    after a request that did not find them ``sizes[0]``. With ``q = 1 - exp(-rates T)`` the time
    solves ``Σ counts q (sizes[0] (1 - q) + sizes[1] q) = capacity``. Infinite where all fit.
    Source: Che, Tung and Wang, IEEE JSAC 20(7), 2002.
    """
    if counts.sum() * sizes[1] <= capacity:
        return math.inf

    def excess(log_seconds: float) -> float:
        kept = -np.expm1(-rates * math.exp(log_seconds))
        taken = counts * kept * (sizes[0] * (1 - kept) + sizes[1] * kept)
        return float(taken.sum() - capacity)

    number = capacity / sizes[1] / float((rates * counts).sum())
    low, high = math.log(1e-3 * number), math.log(1e6 * number)
    while excess(high) < 0:
        high += 10
    return math.exp(brentq(excess, low, high))
