"""The simulation beside closed forms, and one part of a fleet beside the whole of it."""

from __future__ import annotations

import numpy as np

from scaling.fleet import Fleet, Outcome, Simulation
from scaling.fluid import Flow
from scaling.popularity import Popularity, zipf
from scaling.replica import Cache
from scaling.scenarios import fleet, markdown, ms, part_of, simulated
from scaling.theory import Floats, che_seconds, mg1_wait, mmc_wait
from scaling.times import STAGES, Measured, Stage, load
from scaling.workloads import SMALL

_MEAN = 1e-3
_PARTS = 200_000


def exponential(parts: int = _PARTS) -> Floats:
    """An exponential distribution of a millisecond, as the means of its equal parts."""
    edges = np.arange(parts + 1) / parts
    gone = np.append(edges[1:-1], 1.0)
    upper = np.where(gone < 1, (1 - gone) * (1 - np.log1p(-np.minimum(gone, 1 - 1e-16))), 0.0)
    lower = (1 - edges[:-1]) * (1 - np.log1p(-edges[:-1]))
    means: Floats = _MEAN * parts * (lower - upper)
    return means


def queue(front: object, workers: object, cores: int, rate: float, seconds: float) -> Outcome:
    """One replica whose requests take these times, at every stage."""
    stage = Stage(np.asarray(front, np.float64), np.asarray(workers, np.float64))
    one = Fleet(dict.fromkeys(STAGES, stage), 1, 1, (1, 1), "random", cores)
    only = Popularity(np.array([1]), np.array([1.0]), np.array([1.0]))
    return Simulation(one, only, rate).run(seconds)


def mmc(cores: int, load: float, seconds: float) -> tuple[float, float]:
    """Mean latency of an M/M/c queue whose cores are busy for this share: simulated, and true."""
    service, rate = exponential(), load * cores / _MEAN
    found = queue(np.zeros(len(service)), service, cores, rate, seconds)
    return float(found.latencies.mean()), _MEAN + mmc_wait(cores, rate, _MEAN)


def mg1(workload: Measured, load: float, seconds: float) -> tuple[float, float]:
    """Mean latency at an event loop with the measured first calls: simulated, and true."""
    front = workload.stages["first"].front
    rate = load / float(front.mean())
    found = queue(front, np.zeros(len(front)), 2, rate, seconds)
    wait = mg1_wait(rate, float(front.mean()), float((front**2).mean()))
    return float(found.latencies.mean()), float(front.mean()) + wait


def lru(size: int, exponent: float, capacity: int, requests: int) -> tuple[float, float]:
    """The share of hits of an LRU cache: simulated, and by Che's approximation."""
    popularity = zipf(size, exponent)
    programs = popularity.draw(2 * requests, np.random.default_rng(0)).tolist()
    cache = Cache(capacity, (1, 1))
    stages = np.array([cache.use(program) for program in programs])
    seconds = che_seconds(popularity.chances, popularity.counts, capacity)
    kept = -np.expm1(-popularity.chances * seconds)
    return float((stages[requests:] > 0).mean()), float(
        (popularity.chances * popularity.counts * kept).sum()
    )


def report() -> list[str]:
    """Two tables: closed forms, and parts of fleets."""
    workload = load().workloads[SMALL]
    checks = {
        **{
            f"M/M/{c}, busy {100 * b:.0f} %, mean latency in ms": mmc(c, b, 100)
            for c, b in ((1, 0.5), (2, 0.7), (4, 0.8))
        },
        "M/G/1, busy 70 %, mean latency in ms": mg1(workload, 0.7, 200),
        **{
            f"LRU of 3,000 in {n:,} programs, exponent {s}, hits": lru(n, s, 3_000, 300_000)
            for n in (100_000, 10_000_000)
            for s in (0.8, 1.0, 1.2)
        },
    }
    rows = []
    for name, (found, true) in checks.items():
        factor = 1e3 if "latency" in name else 1.0
        cells = [f"{factor * found:.4f}", f"{factor * true:.4f}", f"{found / true - 1:+.2%}"]
        rows.append([name, *cells])
    return [markdown(["", "simulated", "closed form", "difference"], rows), _parts(workload)]


def _parts(workload: Measured) -> str:
    rows = []
    for rate, replicas, parts, seconds in (
        (10_000, 8, 2, 5.0),
        (100_000, 64, 4, 1.0),
        (1_000_000, 512, 32, 0.2),
    ):
        flow = Flow(fleet(workload, replicas, "bounded"), zipf(1_000_000, 1.0), rate)
        for name, outcome in (
            ("whole", simulated(flow, seconds, whole=True)),
            (f"one of {parts} parts", part_of(flow, parts).run(2.0)),
        ):
            rows.append(
                [
                    *(f"{rate:,}", f"{replicas}", name, f"{outcome.hit_rate:.3f}"),
                    *(ms(outcome.quantile(q)) for q in (0.5, 0.99)),
                    f"{100 * outcome.loops.mean():.0f} %",
                ]
            )
        fluid = f"{flow.hit_rate:.3f}"
        rows.append([f"{rate:,}", f"{replicas}", "fluid", fluid, "", "", ""])
    head = "requests/s, replicas, simulated, hits, p50 in ms, p99 in ms, loop busy"
    return markdown(head.split(", "), rows)
