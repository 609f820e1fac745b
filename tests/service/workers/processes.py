"""The processes that compute, as the system has them."""

import asyncio
from multiprocessing import active_children
from pathlib import Path

ENDLESS = {"program": "while True: pass\nx", "variables": {"x": 1.0}, "timeout_ms": 20_000}


def children():
    """The numbers of the processes that compute."""
    return sorted(process.pid or 0 for process in active_children())


def spent(pid):
    """The nanoseconds that a process has computed."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])


def state(pid):
    """How the system has a process: R runs, S sleeps, T stands still."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


async def settled():
    """What all have computed, once they compute no more."""
    found = -1
    while (now := sum(map(spent, children()))) != found:
        found = now
        await asyncio.sleep(0.02)
    return found


async def computing():
    """The number of the process that computes for long, when it does."""
    before = {pid: spent(pid) for pid in children()}
    while True:
        await asyncio.sleep(0.02)
        for pid in children():
            if spent(pid) - before.get(pid, 0) > 200_000_000 and state(pid) == "R":
                return pid
