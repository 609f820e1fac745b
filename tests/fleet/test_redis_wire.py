"""With any fault of the connection to Redis, no response is wrong, and errors say why."""

import asyncio

import pytest

from tests.fleet.chaos import Chaos, Faults
from tests.fleet.fleets import replica
from tests.service.store.redis_server import REDIS

pytestmark = pytest.mark.skipif(REDIS is None, reason="redis-server is not installed")

FAULTS = {
    "slow": Faults(delay_seconds=0.02, jitter_seconds=0.05),
    "narrow": Faults(bytes_per_second=20_000),
    "silent": Faults(swallows=True),
    "cut": Faults(cut_after=500),
    "cut at once": Faults(cut_after=0),
    "ended": Faults(end_after=300),
}
#: Rounds of requests during each fault.
ROUNDS = 3
#: The allowed errors; a tape may be consumed by a request whose Redis reply was lost.
TOLD = {"store_unavailable", "tape_consumed"}


@pytest.fixture(scope="module")
async def served(redis_url, tmp_path_factory):
    """A service, and a chaos proxy between it and Redis."""
    port, folder = int(redis_url.rpartition(":")[2].partition("/")[0]), tmp_path_factory.mktemp("s")
    async with Chaos(port) as chaos:
        store = f"redis://127.0.0.1:{chaos.port}/0"
        settings = {"store_prefix": "test-wire", "store_timeout_seconds": 1, "cores": 2}
        async with replica(folder, store=store, processes=0, **settings) as server:
            yield server, chaos
            assert "Traceback" not in server.log(1 << 20)


@pytest.mark.parametrize("direction", ["up", "down"])
@pytest.mark.parametrize("name", FAULTS)
async def test_faults_give_typed_errors_and_the_service_recovers(served, name, direction):
    server, chaos = served
    async with server.client() as client:
        await recovered(client)
        files = server.figures().files
        setattr(chaos, direction, FAULTS[name])
        for _ in range(ROUNDS):
            await asyncio.gather(*(succeeds(client) for _ in range(4)))
        assert (await client.get("/metrics")).status_code == 200
        chaos.calm()
        await recovered(client)
        assert server.figures().files <= files + 8, "connections are not left behind"


async def recovered(client):
    """Wait until everything succeeds."""
    while not await succeeds(client):  # noqa: ASYNC110
        await asyncio.sleep(0.02)


async def succeeds(client):
    """True if everything succeeded; nothing may fail silently."""
    asked = {"program": "y = sum(x ** 3)", "variables": {"x": [1.0, 2.0]}}
    if not await told(client.post("/v1/programs", json={"program": asked["program"], "name": "c"})):
        return False
    by_name = await told(
        client.post("/v1/gradient", json=asked | {"program": {"name": "c"}, "sources": "x"})
    )
    tape = await told(client.post("/v1/tapes", json=asked))
    if not (by_name and tape):
        return False
    question = {"json": {"sources": "x"}, "headers": {"idempotency-key": tape["tape"]}}
    answers = [
        await told(client.post(f"/v1/tapes/{tape['tape']}/gradient", **question)) for _ in range(2)
    ]
    for answer in (by_name, *answers):
        assert answer is None or answer["gradients"] == [3.0, 12.0]
    return all(answers)


async def told(asked):
    """The document of a response, or None after checking an error."""
    response = await asked
    document = response.json()
    if response.status_code < 300:
        return document
    assert document["code"] in TOLD, document
    return None
