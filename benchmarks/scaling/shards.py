"""Sizing a cluster for jobs over divided data: arithmetic, with its assumptions as parameters."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scaling.scenarios import markdown, number


@dataclass(frozen=True)
class Job:
    """A gradient in ``parameters`` numbers over ``rows`` rows, divided into shards by rows."""

    rows: float
    row_bytes: float
    parameters: float
    #: CPU seconds of value and gradient for one row.
    row_seconds: float


@dataclass(frozen=True)
class Cluster:
    """Workers, each with threads and memory, and a scheduler that hands out tasks."""

    workers: int
    threads: int = 4
    memory_bytes: float = 16e9
    #: Tasks per second; Dask's documentation says about 1 ms of the scheduler for each.
    tasks_per_second: float = 1000.0
    link_bits: float = 10e9


#: Copies of its shard that a thread makes: what it reads, converts or cannot sweep by blocks.
_COPIES = 1.0
#: The share of a worker's memory that shards may take; Dask spills from 60 % on by default.
_RESIDENT = 0.5
#: The seconds that a shard should take at least and at most.
SHARD_SECONDS = (0.2, 2.0)


def shards(job: Job, seconds: float) -> int:
    """The number of shards that take so many seconds each: ``rows · row_seconds / seconds``."""
    return max(round(job.rows * job.row_seconds / seconds), 1)


def workers_for_memory(job: Job, cluster: Cluster, count: int) -> float:
    """Workers that keep all shards resident, beside what their threads copy.

    ``D / (share · memory - threads · copies · D / shards)``; infinite where a shard is too large.
    """
    data = job.rows * job.row_bytes
    room = _RESIDENT * cluster.memory_bytes - cluster.threads * _COPIES * data / count
    return data / room if room > 0 else math.inf


def iteration_bytes(job: Job, cluster: Cluster) -> float:
    """Bytes on the network for an iteration: x to each worker, a gradient back, ``2 · 8 n W``."""
    return 2 * 8 * job.parameters * cluster.workers


def iteration_seconds(job: Job, cluster: Cluster, count: int) -> dict[str, float]:
    """What an iteration takes at least, by what it waits for.

    One machine sends x to all workers and its link carries that; gradients come back by a tree, so
    that the last link carries two. Tasks of the reduction are as many as the shards.
    """
    per_thread = -(-count // (cluster.workers * cluster.threads))
    sent = 8 * job.parameters * (cluster.workers + 2)
    return {
        "computing": per_thread * job.rows * job.row_seconds / count,
        "scheduler": 2 * count / cluster.tasks_per_second,
        "network": 8 * sent / cluster.link_bits,
    }


#: A regression whose row takes as long as its bytes from memory, and a model of a million weights.
JOBS = {
    "10^8 rows of 100 numbers, n = 100": Job(1e8, 808, 100, 5e-8),
    "10^8 rows of 1,000 numbers, n = 10^6": Job(1e8, 8_008, 1e6, 2e-6),
}


def report() -> list[str]:
    """The parts of an iteration by workers and shards, at both ends of what a shard should take."""
    rows: list[list[str]] = []
    for name, job in JOBS.items():
        for workers in (4, 16, 64, 256):
            cluster = Cluster(workers)
            least = workers * cluster.threads  # else some threads have nothing to do
            counts = sorted({max(shards(job, seconds), least) for seconds in SHARD_SECONDS})
            rows += [[name, *_row(job, cluster, count)] for count in counts]
    head = "job, workers, shards, workers for memory, computing in s, scheduler in s, network in s"
    return [markdown([*head.split(", "), "of it computing", "MB per iteration"], rows)]


def _row(job: Job, cluster: Cluster, count: int) -> list[str]:
    parts = iteration_seconds(job, cluster, count)
    memory = workers_for_memory(job, cluster, count)
    return [
        *(f"{cluster.workers}", f"{count:,}"),
        "shards too large" if math.isinf(memory) else f"{math.ceil(memory):,}",
        *[f"{part:.2g}" for part in parts.values()],
        f"{100 * parts['computing'] / sum(parts.values()):.0f} %",
        number(1e-6 * iteration_bytes(job, cluster)),
    ]
