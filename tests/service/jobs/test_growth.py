"""What jobs write to a Redis that keeps everything: measured in its append-only file."""

import json
from collections.abc import Mapping
from random import Random
from typing import Any

import numpy as np
import pytest
from gradwire_service.jobs import Job, Transitions
from gradwire_service.jobs.reporter import Reporter
from gradwire_service.settings import Settings
from gradwire_service.store import Key, policies
from gradwire_service.store.redis import RedisStore
from gradwire_solvers.checkpoint import Checkpoint, Evaluations
from gradwire_solvers.progress import History

from tests.service.store.redis_server import REDIS, redis_server

KEY = Key("jobs", "sha256:" + "a" * 40, "b" * 32)
SECONDS = 240

pytestmark = pytest.mark.skipif(REDIS is None, reason="redis-server is not installed")


class Written(Transitions):
    """Notes when a checkpoint was stored, and which."""

    stored: list[tuple[float, bytes]]

    def report(self, held, report, *, renew):
        if report is not None and report.checkpoint is not None:
            self.stored.append((self._now(), report.checkpoint))
        return super().report(held, report, renew=renew)


async def blocking(function, *arguments):
    return function(*arguments)


@pytest.mark.parametrize(
    ("size", "kept", "rate", "listeners", "seconds"),
    [
        (10, 0, 50, 0, 10.0),
        (10, 0, 50, 2, 10.0),
        (300, 0, 1000, 2, 15.0),
        (100, 2, 50, 2, 20.0),
        (1000, 0, 50, 2, 30.0),
        (100_000, 0, 50, None, 90.0),
    ],
)
async def test_file_grows_by_a_kilobyte_a_second(tmp_path, size, kept, rate, listeners, seconds):
    """Of ``size`` variables and ``kept`` further arrays like them; None: however it grows."""
    now = 1.7e9
    with redis_server(tmp_path, "--appendonly", "yes", "--appendfsync", "no") as server:
        store = RedisStore(server.url, policies(Settings()), timeout_seconds=600, now=lambda: now)
        client = server.client()
        listening = [client.pubsub() for _ in range(listeners or 0)]
        for each in listening:
            each.subscribe(store._channel(KEY))
            assert each.get_message(timeout=60) is not None
        here = Written(store, "0123456789abcdef", lambda *_: {}, lambda: now)
        here.stored = []
        held = here.create(KEY, Job("minimize", now), b"{}", "{}")
        assert held is not None
        reporter = Reporter(here, blocking, held, [], lambda: now, 8640.0)
        random, history, iteration = Random(0), History(), 0
        draw = np.random.default_rng(0)
        before = client.info("persistence")["aof_current_size"]
        for tick in range(10 * SECONDS):
            now += 0.1
            elapsed = now - 1.7e9
            for _ in range(rate // 10):
                iteration += 1
                history.add(iteration, random.random(), random.random(), elapsed)
            progress: dict[str, Any] = {"iteration": iteration, "value": random.random()}
            progress |= {"gradient_norm": random.random(), "seconds": elapsed}
            progress |= {"rate": iteration / elapsed, "seconds_left": None}
            point = None
            if tick % 20 == 0:
                state: Mapping[str, Any] = {str(n): draw.normal(size=size) for n in range(kept)}
                counts = Evaluations(iteration, iteration)
                x = draw.normal(size=size)
                point = bytes(Checkpoint(x, iteration, counts, elapsed, history.kept(), state))
            reporter.add((tick, json.dumps(progress, separators=(",", ":"))), point, now)
            if reporter.delay <= 0:
                await reporter.report()
        grown = client.info("persistence")["aof_current_size"] - before
        for closed in (*listening, client, store):
            closed.close()
    if listeners is not None:
        assert grown <= 1000 * SECONDS
    times = [time for time, _ in here.stored]
    assert max(np.diff([*times, now])) <= seconds + 2.6  # those of a report
    found = Checkpoint.read(here.stored[-1][1])
    assert found.x.size == size
    assert len(found.history["iteration"]) >= 32
