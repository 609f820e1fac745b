"""How many replicas a rate of requests needs, and what their caches and queues then do."""

from __future__ import annotations

from itertools import product
from math import ceil
from typing import NamedTuple

from scaling.fluid import Flow, replicas_needed, sized
from scaling.popularity import zipf
from scaling.scenarios import (
    EXPONENTS,
    SIZES,
    TARGET_SECONDS,
    fleet,
    markdown,
    ms,
    simulated,
)
from scaling.times import load
from scaling.workloads import MEDIUM, SMALL

#: Requests per second, and programs.
_CASES = (
    (1_000, 1_000_000),
    *((10_000, size) for size in SIZES),
    (100_000, 1_000_000),
    (1_000_000, 10_000),
)
#: Fleets that are tried, in multiples of the one that suffices on average.
_STEPS = (1.0, 1.12, 1.25, 1.4, 1.6, 1.8, 2.0, 2.5, 3.0)
_SECONDS = 1.0
#: Event loops that are busier fall behind sooner or later, if not within these seconds.
_BUSIEST = 0.9
#: So few requests are simulated for longer.
_LEAST = 5_000


class Sized(NamedTuple):
    """A fleet that is large enough, and what was found."""

    replicas: int
    hit_rate: float
    p50: float
    p99: float
    mean_loop: float
    busiest_loop: float


def bounded(flow: Flow) -> Sized:
    """The smallest fleet found that is within the target, by simulation."""
    average = replicas_needed(flow, TARGET_SECONDS).fleet.replicas
    tried = sorted({ceil(average * step) for step in _STEPS})
    for replicas in tried:
        seconds = max(_SECONDS, _LEAST / flow.rate)
        outcome = simulated(sized(flow, replicas), seconds)
        if outcome.quantile(0.99) <= TARGET_SECONDS and outcome.loops.mean() <= _BUSIEST:
            return Sized(
                replicas,
                outcome.hit_rate,
                outcome.quantile(0.5),
                outcome.quantile(0.99),
                float(outcome.loops.mean()),
                float(outcome.loops.max()),
            )
    raise RuntimeError(f"{tried[-1]} replicas are too few for {flow.rate} requests per second")


def report() -> list[str]:
    """Bounded homes beside random replicas, for programs of ten numbers and of 100 operations."""
    return [_table(SMALL, _CASES), _table(MEDIUM, ((10_000, 100_000),))]


def _table(name: str, cases: tuple[tuple[int, int], ...]) -> str:
    workload = load().workloads[name]
    rows = []
    for (rate, size), exponent in product(cases, EXPONENTS):
        popularity = zipf(size, exponent)
        flow = Flow(fleet(workload, 1, "bounded"), popularity, rate)
        home = bounded(flow)
        anywhere = replicas_needed(
            Flow(fleet(workload, 1, "random"), popularity, rate), TARGET_SECONDS
        )
        strict = sized(Flow(fleet(workload, 1, "homes"), popularity, rate), home.replicas)
        rows.append(
            [
                *(f"{rate:,}", f"{size:,}", f"{exponent}"),
                *(f"{home.replicas:,}", f"{100 * home.hit_rate:.0f} %"),
                *(ms(home.p50), ms(home.p99), f"{100 * home.mean_loop:.0f} %"),
                f"{strict.peak:.1f}",
                *(f"{anywhere.fleet.replicas:,}", f"{100 * anywhere.hit_rate:.0f} %"),
            ]
        )
    head = "requests/s, programs, exponent, replicas, hits, p50 in ms, p99 in ms, loop busy"
    more = "strict homes: busiest / mean, random: replicas, hits"
    return markdown([*head.split(", "), *more.split(", ")], rows)
