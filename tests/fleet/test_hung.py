"""A hung replica is killed, and its requests go to another one."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from tests.fleet import asks, load
from tests.fleet.fleets import NGINX, fleet, replica
from tests.fleet.processes import until
from tests.fleet.test_overload import Tell

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

#: The default of the setting, and a margin for a busy machine.
SILENT_SECONDS = 3.0
LATE_SECONDS = 1.5
#: The shell's exit status of a process killed by SIGKILL.
KILLED = 128 + signal.SIGKILL


async def test_a_hung_process_is_killed_and_its_connections_are_reset(tmp_path):
    async with replica(tmp_path) as alone:
        begun = time.monotonic()
        os.kill(alone.pid, signal.SIGSTOP)
        answers = await load.closed(alone.port, [asks.smooth(10, 1)], clients=2, each=1)
        assert answers.failures.keys() == {"cut"}
        assert await alone.ended() == KILLED
        assert SILENT_SECONDS <= time.monotonic() - begun + 0.1 < SILENT_SECONDS + LATE_SECONDS
        assert "its event loop was stuck for 3 s" in alone.log()
        await alone.start().listening()
        answers = await load.closed(alone.port, [asks.smooth(10, 1)], clients=2, each=1)
        assert answers.failures == {}


async def test_a_process_that_continues_soon_enough_is_not_killed(tmp_path_factory):
    async def continues(folder: Path, *stopped: str, after: float) -> None:
        async with replica(folder) as alone:
            pids = {"server": alone.pid, "watchdog": alone.process.pid}
            for which in stopped:
                os.kill(pids[which], signal.SIGSTOP)
            await asyncio.sleep(after)
            for which in stopped:
                os.kill(pids[which], signal.SIGCONT)
            await asyncio.sleep(SILENT_SECONDS)
            assert alone.pid == pids["server"]
            assert (await alone.get("/readyz")).status_code == 200

    new = tmp_path_factory.mktemp
    # If all processes stop, as in a suspended session, they may stay stopped.
    await asyncio.gather(
        continues(new("server"), "server", after=SILENT_SECONDS / 3),
        continues(new("watchdog"), "watchdog", after=SILENT_SECONDS + 1),
        continues(new("both"), "watchdog", "server", after=SILENT_SECONDS + 1),
    )


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM])
async def test_the_watchdog_and_the_server_exit_together(tmp_path, sent):
    async with replica(tmp_path) as alone:
        await load.closed(alone.port, [asks.slow(20)], clients=2, each=1)
        family = alone.family()
        alone.send(sent)
        await alone.ended()
        end = time.monotonic() + 5
        while any(is_running(pid) for pid in family):
            assert time.monotonic() < end
            await asyncio.sleep(0.01)


@pytest.mark.skipif(NGINX is None, reason="nginx is not installed")
async def test_other_replicas_answer_the_requests_of_a_hung_one(tmp_path, tell: Tell):
    async with fleet(tmp_path, 3, store=f"sqlite:{tmp_path}/kept.db") as servers:
        async with servers.client() as client:
            # Many programs, so that each replica gets some.
            programs = [f"sum(c * sin(x) + x * x) + {n}" for n in range(20)]
            mix = await asks.mixed(client)
            mix += [asks.smooth(10, 1, program=program) for program in programs]
        enough = asyncio.Event()
        loaded = asyncio.create_task(load.closed(servers.port, mix, clients=12, until=enough))
        stuck = servers.replicas[0]
        await asyncio.sleep(0.5)
        os.kill(stuck.pid, signal.SIGSTOP)
        assert await stuck.ended() == KILLED
        await stuck.start().listening()
        await until(stuck.served, least=1)
        enough.set()
        answers = await loaded
        tell("answers", answers)
        assert answers.wrong == []
        assert answers.failures == {}
        slowest = max(answer.seconds for answer in answers.all)
        tell("slowest", f"{slowest:.1f} s")
        assert slowest < SILENT_SECONDS + LATE_SECONDS


def is_running(pid: int) -> bool:
    """True if the process is running, and not just a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
