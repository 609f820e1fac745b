"""How a popular program's home is overloaded, and how bounds on its requests spread it."""

from __future__ import annotations

from itertools import product

from scaling.fleet import Routing
from scaling.fluid import Flow, sized
from scaling.popularity import zipf
from scaling.scenarios import EXPONENTS, fleet, markdown, ms, simulated
from scaling.times import load
from scaling.workloads import SMALL

_RATE, _SIZE, _SECONDS = 20_000, 1_000_000, 2.0
_REPLICAS = (8, 16)
#: Routing and ``max_conns`` of each way to choose a replica.
_WAYS: dict[str, tuple[Routing, int]] = {
    "strict homes": ("homes", 8),
    "max_conns=4": ("bounded", 4),
    "max_conns=8": ("bounded", 8),
    "max_conns=32": ("bounded", 32),
    "2 × the mean": ("balanced", 8),
    "random": ("random", 8),
}


def report() -> list[str]:
    """20,000 requests per second to fleets of three sizes, by the way they choose a replica."""
    workload, rows = load().workloads[SMALL], []
    for exponent, replicas, (name, (routing, most)) in product(
        EXPONENTS[1:], _REPLICAS, _WAYS.items()
    ):
        one = fleet(workload, replicas, routing, max_conns=most)
        outcome = simulated(Flow(one, zipf(_SIZE, exponent), _RATE), _SECONDS)
        rows.append(
            [
                *(f"{exponent}", f"{replicas}", name, f"{100 * outcome.hit_rate:.0f} %"),
                *(f"{100 * share:.0f} %" for share in (outcome.loops.mean(), outcome.loops.max())),
                *(ms(outcome.quantile(q)) for q in (0.5, 0.99)),
            ]
        )
    head = "exponent, replicas, routing, hits, loops busy, busiest loop, p50 in ms, p99 in ms"
    return [markdown(head.split(", "), rows), _shares()]


def _shares() -> str:
    """The busiest home's requests as a multiple of the mean, without bounds."""
    workload = load().workloads[SMALL]
    rows = []
    for exponent in EXPONENTS:
        flow = Flow(fleet(workload, 1, "homes"), zipf(_SIZE, exponent), 1.0)
        peaks = [f"{sized(flow, count).peak:.1f}" for count in (3, 10, 30, 100, 300)]
        rows.append([f"{exponent}", f"{100 * flow.popularity.chances[0]:.1f} %", *peaks])
    return markdown("exponent, first program, 3 replicas, 10, 30, 100, 300".split(", "), rows)
