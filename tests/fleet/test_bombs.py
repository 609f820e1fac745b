"""A server alone and behind nginx, under attack: each refused in little time and memory."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import pytest
from gradwire_service.problems import KINDS, MAX_BODY_BYTES, MEDIA_TYPE

from tests.fleet.bombs import (
    AMBIGUOUS,
    BOMBS,
    GOOD,
    MEBIBYTE,
    POST,
    READ_BY_NGINX,
    TOO_MUCH,
    Answer,
    answer,
    get,
    post,
)
from tests.fleet.fleets import NGINX, Fleet, fleet

GROWTH_BYTES = 200 * MEBIBYTE
WAYS = ["alone", "behind nginx"]

pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed")


@pytest.fixture(scope="module")
async def attacked(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Fleet]:
    """One server, and nginx before it."""
    folder = tmp_path_factory.mktemp("bombs")
    async with fleet(folder, 1, header_timeout_seconds=2, body_timeout_seconds=2) as one:
        await is_well(one.port)
        yield one


class Attack:
    """One way to the server, and what attacks on this way take."""

    def __init__(self, attacked: Fleet, way: str) -> None:
        (self.replica,) = attacked.replicas
        self.alone = way == "alone"
        self.port = self.replica.port if self.alone else attacked.port
        self._before = self.replica.figures().resident_bytes

    async def __call__(self, name: str, sent: object, *codes: str) -> Answer:
        """Attack, and be refused by one of these codes, or answered once where there is none."""
        busy = self.replica.cpu_seconds()
        found = await answer(self.port, sent)  # type: ignore[arg-type]
        assert self.replica.cpu_seconds() - busy < 1, name
        assert found.number == 1, (name, found.received[:2000])
        if codes:
            problem = found.document
            assert problem["code"] in codes, (name, problem)
            assert found.headers["content-type"] == MEDIA_TYPE, name
            assert found.headers["connection"] == "close", name
            assert int(found.headers["content-length"]) < MAX_BODY_BYTES
            assert found.status == problem["status"] == KINDS[problem["code"]].status
        return found

    async def end(self) -> None:
        """Nothing has stayed."""
        await is_well(self.port)
        assert self.replica.figures().most_bytes - self._before < GROWTH_BYTES


@pytest.fixture(params=WAYS)
async def attack(attacked: Fleet, request: pytest.FixtureRequest) -> AsyncIterator[Attack]:
    """Attacks on one of the ways."""
    attack = Attack(attacked, request.param)
    yield attack
    await attack.end()


async def is_well(port: int) -> None:
    found = await answer(port, post(GOOD))
    assert (found.status, found.document["gradients"]) == (200, {"x": 6.0})


async def test_what_may_be_read_in_two_ways(attack: Attack):
    asked = await attack.replica.metric("gradwire_requests_total", route="/healthz")
    for name, sent in AMBIGUOUS.items():
        await attack(name, sent, "malformed_request")
    for name, sent in READ_BY_NGINX.items():
        if attack.alone:
            await attack(name, sent, "malformed_request")
        else:
            found = await attack(name, sent)
            assert found.status in (200, 400, 404, 422), name
    found = await attack("absolute", b"GET http://a/v1/limits HTTP/1.0\r\nHost: a\r\n\r\n")
    assert found.status == 200
    found = await attack("traced", get(b"/v1/ops", method=b"TRACE"))
    assert (found.status, found.document["code"]) == (405, "method_not_allowed")
    heard = await attack.replica.metric("gradwire_requests_total", route="/healthz")
    assert heard - asked <= (0 if attack.alone else 2)


async def test_too_much(attack: Attack):
    for name, (status, sent) in TOO_MUCH.items():
        found = await attack(name, sent)
        assert found.status == status, (name, found.received[:300])
        assert found.headers["content-type"] == MEDIA_TYPE
    expecting = get(b"/healthz", b"Expect: the-impossible")
    found = await attack("an expectation", expecting)
    assert found.status == (417 if attack.alone else 200)


@pytest.mark.parametrize("name", BOMBS)
async def test_bombs(attack: Attack, name: str):
    code, sent = BOMBS[name]
    found = await answer(attack.port, sent)
    assert (found.status, found.document["code"]) == (KINDS[code].status, code)
    assert len(found.received) < MAX_BODY_BYTES + 1000


async def test_slow_clients(attack: Attack):
    patience = 30.0
    body = POST + b"Content-Length: 90000\r\n\r\n"

    async def slow(*pieces: bytes) -> tuple[Answer, float]:
        start = time.monotonic()
        found = await answer(attack.port, pieces, 0.2, patience)
        return found, time.monotonic() - start

    letters = [bytes([byte]) for byte in b"GET / HTTP/1.1\r\nA: " + b"a" * 200]
    clients = [slow(b"GET /"), slow(*letters), slow(body)]
    if attack.alone:  # nginx lets a body trickle; to the service it comes whole
        clients.append(slow(body, *[b" "] * 200))
    for found, seconds in await asyncio.gather(*clients):
        assert seconds < (8 if attack.alone else 20)
        if attack.alone:
            assert (found.status, found.document["code"]) == (408, "request_timeout")


async def test_connections_that_come_and_go(attack: Attack):
    async def figures() -> tuple[float, float, int]:
        named = [await attack.replica.metric(f"gradwire_{of}") for of in ("connections", "tasks")]
        return named[0], named[1], attack.replica.figures().files

    most = 4 if attack.alone else 200  # connections that nginx keeps
    before = await figures()
    for _ in range(4):
        opened = await asyncio.gather(
            *(asyncio.open_connection("127.0.0.1", attack.port) for _ in range(300))
        )
        for number, (_, writer) in enumerate(opened):
            writer.write((b"", b"GET /", POST, post(GOOD))[number % 4])
        await is_well(attack.port)
        for number, (_, writer) in enumerate(opened):
            if number % 2:
                writer.transport.abort()
            else:
                writer.close()
    for _ in range(100):
        after = await figures()
        if all(now <= then + most for now, then in zip(after, before, strict=True)):
            break
        await asyncio.sleep(0.1)
    assert all(now <= then + most for now, then in zip(after, before, strict=True)), (before, after)


async def test_a_problem_says_which_request_it_was(attacked: Fleet):
    named = b"GET /%zz HTTP/1.1\r\nHost: a\r\nX-Request-ID: me\r\n\r\n"
    found = await answer(attacked.replicas[0].port, named)
    assert found.headers["x-request-id"] == "me"
    assert found.document["instance"] == "urn:gradwire:request:me"
