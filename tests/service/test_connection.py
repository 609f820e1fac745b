"""What goes over a connection, and in how many writes."""

import asyncio
import socket
import threading
import time
from contextlib import contextmanager

import pytest
import uvicorn
from gradwire_service.connection import Connection, JoiningTransport
from starlette.applications import Starlette
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

LARGE = bytes(range(256)) * 40_000


class Recorded:
    """A transport that remembers what it was asked to write."""

    def __init__(self):
        self.calls = []

    def write(self, piece):
        self.calls.append(bytes(piece))

    def writelines(self, pieces):
        self.calls.append(b"".join(map(bytes, pieces)))

    def close(self):
        self.calls.append("closed")

    def is_closing(self):
        return False


@pytest.fixture
def written():
    return Recorded()


def test_a_head_goes_with_the_first_piece(written):
    transport = JoiningTransport(written)
    for _ in range(2):
        transport.write(b"HTTP/1.1 200 OK\r\n\r\n")
        assert written.calls == []
        transport.write(memoryview(b"one"))
        transport.write(b"HTTP/1.1 is the second piece")
        transport.end()
        assert written.calls == [b"HTTP/1.1 200 OK\r\n\r\none", b"HTTP/1.1 is the second piece"]
        written.calls.clear()
    assert not transport.is_closing()


def test_a_head_alone_goes_at_the_end(written):
    transport = JoiningTransport(written)
    transport.write(b"HTTP/1.1 204 No Content\r\n\r\n")
    transport.end()
    transport.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    transport.close()
    assert written.calls == [
        b"HTTP/1.1 204 No Content\r\n\r\n",
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        "closed",
    ]


def test_who_is_to_go_on_is_told_at_once(written):
    transport = JoiningTransport(written)
    transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    transport.write(b"HTTP/1.1 200 OK\r\n\r\n")
    transport.write(b"body")
    assert written.calls == [b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\nbody"]


async def echo(request):
    return Response(await request.body())


async def large(request):
    return Response(LARGE)


async def pieces(request):
    async def parts():
        for part in b"one", b"two", b"three":
            await asyncio.sleep(0.01)
            yield part

    return StreamingResponse(parts())


async def nothing(request):
    return Response(status_code=204)


@contextmanager
def connected():
    """A socket to a server whose connections are ours."""
    routes = [
        Route("/echo", echo, methods=["POST"]),
        Route("/large", large),
        Route("/pieces", pieces),
        Route("/nothing", nothing),
    ]
    config = uvicorn.Config(
        Starlette(routes=routes), port=0, http=Connection, log_config=None, ws="none"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            yield connection
    finally:
        server.should_exit = True
        thread.join()


def received(connection, end):
    """All that comes until ``end``, in as many parts as it came."""
    parts: list[bytes] = []
    while not b"".join(parts).endswith(end):
        part = connection.recv(1 << 20)
        assert part, parts
        parts.append(part)
    return parts


def test_responses_of_every_kind():
    with connected() as connection:
        connection.sendall(b"GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n")
        assert b" 204 " in b"".join(received(connection, b"\r\n\r\n"))
        connection.sendall(b"HEAD /large HTTP/1.1\r\nHost: a\r\n\r\n")
        head = b"".join(received(connection, b"\r\n\r\n"))
        assert b"content-length: %d" % len(LARGE) in head
        connection.sendall(b"GET /pieces HTTP/1.1\r\nHost: a\r\n\r\n")
        assert b"5\r\nthree\r\n" in b"".join(received(connection, b"0\r\n\r\n"))
        connection.sendall(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
        body = b"".join(received(connection, LARGE[-256:])).partition(b"\r\n\r\n")[2]
        while len(body) < len(LARGE):
            body += connection.recv(1 << 20)
        assert body == LARGE
        connection.sendall(
            b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n"
        )
        received(connection, b"HTTP/1.1 100 Continue\r\n\r\n")
        connection.sendall(b"abc")
        assert len(received(connection, b"\r\n\r\nabc")) == 1
        both = b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n"
        connection.sendall(both + b"x" + both + b"y")
        assert b"".join(received(connection, b"\r\n\r\ny")).count(b" 200 ") == 2
        connection.sendall(b"nonsense\r\n\r\n")
        assert b" 400 " in b"".join(received(connection, b"."))
        assert connection.recv(1) == b""
