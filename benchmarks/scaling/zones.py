"""What the loss of one zone of three costs: cold programs, and queues until they are warm."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scaling.fleet import Outcome, Routing
from scaling.fluid import Flow
from scaling.popularity import zipf
from scaling.scenarios import TARGET_SECONDS, fleet, markdown, ms, part_of
from scaling.times import Measured, load
from scaling.workloads import SMALL

#: Replicas before the loss; a third of them is lost.
_REPLICAS = 6
_BEFORE, _AFTER = 3, 60
_EXPONENT = 1.0
#: Routing, programs, and requests per second of each replica before the loss. The caches of all
#: replicas hold 11,500 programs.
_LOADS: tuple[tuple[Routing, int, int], ...] = (
    ("bounded", 1_000_000, 1_100),
    ("bounded", 1_000_000, 1_400),
    ("bounded", 10_000, 1_700),
    ("bounded", 10_000, 2_200),
)


class Loss(NamedTuple):
    """Second by second after the loss: 99th percentiles, and hits; and the same before it."""

    before: Outcome
    p99: list[float]
    hits: list[float]
    loops: list[float]

    @property
    def seconds(self) -> int | None:
        """Seconds until the 99th percentile stays within the target; None if it never does."""
        late = [second for second, p99 in enumerate(self.p99) if p99 > TARGET_SECONDS]
        if not late:
            return 0
        return None if late[-1] == len(self.p99) - 1 else late[-1] + 1


def lost(
    workload: Measured, routing: Routing, size: int, rate: float, seconds: int = _AFTER
) -> Loss:
    """A fleet that loses the last third of its replicas, and for so long after that."""
    flow = Flow(fleet(workload, _REPLICAS, routing), zipf(size, _EXPONENT), rate * _REPLICAS)
    simulation = part_of(flow, 1.0)
    before = simulation.run(_BEFORE)
    simulation.keep(range(2 * _REPLICAS // 3))
    after = simulation.run(seconds)
    which = np.minimum((after.arrivals - after.arrivals[0]).astype(int), seconds - 1)
    return Loss(
        before,
        [float(np.quantile(after.latencies[which == n], 0.99)) for n in range(seconds)],
        [float(after.hits[which == n].mean()) for n in range(seconds)],
        [float(one) for one in after.loops if one > 0],
    )


def report() -> list[str]:
    """The minute after the loss, by the load before it."""
    workload, rows = load().workloads[SMALL], []
    for routing, size, rate in _LOADS:
        loss = lost(workload, routing, size, rate)
        before = loss.before
        seconds = "all" if loss.seconds is None else f"{loss.seconds}"
        rows.append(
            [
                *(routing, f"{size:,}", f"{rate:,}", f"{100 * before.loops.mean():.0f} %"),
                *(f"{100 * before.hit_rate:.0f} %", ms(before.quantile(0.99))),
                *(f"{100 * loss.hits[0]:.0f} %", f"{100 * loss.hits[-1]:.0f} %"),
                *(ms(loss.p99[0]), ms(max(loss.p99)), ms(loss.p99[-1]), seconds),
                f"{100 * np.mean(loss.loops):.0f} %",
            ]
        )
    head = "routing, programs, requests/s of a replica, loop before, hits before, p99 before"
    after = "hits in the first second, in the last, p99 in the first second, worst, in the last"
    end = "seconds above 50 ms, loop after"
    return [markdown(", ".join([head, after, end]).split(", "), rows)]
