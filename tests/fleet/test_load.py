"""The load generator counts right, wrong, refused, truncated, garbled and late responses."""

import asyncio
import json

import pytest

from tests.fleet import load
from tests.fleet.chaos import Chaos, Faults
from tests.fleet.load import Ask
from tests.fleet.processes import free_port

TRUE = Ask("true", "/", right=lambda found: found == 1)


def response(status, body, kind="application/json", *further):
    head = [f"HTTP/1.1 {status} .", f"Content-Length: {len(body)}", f"content-type: {kind}"]
    return "\r\n".join([*head, *further, "", ""]).encode() + body


@pytest.fixture
async def server():
    """Serves the given responses in order, the last one repeatedly; returns the port."""
    replies: list[bytes] = []

    async def serve(reader, writer):
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                writer.write(replies.pop(0) if len(replies) > 1 else replies[0])
        except (EOFError, OSError):
            writer.close()

    port = free_port()

    def start(*given):
        replies[:] = given
        return port

    async with await asyncio.start_server(serve, "127.0.0.1", port):
        yield start


async def test_responses_are_checked(server):
    problem = json.dumps({"code": "overloaded"}).encode()
    port = server(
        response(200, b"1"),
        response(200, b"2"),
        response(503, problem, "application/problem+json", "Retry-After: 3"),
        response(502, b"<html>", "text/html"),
        response(200, b"[1"),
        b"SSH-2.0-what\r\n\r\n",
        b"HTTP/1.1 200 .\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n1\r\n0\r\n\r\n",
    )
    answers = await load.closed(port, [TRUE], clients=1, each=7)
    right, wrong, typed, untyped, unreadable, other, chunked = answers.all
    assert (right.status, right.right, right.code, right.failure) == (200, True, None, None)
    assert (wrong.status, wrong.right) == (200, False)
    assert (typed.code, typed.retry_after) == ("overloaded", "3")
    assert untyped.code == "untyped"
    assert unreadable.failure == other.failure == "malformed"
    assert chunked.right
    assert answers.good == [right, chunked]
    assert answers.wrong == [wrong]
    assert answers.refused == [typed, untyped]
    assert answers.lost == [unreadable, other]
    assert answers.told().startswith("2 right, 2 malformed, 1 WRONG, 1 overloaded, 1 untyped; ")


async def test_kinds_of_failed_connections_are_distinguished(server):
    port = server(response(200, b"1"))
    async with Chaos(port) as chaos:
        chaos.down = Faults(cut_after=5)
        (cut,) = (await load.closed(chaos.port, [TRUE], clients=1, each=1)).all
        chaos.down = Faults(swallows=True)
        (late,) = (await load.closed(chaos.port, [TRUE], clients=1, each=1, patience=0.1)).all
        await chaos.refuse()
        (refused,) = (await load.closed(chaos.port, [TRUE], clients=1, each=1)).all
    assert [answer.failure for answer in (cut, late, refused)] == ["cut", "timeout", "refused"]


async def test_an_open_load_keeps_its_rate_with_late_responses(server):
    port = server(response(200, b"1"))
    async with Chaos(port) as chaos:
        chaos.down = Faults(delay_seconds=0.3)
        answers = await load.opened(chaos.port, [TRUE], rate=100, seconds=0.5)
    assert len(answers.good) == 50
    assert chaos.connections > 10
    assert answers.percentile(0.5) <= answers.percentile(1.0)


def test_percentiles_are_measured_values():
    seconds = [0.5, 0.1, 0.4, 0.2, 0.3]
    answers = load.Answers([load.Answer("", 0.0, one, 200, True) for one in seconds])
    assert [answers.percentile(share) for share in (0.0, 0.2, 0.5, 0.99, 1.0)] == [
        0.1,
        0.1,
        0.3,
        0.5,
        0.5,
    ]
    assert load.Answers().percentile(0.99) == 0.0
