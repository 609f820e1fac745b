"""Whatever happens to Redis, requests without the store succeed, and others recover."""

import asyncio
import signal
import time
from contextlib import asynccontextmanager

import pytest

from tests.fleet import asks, load
from tests.fleet.fleets import replica
from tests.service.store.redis_server import REDIS, RedisServer, redis_server

pytestmark = pytest.mark.skipif(REDIS is None, reason="redis-server is not installed")

#: Rounds of requests during an outage, after it was noticed.
ROUNDS = 8
PROGRAM = {"program": "y = sum(x ** 3)", "name": "cubes"}
POINT = {"variables": {"x": [1.0, 2.0]}, "sources": "x"}
TAPE = {"program": PROGRAM["program"], "variables": POINT["variables"]}
#: The errors that clients may get if the store is lost or has lost its records.
TOLD = {
    (503, "store_unavailable"),
    (404, "unknown_ref"),
    (404, "unknown_tape"),
    (409, "tape_consumed"),
}
PASSWORD = "correct-horse"


@pytest.fixture(scope="module")
def redis(tmp_path_factory):
    with redis_server(tmp_path_factory.mktemp("redis"), "--requirepass", PASSWORD) as server:
        server.url = server.url.replace("redis://", f"redis://:{PASSWORD}@")
        yield server


@pytest.fixture(scope="module")
async def server(tmp_path_factory, redis):
    settings = {"store": redis.url, "store_timeout_seconds": 2, "cores": 2, "processes": 0}
    async with replica(tmp_path_factory.mktemp("server"), **settings) as server:
        yield server
        log = server.log(1 << 20)
    assert PASSWORD not in log
    assert "Traceback" not in log


class Clients:
    """Clients with and without need of the store, running continuously."""

    def __init__(self, server):
        self.server = server
        self.ended = asyncio.Event()
        self.failures = []
        self.made = 0

    async def need_nothing(self):
        needed = [asks.smooth(10, 1), asks.slow(3), asks.smooth(20_000, 2)]
        return await load.closed(self.server.port, needed, clients=2, pause=0.02, until=self.ended)

    async def need_the_store(self):
        """Use records in every way, whether or not it succeeds."""
        async with self.server.client() as client:
            while not self.ended.is_set():
                self.made += 1
                program = await self.told(client.post("/v1/programs", json=PROGRAM))
                await self.told(client.get("/v1/programs"))
                await self.told(client.put("/v1/tensors", json=[float(self.made)]))
                tape = await self.told(client.post("/v1/tapes", json=TAPE))
                if tape is not None:
                    path = f"/v1/tapes/{tape['tape']}/gradient"
                    found = await self.told(client.post(path, json={"sources": "x"}))
                    assert found is None or found["gradients"] == [3.0, 12.0]
                if program is not None:
                    by_name = {"program": {"name": "cubes"}, **POINT}
                    found = await self.told(client.post("/v1/gradient", json=by_name))
                    assert found is None or found["gradients"] == [3.0, 12.0]
                await asyncio.sleep(0.02)

    async def rounds(self, more):
        """Wait for so many more rounds of requests that need the store."""
        last = self.made + more
        while self.made < last:  # noqa: ASYNC110
            await asyncio.sleep(0.01)

    async def told(self, asked):
        """The document of a response, or None after checking an error."""
        response = await asked
        if response.status_code < 300:
            return response.json()
        document = response.json()
        told = response.status_code, document["code"]
        if told not in TOLD or (told[0] == 503) != ("retry-after" in response.headers):
            self.failures.append(response.text)
        return None

    async def well_again(self):
        """The time until everything that needs the store succeeds."""
        begun = time.monotonic()
        async with self.server.client() as client:
            while True:
                made = await client.post("/v1/programs", json=PROGRAM)
                tape = await client.post("/v1/tapes", json=TAPE)
                if made.status_code in (200, 201) and tape.status_code == 201:
                    path = f"/v1/tapes/{tape.json()['tape']}/gradient"
                    asked = await client.post(path, json={"sources": "x"})
                    if asked.status_code == 200:
                        return time.monotonic() - begun
                await asyncio.sleep(0.02)


@pytest.fixture
def operator(redis):
    """A client of Redis itself."""
    with redis.client() as client:
        yield client


