"""The event loop's view of a worker process."""

import asyncio
import json
import os
import re
import select
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

import pytest
from gradwire_engine.shared_budget import SharedBudget
from gradwire_service.machine_code import CodeCache
from gradwire_service.scheduling import Deadline
from gradwire_service.settings import Settings
from gradwire_service.store import open_store
from gradwire_service.tasks.messages import Task, TaskFailed
from gradwire_service.telemetry import Metrics
from gradwire_service.wire.shared import to_shared
from gradwire_service.workers.process import StartedProcess, WorkerProcess
from gradwire_service.workers.worker import serve

from tests.service.workers.processes import until

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes are POSIX's")


IDLE_AT_ONCE = """
from gradwire_service.workers import worker
worker._IDLE_SECONDS = 0
"""
NEVER_IDLE = """
from gradwire_service.workers import worker
worker._IDLE_SECONDS = 3600
"""
#: Leaks 32 MiB, which no limit counts.
LEAVE = """
import numpy as np
from gradwire_service.workers import worker
worker.left = [*getattr(worker, "left", []), np.ones(4 << 20)]
"""
#: From now on the worker is idle at once, and makes a file when it has released its memory.
REPORT = """
from pathlib import Path
from gradwire_service.workers import worker
trim_all = worker.MemoryTrimmer.trim_all

def reporting(trimmer):
    trim_all(trimmer)
    Path({path!r}).touch()

worker.MemoryTrimmer.trim_all = reporting
worker._IDLE_SECONDS = 0
"""


class Run:
    """Runs a program in the process that receives it."""

    def __init__(self, program):
        self.program = program

    def __reduce__(self):
        return exec, (self.program, {})


class RunningProcess:
    """A worker process, its tasks, and how often it has ended."""

    def __init__(self, threads):
        settings = Settings(processes=1, cache_bytes=1, local_cache_bytes=0, tape_values_bytes=0)
        self.ready, self.ended = asyncio.Event(), asyncio.Event()
        self.ends = 0
        self.metrics = Metrics()
        codes = CodeCache(SharedBudget(1 << 20), self.metrics)
        self.started = StartedProcess(serve, settings, codes, isolated=True)
        store = open_store(settings)
        self.process = WorkerProcess(
            self.started, store, threads, self._is_ready, self._has_ended, self.metrics
        )

    async def ask(self, said: Any = b"", body: bytes = b"{}"):
        """The answer to a task, and whether the process accepts another one."""
        assert not self.ends  # or nobody would answer
        answer = asyncio.get_running_loop().create_future()
        task = Task("evaluate", (), {b"x-said": said}, "", Deadline(3_600_000), to_shared([body]))
        self.process.begin(
            task, lambda found: answer.set_result((found, self.process.alive)), lambda _: None
        )
        return await answer

    @property
    def ended_by(self) -> dict[str, float]:
        """How often processes have ended, by the reasons that are counted."""
        families = self.metrics.registry.collect()
        ended = next(each for each in families if each.name == "gradwire_workers_ended")
        return {each.labels["reason"]: each.value for each in ended.samples if each.value}

    def _is_ready(self, _process):
        self.ready.set()

    def _has_ended(self, _process):
        self.ends += 1
        self.ended.set()


@pytest.fixture
def threads():
    with ThreadPoolExecutor() as those:
        yield those


async def test_a_worker_killed_after_its_answer_gets_no_other_task(threads):
    process = RunningProcess(threads)
    await process.ready.wait()
    answering = asyncio.create_task(process.ask())
    await asyncio.sleep(0)
    select.select([process.started.channel], [], [])  # the event loop has not noticed it yet
    process.process.kill()
    answer, alive = await answering
    await process.ended.wait()
    assert isinstance(answer, TaskFailed)
    assert not alive
    assert process.ends == 1
    await asyncio.to_thread(threads.shutdown)  # when its status is known
    await asyncio.sleep(0)
    assert process.ended_by == {"killed": 1}


