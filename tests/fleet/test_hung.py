"""A hung replica is killed; ``test_crash`` checks that others answer its requests."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fleet import asks, load
from tests.fleet.fleets import Replica, replica

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

#: How long a process may be silent here: longer than a busy machine leaves it without a CPU.
SILENT_SECONDS = 4
#: The shell's exit status of a process killed by SIGKILL.
KILLED = 128 + signal.SIGKILL


@pytest.fixture(scope="module")
async def made(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Replica]:
    """One server for all tests."""
    async with replica(
        tmp_path_factory.mktemp("hung"), watchdog_seconds=SILENT_SECONDS, cores=1
    ) as alone:
        yield alone


@pytest.fixture
async def alone(made: Replica) -> Replica:
    """The server, started again if it has ended."""
    if made.process.poll() is not None:
        await made.start().listening()
    return made


# If all processes stop, as in a suspended session, they may stay stopped.
@pytest.mark.parametrize("stopped", [["watchdog"], ["watchdog", "server"]], ids=" ".join)
async def test_processes_that_were_suspended_with_their_watchdog_go_on(
    alone: Replica, stopped: list[str]
):
    pids = {"server": alone.pid, "watchdog": alone.process.pid}
    with alone.suspended(*(pids[which] for which in stopped)):
        await asyncio.sleep(SILENT_SECONDS + 0.5)  # nobody may act meanwhile
    for _ in range(20):
        assert (await alone.get("/readyz")).status_code == 200
    assert alone.pid == pids["server"]


async def test_a_hung_process_is_killed_and_its_connections_are_reset(alone: Replica):
    os.kill(alone.pid, signal.SIGSTOP)
    answers = await load.closed(alone.port, [asks.smooth(10, 1)], clients=2, each=1)
    assert answers.failures.keys() == {"cut"}
    assert await alone.ended() == KILLED
    assert f"its event loop was stuck for {SILENT_SECONDS} s" in alone.log()
    await alone.start().listening()
    answers = await load.closed(alone.port, [asks.smooth(10, 1)], clients=2, each=1)
    assert answers.failures == {}


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM])
async def test_the_watchdog_and_the_server_exit_together(alone: Replica, sent: signal.Signals):
    await load.closed(alone.port, [asks.slow(20)], clients=2, each=1)
    family = alone.family()
    alone.send(sent)
    await alone.ended()
    while any(is_running(pid) for pid in family):  # noqa: ASYNC110
        await asyncio.sleep(0.02)


def is_running(pid: int) -> bool:
    """True if the process is running, and not just a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