@pytest.fixture
async def clients(server, tell):
    """Clients that use the service continuously."""
    async with under_load(server) as clients:
        yield clients
        tell("seconds until all is well", await clients.well_again())


@asynccontextmanager
async def under_load(server):
    """Runs clients continuously within the context."""
    clients = Clients(server)
    async with asyncio.TaskGroup() as group:
        free = group.create_task(clients.need_nothing())
        group.create_task(clients.need_the_store())
        try:
            await clients.well_again()
            yield clients
            await clients.rounds(2)
        finally:
            clients.ended.set()
    answers = free.result()
    assert answers.failures == {}, answers.told()
    assert answers.good
    assert clients.failures == []


async def refused(server):
    """Wait until requests that need the store are refused."""
    async with server.client() as client:
        while (response := await client.get("/v1/programs")).status_code != 503:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        assert response.json()["code"] == "store_unavailable"
        assert response.headers["retry-after"] == "1"


async def test_the_service_recovers_when_redis_is_stopped_and_started(clients, redis):
    redis.stop()
    await refused(clients.server)
    await clients.rounds(ROUNDS)
    redis.start()


async def test_the_service_recovers_when_redis_is_killed_and_started_at_once(clients, redis):
    redis.send(signal.SIGKILL)
    await redis.ended()
    redis.start()


async def test_the_service_recovers_when_redis_is_emptied(clients, operator):
    operator.flushall()
    operator.script_flush()


async def test_the_service_recovers_when_redis_hangs(clients, redis):
    threads = clients.server.figures().threads
    redis.send(signal.SIGSTOP)
    try:
        await refused(clients.server)
        await clients.rounds(ROUNDS)
        # One thread probes Redis, and a few may be new: but not one for each request.
        assert clients.server.figures().threads <= threads + 5
    finally:
        redis.send(signal.SIGCONT)


async def test_the_service_recovers_when_redis_is_full(clients, operator):
    async with clients.server.client() as client:
        operator.config_set("maxmemory", 1)
        try:
            made = await client.post("/v1/tapes", json=TAPE)
            assert (made.status_code, made.json()["code"]) == (503, "store_unavailable")
            assert made.json()["detail"] == "the store is full"
            assert (await client.get("/v1/programs/cubes")).status_code == 200
            await clients.rounds(ROUNDS)
        finally:
            operator.config_set("maxmemory", 0)


async def test_the_service_recovers_when_redis_refuses_authentication(clients, operator):
    operator.config_set("requirepass", "another")
    operator.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    try:
        await refused(clients.server)
        await clients.rounds(ROUNDS)
    finally:
        operator.config_set("requirepass", PASSWORD)


def test_failures_of_redis_are_logged(server):
    for told in (
        "the store cannot be reached (redis://127.0.0.1:",
        "the store does not answer (",
        "the store is full (",
        "the store refuses this service (",
        "the store answers again (",
    ):
        assert told in server.log(1 << 20)


async def test_programs_are_found_by_id_during_an_outage(server, redis):
    await Clients(server).well_again()
    async with server.client() as client:
        made = (await client.post("/v1/programs", json=PROGRAM)).json()
        stored = (await client.put("/v1/tensors", json=[1.0, 2.0])).json()
        asked = {"program": {"ref": made["id"]}, "variables": {"x": {"ref": stored["ref"]}}}
        assert (await client.post("/v1/gradient", json=asked)).json()["gradients"] == {
            "x": [3.0, 12.0]
        }
        redis.stop()
        try:
            for _ in range(ROUNDS):
                answer = await client.post("/v1/gradient", json=asked)
                assert answer.status_code == 200, answer.text
                stranger = {"authorization": "Bearer another"}
                refused = await client.post("/v1/gradient", json=asked, headers=stranger)
                assert refused.json()["code"] == "store_unavailable"
        finally:
            redis.start().ready()


async def test_a_service_can_start_before_redis(tmp_path, tell):
    redis = RedisServer(tmp_path)
    async with replica(tmp_path, store=redis.url, processes=0) as server:
        clients = Clients(server)
        await refused(server)
        async with server.client() as client:
            answer = await client.post("/v1/gradient", json={**TAPE, "sources": "x"})
            assert answer.json()["gradients"] == [3.0, 12.0]
            limits = await client.get("/v1/limits")
            assert "redis" not in limits.text
        try:
            redis.start()
            tell("seconds until all is well", await clients.well_again())
        finally:
            redis.stop()
