"""The processes that compute on the GPU."""

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from gradwire_engine.shared_budget import SharedBudget
from gradwire_service.machine_code import CodeCache
from gradwire_service.problems import RequestError
from gradwire_service.scheduling import Bounds, Deadline, Queue
from gradwire_service.settings import Settings
from gradwire_service.store import open_store
from gradwire_service.telemetry import Metrics
from gradwire_service.workers.gpu import GpuJobPool
from gradwire_service.workers.worker import serve

from tests.clock import Clock
from tests.service.workers.gpus import missing_gpu

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes are POSIX's")


async def test_a_gpu_that_optimisations_cannot_open_is_tried_again_after_a_minute(caplog):
    clock, queue = Clock(), Queue(1, Bounds(9, 9))
    settings = Settings(processes=1, cache_bytes=1, local_cache_bytes=0, tape_values_bytes=0)
    codes = CodeCache(SharedBudget(1 << 20), metrics := Metrics())
    with ThreadPoolExecutor() as threads:
        pool = GpuJobPool(
            partial(serve, open_gpu=missing_gpu, for_jobs=True),
            *(settings, open_store(settings), codes, metrics, queue, threads),
            isolated=True,
            clock=clock,
        )
        assert pool.usable
        waiting = asyncio.create_task(queue.run("a task", Deadline(3_600_000), 1))
        pool.want(1)
        with pytest.raises(RequestError) as dropped:
            await waiting
        assert dropped.value.code == "draining"
        assert "no CUDA-capable device is detected" in caplog.text
        assert not pool.usable
        clock.advance(59.9)  # type: ignore[unreachable]
        assert not pool.usable
        clock.advance(0.1)
        assert pool.usable
        await pool.close()