@pytest.mark.parametrize("anyio_backend", [("asyncio", {"use_uvloop": True}), "asyncio"])
async def test_the_end_of_a_worker_is_seen_behind_what_it_has_sent(threads, anyio_backend):
    process = RunningProcess(threads)
    await process.ready.wait()
    answering = asyncio.create_task(process.ask())
    await asyncio.sleep(0)
    select.select([process.started.channel], [], [])  # its answer, which nobody reads for now
    os.kill(process.process.pid, signal.SIGSTOP)
    process.started.channel.send("a message that it never reads")
    os.kill(process.process.pid, signal.SIGKILL)
    wait([process.started.process.sentinel])
    answer, _ = await answering
    assert isinstance(answer, TaskFailed)
    await process.ended.wait()
    await asyncio.to_thread(threads.shutdown)
    await asyncio.sleep(0)
    assert process.ends == 1
    assert process.ended_by == {"memory": 1}


async def test_a_worker_with_too_much_memory_is_replaced_when_idle(threads):
    process = RunningProcess(threads)
    await process.ready.wait()
    answer, alive = await process.ask(Run(LEAVE + IDLE_AT_ONCE))
    assert isinstance(answer, TaskFailed)
    assert alive
    await process.ended.wait()
    await asyncio.to_thread(threads.shutdown)  # when it has ended
    assert not process.process.alive
    assert (process.ends, process.started.process.exitcode) == (1, 0)
    assert not process.ended_by


async def test_a_worker_with_too_much_memory_gets_no_other_task(threads):
    process = RunningProcess(threads)
    await process.ready.wait()
    times = 0
    while (await process.ask(Run(LEAVE + NEVER_IDLE)))[1]:
        times += 1
    await asyncio.to_thread(threads.shutdown)  # when it has ended
    assert 1 <= times <= 4
    assert (process.ends, process.started.process.exitcode) == (1, 0)


async def test_a_worker_that_releases_its_memory_continues(threads, tmp_path):
    process, released = RunningProcess(threads), tmp_path / "released"
    await process.ready.wait()
    said = [Run(REPORT.format(path=str(released))), *[b""] * 9]
    assert [(await process.ask(each))[1] for each in said] == [True] * 10
    await until(released.exists)
    assert (await process.ask())[1]  # which it receives after it has asked to be replaced
    assert not process.ends
    process.process.kill()
    await process.ended.wait()


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts shared pages")
async def test_a_worker_shares_its_parents_memory_after_a_long_program(threads, tmp_path):
    """So many objects that the collector is spared them."""
    process, released = RunningProcess(threads), tmp_path / "released"
    await process.ready.wait()
    shared = _shared_bytes(process.process.pid)
    lines = [f"a{i} = x * {i}" for i in range(20_000)]
    body = {"program": "\n".join([*lines, "a7"]), "variables": {"x": 2.0}}
    answer, _ = await process.ask(body=json.dumps(body).encode())
    await process.ask(Run(REPORT.format(path=str(released))))
    await until(released.exists)
    still_shared = _shared_bytes(process.process.pid)
    _, alive = await process.ask()  # which it receives after it has asked to be replaced
    process.process.kill()
    await process.ended.wait()
    assert alive
    assert not isinstance(answer, TaskFailed)
    assert still_shared > 0.75 * shared


def _shared_bytes(pid: int) -> int:
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return int(re.findall(r"Shared_Dirty: *(\d+)", rollup)[0]) << 10


#: Imports what the fork server does, and prints the modules for GPUs that anything looked for.
PRELOADED = """
import sys
sought = []
class Finder:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in ("cupy", "cuda", "numba", "pycuda"):
            sought.append(name)
sys.meta_path.insert(0, Finder)
from gradwire_service.workers import preloaded, worker
print(sought)
import gradwire_gpu
try:
    gradwire_gpu.gpu_backend()
except gradwire_gpu.GpuUnavailable:
    pass
print("cupy" in sought)
"""


@pytest.mark.thorough
def test_what_workers_are_forked_from_has_not_touched_cuda():
    printed = subprocess.check_output([sys.executable, "-c", PRELOADED], text=True)
    assert printed.splitlines() == ["[]", "True"]
