"""The operating system's view of worker processes."""

import asyncio
from multiprocessing import active_children
from pathlib import Path

#: Tests end it: by cancelling the request, or by killing the process.
ENDLESS = {"program": "while True: pass\nx", "variables": {"x": 1.0}, "timeout_ms": 3_600_000}


def children():
    """The ids of this process's worker processes."""
    return sorted(process.pid or 0 for process in active_children())


def workers(client):
    """The ids of the worker processes of a service in this process."""
    return sorted(process.pid for process in client._transport.app.state.executors.processes)


def spent(pid):
    """The CPU time of a process in nanoseconds."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])


def stat_of(pid):
    """The state of a process, R running, S sleeping, T stopped, and the id of its parent."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:2]


async def until(reached):
    """Wait until something is so that nothing reports, however long it takes."""
    while not reached():  # noqa: ASYNC110
        await asyncio.sleep(0.01)


async def computing():
    """Wait until a worker computes for long, and return its process id."""
    before = {pid: spent(pid) for pid in children()}
    while True:
        await asyncio.sleep(0.02)
        for pid in children():
            if spent(pid) - before.get(pid, 0) > 200_000_000 and stat_of(pid)[0] == "R":
                return pid
