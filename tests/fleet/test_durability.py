"""Registered programs survive kills during the writing of others."""

import asyncio
import itertools
import signal

import httpx
import pytest

from tests.fleet.fleets import Replica, replica
from tests.fleet.processes import until
from tests.service.store.redis_server import REDIS, RedisServer, redis_server

WRITERS = 8
#: The minimum number of programs registered before the kill.
WRITTEN = 60
DURABLE = "--appendonly", "yes", "--appendfsync", "always"


@pytest.fixture(params=["sqlite", "redis"])
async def killed(request, tmp_path):
    """A service, and the process to kill: the one with the file, or Redis."""
    if request.param == "sqlite":
        store = f"sqlite:{tmp_path / 'kept.db'}"
        async with replica(tmp_path, store=store, processes=0) as server:
            yield server, server
    elif REDIS is None:
        pytest.skip("redis-server is not installed")
    else:
        with redis_server(tmp_path, *DURABLE) as redis:
            async with replica(tmp_path, store=redis.url, processes=0) as server:
                yield server, redis


async def test_registered_programs_survive_a_kill(killed):
    server, victim = killed
    registered: dict[str, str] = {}

    async def count():
        return len(registered)

    async def listed():
        async with server.client() as client:
            return (await client.get("/v1/programs")).status_code == 200

    texts = (f"sum(x ** 2) + {number}" for number in itertools.count())
    writers = [asyncio.create_task(write(server, texts, registered)) for _ in range(WRITERS)]
    await until(count, least=WRITTEN)
    victim.send(signal.SIGKILL)
    await asyncio.gather(*writers)
    await victim.ended()
    await started(victim)
    await until(listed, least=1)
    async with server.client() as client:
        for id, text in registered.items():
            assert await text_of(client, id) == text


async def write(server, texts, registered):
    """Register programs until one is refused or not answered."""
    async with server.client() as client:
        for text in texts:
            try:
                response = await client.post("/v1/programs", json={"program": text})
            except httpx.TransportError:
                return
            if response.status_code == 503:
                return
            assert response.status_code == 201, response.text
            registered[response.json()["id"]] = text


async def started(victim: Replica | RedisServer):
    if isinstance(victim, RedisServer):
        victim.start().ready()
    else:
        await victim.start().listening()


async def text_of(client, id):
    response = await client.get(f"/v1/programs/{id}")
    assert response.status_code == 200, response.text
    return response.json()["text"]
