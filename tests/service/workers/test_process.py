"""A process that computes, as the event loop has it."""

import asyncio
import os
import select
from concurrent.futures import ThreadPoolExecutor

import pytest
from gradwire_service.scheduling import Deadline
from gradwire_service.settings import Settings
from gradwire_service.store import open_store
from gradwire_service.work.messages import Failed, Task
from gradwire_service.workers.process import Process, Started
from gradwire_service.workers.worker import serve

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes are POSIX's")


async def test_one_that_is_killed_when_it_has_answered_takes_no_other_task():
    settings = Settings(processes=1)
    started = Started(serve, settings, apart=True)
    ready, ended, answered = asyncio.Event(), asyncio.Event(), asyncio.Event()
    answers = []
    with ThreadPoolExecutor() as threads:
        process = Process(
            started,
            open_store(settings),
            threads,
            lambda _: ready.set(),
            lambda _: ended.set(),
        )
        await ready.wait()
        task = Task("POST /v1/evaluate", (), {}, "", Deadline(1000), b"{}")

        def take(answer):
            answers.append((answer, process.alive))
            answered.set()

        process.begin(task, take)
        select.select([started.channel], [], [])  # the event loop does not know of it yet
        process.kill()
        await answered.wait()
        await ended.wait()
    (answer, alive) = answers[0]
    assert isinstance(answer, Failed)
    assert not alive
