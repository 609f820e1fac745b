"""A program that repeatedly crashes workers is refused to its owner for a while."""

import asyncio
import os
import signal

import pytest

from tests.service.workers.processes import ENDLESS, computing

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes are POSIX's")

HEADERS = {"authorization": "Bearer mine"}
LONG = {"y": [0.5] * 50_000}


async def crashes(client, request, path="/v1/evaluate"):
    """The response to a request whose worker process crashes."""
    running = asyncio.create_task(client.post(path, json=request, headers=HEADERS))
    os.kill(await computing(), signal.SIGSEGV)
    answer = await running
    assert answer.json()["code"] == "worker_crashed"


@pytest.fixture
async def client(served, clock):
    async with served(processes=2, cores=1, clock=clock) as client:
        yield client


async def test_a_program_that_crashed_twice_is_refused_for_any_values(client):
    long = {**ENDLESS, "variables": {"x": 2.0, **LONG}}
    await crashes(client, ENDLESS)
    await crashes(client, long, "/v1/gradient")
    for request in (ENDLESS, long, {**ENDLESS, "variables": {"x": 3.0}}):
        refused = await client.post("/v1/gradient", json=request, headers=HEADERS)
        assert (refused.status_code, refused.json()["code"]) == (422, "crashing_program")
        assert int(refused.headers["retry-after"]) == 60


async def test_other_owners_and_other_programs_are_not_refused(client):
    for _ in range(2):
        await crashes(client, ENDLESS)
    theirs = await client.post("/v1/evaluate", json={**ENDLESS, "timeout_ms": 50})
    assert theirs.json()["code"] == "deadline_exceeded"
    other = {**ENDLESS, "program": "while x > 0: x = x - 1\nx"}
    assert (await client.post("/v1/evaluate", json=other, headers=HEADERS)).json()["outputs"] == 0


async def test_one_crash_each_of_two_programs_refuses_neither(client):
    await crashes(client, ENDLESS)
    await crashes(client, {**ENDLESS, "program": "while x > 0: x = x + 1\nx"})
    late = {**ENDLESS, "timeout_ms": 50}
    answer = await client.post("/v1/evaluate", json=late, headers=HEADERS)
    assert answer.json()["code"] == "deadline_exceeded"


async def test_a_refused_program_is_accepted_again_later(client, clock):
    await crashes(client, ENDLESS)
    clock.advance(20)
    await crashes(client, ENDLESS)
    for seconds in 40, 1:
        refused = await client.post("/v1/evaluate", json=ENDLESS, headers=HEADERS)
        assert refused.headers["retry-after"] == str(seconds)
        clock.advance(39 if seconds == 40 else 1)
    late = {**ENDLESS, "timeout_ms": 50}
    answer = await client.post("/v1/evaluate", json=late, headers=HEADERS)
    assert answer.json()["code"] == "deadline_exceeded"
