"""A server with the service's HTTP connections and a test application."""

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager
from functools import partial
from typing import Any, cast

import pytest
import uvicorn
from gradwire_service.http.connection import HttpConnection
from gradwire_service.http.limiter import ConnectionLimiter
from gradwire_service.settings import Settings
from gradwire_service.telemetry import (
    Metrics,
    ProblemMiddleware,
    RequestMiddleware,
    RequestRecorder,
    RequestStats,
)
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from uvicorn.config import LoopFactoryType

from tests.clock import Clock
from tests.processes import until

LARGE = bytes(range(256)) * 40_000


class Served:
    """A server in a thread, its counters, and connections to it.

    Connections are late by a clock that tests move.
    """

    def __init__(self, settings: Settings, stack: ExitStack, loop: LoopFactoryType) -> None:
        self.metrics = Metrics()
        self.recorded: list[RequestStats] = []
        recorder = RequestRecorder(self.metrics, [self.recorded.append])
        self.clock = Clock()
        self.limiter = ConnectionLimiter(settings, recorder, self.clock)
        self._released = asyncio.Event()
        self.asked: list[str] = []
        self.headers: list[list[tuple[bytes, bytes]]] = []
        self._stack = stack
        routes = [
            Route("/echo", self.echo, methods=["POST"]),
            Route("/large", self.large, methods=["GET", "POST"]),
            Route("/pieces", self.pieces),
            Route("/nothing", self.nothing),
            Route("/healthz", self.large),
            Route("/slow", self.slow, methods=["GET", "POST"]),
            Route("/unread", self.nothing, methods=["POST"]),
            Route("/broken", self.broken),
            Route("/gone", self.gone),
        ]
        app = Starlette(
            routes=routes, exception_handlers={Exception: _pass_on}, lifespan=self._lifespan
        )
        config = uvicorn.Config(
            RequestMiddleware(ProblemMiddleware(app, self.metrics), recorder),
            port=0,
            http=cast("type[HttpConnection]", partial(HttpConnection, limiter=self.limiter)),
            log_config=None,
            loop=loop,
            ws="none",
            timeout_keep_alive=settings.keep_alive_seconds,
        )
        self.server = uvicorn.Server(config)

    def start(self) -> threading.Thread:
        """Serve in a thread, until ``server`` is asked to exit."""
        thread = threading.Thread(target=self.server.run)
        thread.start()
        until(lambda: self.server.started or not thread.is_alive())
        return thread

    @property
    def port(self) -> int:
        port: int = self.server.servers[0].sockets[0].getsockname()[1]
        return port

    def connect(self, source: str = "127.0.0.1") -> socket.socket:
        """A new connection from an address of this machine."""
        to = "127.0.0.1", self.port
        return self._stack.enter_context(socket.create_connection(to, source_address=(source, 0)))

    @property
    def connections(self) -> list[HttpConnection]:
        """Open connections."""
        return list(self.limiter._connections)

    @property
    def waiting(self) -> int:
        """Requests behind others of their connection."""
        return sum(len(one._waiting) for one in self.connections)

    def release(self) -> None:
        """From now on ``/slow`` answers at once."""
        self._loop.call_soon_threadsafe(self._released.set)

    def check(self, after_seconds: float = 0.0) -> None:
        """Let time pass, and end the connections of clients that are late.

        What was sent before is read before.
        """
        asyncio.run_coroutine_threadsafe(self._check(after_seconds), self._loop).result()

    async def _check(self, after_seconds: float) -> None:
        for _ in range(3):
            await asyncio.sleep(0)
        self.clock.advance(after_seconds)
        self.limiter.check()

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        self._loop = asyncio.get_running_loop()
        yield

    def answer(self, *pieces: bytes, source: str = "127.0.0.1") -> bytes:
        """The whole response, until the server closes the connection."""
        with self.connect(source) as connection:
            for piece in pieces:
                connection.sendall(piece)
            return everything(connection)

    async def echo(self, request: Request) -> Response:
        self.asked.append("echo")
        try:
            body = await request.body()
        except ClientDisconnect:
            return Response()
        self.headers.append(list(request.scope["headers"]))
        return Response(body)

    async def large(self, request: Request) -> Response:
        return Response(LARGE)

    async def pieces(self, request: Request) -> Response:
        async def parts():
            for part in b"one", b"two", b"three":
                await asyncio.sleep(0.01)
                yield part

        return StreamingResponse(parts())

    async def nothing(self, request: Request) -> Response:
        return Response(status_code=204)

    async def slow(self, request: Request) -> Response:
        self.asked.append("slow")
        await self._released.wait()
        return Response(b"slow")

    async def gone(self, request: Request) -> Response:
        """Wait for the client to disconnect, calling ``receive`` once more than needed."""
        self.asked += [(await request.receive())["type"] for _ in range(3)]
        return Response()

    async def broken(self, request: Request) -> Response:
        return Response(headers={"broken": "a\r\nb: c"})


async def _pass_on(request: Request, error: Exception) -> Response:
    raise error


def everything(connection: socket.socket) -> bytes:
    """All bytes until the other side closes."""
    received = b""
    while part := connection.recv(1 << 20):
        received += part
    return received


@pytest.fixture(scope="module")
def ending() -> Iterator[list[threading.Thread]]:
    """Servers that are stopping; the next test does not wait for them."""
    threads: list[threading.Thread] = []
    yield threads
    for thread in threads:
        thread.join()


@pytest.fixture
def serving(ending: list[threading.Thread]) -> Iterator[Callable[..., Served]]:
    """Starts a server with these settings and this kind of event loop."""
    with ExitStack() as stack:

        def start(loop: LoopFactoryType = "auto", **settings: Any) -> Served:
            served = Served(Settings(**settings), stack, loop)
            stack.callback(setattr, served.server, "should_exit", True)
            stack.callback(served.release)
            ending.append(served.start())
            return served

        yield start
