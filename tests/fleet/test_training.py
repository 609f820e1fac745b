"""Trainings whose state stays with the service, while replicas are restarted."""

import asyncio
import gc
from contextlib import contextmanager

import pytest

from tests.clients.tensorflow.training import Training
from tests.fleet.fleets import NGINX, fleet, replica

STEPS = 8


@contextmanager
def trained_at(monkeypatch, port, key):
    """A training by a default client of its own, of what listens on a port."""
    monkeypatch.setenv("GRADWIRE_URL", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("GRADWIRE_API_KEY", key)
    yield Training()
    gc.collect()  # no later request computes what its variables have become


async def unbroken(monkeypatch, port):
    """The losses of a training that nothing interrupts."""
    with trained_at(monkeypatch, port, "unbroken") as training:
        return await asyncio.to_thread(training.steps, 2 * STEPS)


async def test_a_training_survives_the_restart_of_a_service_without_a_lasting_store(
    tmp_path, monkeypatch
):
    async with replica(tmp_path, processes=0) as server:
        expected = await unbroken(monkeypatch, server.port)
        with trained_at(monkeypatch, server.port, "broken") as training:
            await asyncio.to_thread(training.steps, STEPS)
            assert await server.metric("gradwire_records", kind="results") >= 4
            server.stop()
            await server.start().listening()
            assert await server.metric("gradwire_records", kind="results") == 0
            losses = await asyncio.to_thread(training.steps, STEPS)
        assert losses == pytest.approx(expected, rel=1e-5)
        # What was repeated before the restart's steps, and these.
        assert STEPS < await server.served() <= 2 * STEPS


async def home_of(servers, training):
    """The replica that answers the steps of a training, and another one."""
    before = [await each.served() for each in servers.replicas]
    await asyncio.to_thread(training.steps, STEPS)
    new = {
        each: await each.served() - then
        for each, then in zip(servers.replicas, before, strict=True)
    }
    *others, home = sorted(new, key=lambda each: new[each])
    assert (new[home], new[others[-1]]) == (STEPS, 0)
    return home, others[0]


@pytest.mark.skipif(NGINX is None, reason="nginx is not installed")
async def test_a_training_stays_with_the_replica_that_has_its_state(tmp_path, monkeypatch):
    async with fleet(tmp_path, 2, processes=0) as servers:
        expected = await unbroken(monkeypatch, servers.port)
        with trained_at(monkeypatch, servers.port, "broken") as training:
            home, _ = await home_of(servers, training)
            home.stop()
            losses = await asyncio.to_thread(training.steps, STEPS)
        assert losses == pytest.approx(expected, rel=1e-5)


@pytest.mark.skipif(NGINX is None, reason="nginx is not installed")
async def test_replicas_that_share_a_store_share_its_results(tmp_path, monkeypatch, redis_url):
    store = {"store": redis_url, "store_prefix": "test-training"}
    async with fleet(tmp_path, 2, processes=0, **store) as servers:
        expected = await unbroken(monkeypatch, servers.port)
        with trained_at(monkeypatch, servers.port, "broken") as training:
            home, other = await home_of(servers, training)
            served = await other.served()
            home.stop()
            losses = await asyncio.to_thread(training.steps, STEPS)
            assert await other.served() - served == STEPS  # nothing is repeated
        assert losses == pytest.approx(expected, rel=1e-5)
