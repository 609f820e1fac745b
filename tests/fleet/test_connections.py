"""Slow, short-lived and identified connections, alone and behind nginx."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import NamedTuple

import pytest

from tests.fleet.attacks.attack import MEBIBYTE
from tests.fleet.attacks.requests import GOOD, POST, post
from tests.fleet.connections import Answer, answer
from tests.fleet.fleets import NGINX, Fleet, Replica, fleet

GROWTH_BYTES = 200 * MEBIBYTE
WAYS = ["alone", "behind nginx"]

pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed")


@pytest.fixture(scope="module")
async def service(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Fleet]:
    """One server behind nginx."""
    folder = tmp_path_factory.mktemp("connections")
    # Long enough for a busy machine to send what this test sends at once.
    async with fleet(folder, 1, header_timeout_seconds=4, body_timeout_seconds=4) as one:
        await is_well(one.port)
        yield one


class Way(NamedTuple):
    """One way to the server: directly or through nginx."""

    replica: Replica
    port: int
    alone: bool


@pytest.fixture(params=WAYS)
async def way(service: Fleet, request: pytest.FixtureRequest) -> AsyncIterator[Way]:
    """One of the ways; after the test, checks that the server is healthy and small."""
    (one,) = service.replicas
    alone = request.param == "alone"
    port = one.port if alone else service.port
    before = one.figures().resident_bytes
    yield Way(one, port, alone)
    await is_well(port)
    assert one.figures().most_bytes - before < GROWTH_BYTES


async def is_well(port: int) -> None:
    found = await answer(port, post(GOOD))
    assert (found.status, found.document["gradients"]) == (200, {"x": 6.0})


async def test_slow_clients_are_disconnected(way: Way):
    body = POST + b"Content-Length: 90000\r\n\r\n"

    async def slow(*pieces: bytes) -> Answer:
        return await answer(way.port, pieces, 0.2)

    letters = [bytes([byte]) for byte in b"GET / HTTP/1.1\r\nA: " + b"a" * 200]
    clients = [slow(b"GET /"), slow(*letters), slow(body)]
    if way.alone:  # nginx accepts a slow body and forwards it whole
        clients.append(slow(body, *[b" "] * 200))
    for found in await asyncio.gather(*clients):  # each until it is disconnected
        if way.alone:
            assert (found.status, found.document["code"]) == (408, "request_timeout")


async def test_short_lived_connections_leave_nothing_open(way: Way):
    async def figures() -> tuple[float, float, int]:
        named = [await way.replica.metric(f"gradwire_{of}") for of in ("connections", "tasks")]
        return named[0], named[1], way.replica.figures().files

    most = 4 if way.alone else 200  # connections that nginx keeps open
    before = await figures()
    for _ in range(2):
        opened = await asyncio.gather(
            *(asyncio.open_connection("127.0.0.1", way.port) for _ in range(300))
        )
        for number, (_, writer) in enumerate(opened):
            writer.write((b"", b"GET /", POST, post(GOOD))[number % 4])
        await is_well(way.port)
        for number, (_, writer) in enumerate(opened):
            if number % 2:
                writer.transport.abort()
            else:
                writer.close()
    while any(now > then + most for now, then in zip(await figures(), before, strict=True)):  # noqa: ASYNC110
        await asyncio.sleep(0.1)


async def test_a_problem_has_the_request_id(service: Fleet):
    named = b"GET /%zz HTTP/1.1\r\nHost: a\r\nX-Request-ID: me\r\n\r\n"
    found = await answer(service.replicas[0].port, named)
    assert found.headers["x-request-id"] == "me"
    assert found.document["instance"] == "urn:gradwire:request:me"
