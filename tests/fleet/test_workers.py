"""Two server processes with one store act as one service."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from tests.fleet.fleets import replica

CUBES = {"program": "y = sum(x ** 3)", "variables": {"x": [1.0, 2.0]}}
QUESTION = {"target": "y", "sources": "x"}


@pytest.fixture(scope="module", params=["sqlite", "redis"])
async def clients(request, tmp_path_factory):
    """Clients of two processes that share a store."""
    folder = tmp_path_factory.mktemp("workers")
    in_redis = request.param == "redis"
    store = request.getfixturevalue("redis_url") if in_redis else f"sqlite:{folder}/kept.db"
    async with AsyncExitStack() as stack:
        clients = []
        for name in ("one", "other"):
            (folder / name).mkdir()
            server = await stack.enter_async_context(
                replica(folder / name, store=store, processes=0)
            )
            clients.append(await stack.enter_async_context(server.client()))
        yield clients


async def test_each_process_serves_records_of_the_other(clients):
    for one, other in (clients, reversed(clients)):
        made = await one.post("/v1/programs", json={"program": "sum(x * x)", "name": "norm"})
        assert made.status_code in (200, 201)
        asked = {"program": {"name": "norm"}, "variables": {"x": [3.0]}, "sources": "x"}
        assert (await other.post("/v1/gradient", json=asked)).json()["gradients"] == [6.0]
        assert (await other.get("/v1/programs/norm")).json()["id"] == made.json()["id"]

        stored = await one.put("/v1/tensors", json=[1.0, 2.0])
        asked = {"program": "sum(x)", "variables": {"x": {"ref": stored.json()["ref"]}}}
        assert (await other.post("/v1/evaluate", json=asked)).json()["outputs"] == 3.0

        tape = (await one.post("/v1/tapes", json=CUBES | {"persistent": True})).json()["tape"]
        for client in (other, one, other):
            reply = await client.post(f"/v1/tapes/{tape}/gradient", json=QUESTION)
            assert reply.json()["gradients"] == [3.0, 12.0]
        assert (await other.delete(f"/v1/tapes/{tape}")).status_code == 204
        assert (await one.get(f"/v1/tapes/{tape}")).status_code == 404


async def test_a_tape_can_be_consumed_once_through_either_process(clients):
    for _ in range(8):
        tape = (await clients[0].post("/v1/tapes", json=CUBES)).json()["tape"]
        path = f"/v1/tapes/{tape}/gradient"
        replies = await asyncio.gather(
            *(client.post(path, json=QUESTION) for client in clients for _ in range(3))
        )
        assert sorted(reply.status_code for reply in replies) == [200] + [409] * 5


async def test_concurrent_writes_of_both_processes_all_succeed(clients):
    async def write(client, program):
        asked = {"program": program, "variables": {"x": [1.0] * 100}, "persistent": True}
        made = await client.post("/v1/programs", json={"program": program})
        tape = await client.post("/v1/tapes", json=asked)
        assert (made.status_code, tape.status_code) in ((200, 201), (201, 201)), tape.text
        return made.json()["id"], tape.json()["tape"]

    programs = [f"sum(x * {number})" for number in range(15)]
    written = await asyncio.gather(
        *(write(client, program) for program in programs for client in clients)
    )
    for client in clients:
        for program, tape in written:
            assert (await client.get(f"/v1/programs/{program}")).status_code == 200
            assert (await client.get(f"/v1/tapes/{tape}")).status_code == 200
