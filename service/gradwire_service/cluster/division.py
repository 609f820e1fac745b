"""The division of rows into shards: large enough for a task each, small enough for a worker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

#: Bytes of a shard: below, Dask's own work on a task (about 1 ms) counts; beyond, workers wait for
#: the last one. At 0.2 to 1 GB a second, the largest takes 0.25 to 1.3 s.
LEAST_BYTES, MOST_BYTES = 1 << 20, 256 << 20
#: So many shards for each thread even out how fast the workers are.
_SHARDS_PER_THREAD = 2
#: A shard is at most this part of its thread's memory: float32 rows are copied to float64 where
#: sources are that, and results need room, too.
_PART_OF_MEMORY = 8
#: Shards stay in memory if with them, at most this part of it is used. At 0.6, Dask begins to
#: write to disk.
_KEPT_SHARE = 0.5
#: The memory of a worker that has no limit.
_UNLIMITED_BYTES = 8 << 30


class ClusterCapacity(NamedTuple):
    """The workers of a cluster: threads, memory of all and used, and the least of a thread."""

    threads: int
    memory_bytes: int
    used_bytes: int
    thread_bytes: int

    @property
    def shard_bytes(self) -> int:
        """The largest shard."""
        return min(self.thread_bytes // _PART_OF_MEMORY, MOST_BYTES)

    def keeps(self, nbytes: int) -> bool:
        """True if so many bytes of shards stay in the workers' memory."""
        return self.used_bytes + nbytes <= _KEPT_SHARE * self.memory_bytes


def capacity_of(workers: Sequence[Mapping[str, Any]]) -> ClusterCapacity:
    """The capacity of workers, as a scheduler describes them; a memory limit of 0 is none."""
    threads = [max(worker["nthreads"], 1) for worker in workers]
    memory = [worker["memory_limit"] or _UNLIMITED_BYTES for worker in workers]
    used = sum(worker["metrics"].get("memory", 0) for worker in workers)
    least = min(limit // count for limit, count in zip(memory, threads, strict=True))
    return ClusterCapacity(sum(threads), sum(memory), used, least)


def divide(
    chunks: Sequence[int], row_bytes: int, capacity: ClusterCapacity
) -> list[tuple[int, int]]:
    """Shards, as their first row and the one after their last.

    Whole ``chunks`` (their rows, as stored) are joined while a shard takes no more bytes than it
    should; larger ones are divided evenly.
    """
    wanted = sum(chunks) * row_bytes // (capacity.threads * _SHARDS_PER_THREAD)
    size = max(min(max(wanted, LEAST_BYTES), capacity.shard_bytes) // max(row_bytes, 1), 1)
    return [*pairwise(_bounds(chunks, size))]


def _bounds(chunks: Sequence[int], size: int) -> Iterator[int]:
    """The first row of each shard of at most ``size`` rows, and the number of all rows."""
    start = stop = 0
    yield 0
    for rows in chunks:
        if stop > start and stop + rows - start > size:
            start = stop
            yield start
        stop += rows
        pieces = -(-(stop - start) // size)
        if pieces > 1:
            yield from (start + rows * piece // pieces for piece in range(1, pieces))
            start = start + rows * (pieces - 1) // pieces
    yield stop
