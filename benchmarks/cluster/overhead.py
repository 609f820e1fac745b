"""The work of Dask's scheduler for each evaluation, with 1 to 8 workers.

``PYTHONPATH=benchmarks:engine:service python -m cluster.overhead --folder FOLDER``

Tasks, bytes and the scheduler's processor time are counted, not elapsed time: with more workers
than cores, that says nothing. They tell how many workers one scheduler keeps busy.
"""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from distributed import Client
from gradwire_engine.answer import Limits
from gradwire_service.cluster.cluster import Cluster
from gradwire_service.settings import Settings
from measure import table

from cluster.proof import objective
from cluster.rows import weights_of, write

_WORKERS = (1, 2, 4, 8)
_WARM_UP, _ROUNDS = 5, 40
#: ``tcpi_bytes_acked`` and ``tcpi_bytes_received``. Source: Linux, include/uapi/linux/tcp.h.
_TCP_BYTES = "=QQ"
_TCP_BYTES_AT = 120


class Count(NamedTuple):
    """Tasks of a scheduler, bytes of its streams and between workers, and its CPU seconds."""

    tasks: float
    stream_bytes: float
    worker_bytes: float
    seconds: float


def main() -> None:
    """Read the options, count, and print a table."""
    parser = argparse.ArgumentParser(description="Count the work of a Dask scheduler.")
    parser.add_argument("--folder", type=Path, required=True, help="for the rows; deleted after")
    parser.add_argument("--gigabytes", type=float, default=0.2, help="of float32 features")
    parser.add_argument("--rounds", type=int, default=_ROUNDS, help="evaluations that are counted")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True)
    try:
        write(arguments.folder, arguments.gigabytes)
        lines = [
            _line(number, arguments.folder, arguments.rounds, arguments.gigabytes)
            for number in _WORKERS
        ]
    finally:
        shutil.rmtree(arguments.folder)
    titles = ["workers", "shards", "tasks", "kB to and from", "kB between", "CPU ms", "per task"]
    print(table("One evaluation, as Dask's scheduler sees it", titles, lines))


def _line(workers: int, folder: Path, rounds: int, gigabytes: float) -> list[str]:
    """The counts of one evaluation with so many workers."""
    with running(workers) as address, Client(address, set_as_default=False) as client:
        client.wait_for_workers(workers, timeout=60)
        settings = Settings(dask=address, data_root=str(folder))
        cluster = Cluster(settings, Limits(), isolated=False)
        asked = objective(cluster)
        w = weights_of(1)
        for _ in range(_WARM_UP):
            asked.value_and_gradient(w)
        before = counted(client)
        for _ in range(rounds):
            asked.value_and_gradient(w)
        after = counted(client)
        cluster.close()
    each = Count(*((now - then) / rounds for now, then in zip(after, before, strict=True)))
    return [
        *(f"{workers}", f"{len(asked.shards)}", f"{each.tasks:.0f}"),
        *(f"{each.stream_bytes / 1e3:.1f}", f"{each.worker_bytes / 1e3:.1f}"),
        *(f"{each.seconds * 1e3:.1f}", f"{each.seconds / each.tasks * 1e3:.2f}"),
    ]


def counted(client: Any) -> Count:
    """What a scheduler and its workers have done since their start."""
    tasks, stream_bytes, seconds = client.run_on_scheduler(_of_scheduler)
    between = client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total)
    return Count(tasks, stream_bytes, sum(between.values()), seconds)


def _of_scheduler(dask_scheduler: Any) -> tuple[int, int, float]:
    """Tasks that were computed, bytes of all streams, and CPU seconds; runs there."""
    tasks = sum(prefix.state_counts["memory"] for prefix in dask_scheduler.task_prefixes.values())
    streams = [*dask_scheduler.stream_comms.values(), *dask_scheduler.client_comms.values()]
    return tasks, sum(_tcp_bytes(stream.comm) for stream in streams), time.process_time()


def _tcp_bytes(comm: Any) -> int:
    """Bytes that were sent on a connection and received from it."""
    size = _TCP_BYTES_AT + struct.calcsize(_TCP_BYTES)
    found = comm.stream.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, size)
    return sum(struct.unpack_from(_TCP_BYTES, found, _TCP_BYTES_AT))


@contextmanager
def running(workers: int) -> Iterator[str]:
    """A scheduler and workers of one thread, a process each, and the scheduler's address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address, quiet = f"tcp://127.0.0.1:{port}", ("--dashboard-address", "127.0.0.1:0")
    with ExitStack() as stack:
        at = "--host", "127.0.0.1", "--port", str(port), "--no-show"
        stack.enter_context(_program("scheduler", *at, *quiet))
        for _ in range(workers):
            limits = "--nthreads", "1", "--memory-limit", "1GiB"
            stack.enter_context(_program("worker", address, *limits, *quiet))
        yield address


@contextmanager
def _program(*arguments: str) -> Iterator[None]:
    command = [sys.executable, "-m", "dask", *arguments]
    found = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}  # it runs functions from here
    process = subprocess.Popen(
        command, env=os.environ | found, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield
    finally:
        process.terminate()
        process.wait(20)


if __name__ == "__main__":
    main()
