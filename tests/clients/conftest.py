"""Both clients of the real service, and a server with scripted responses.

The scripted server does what the real service never does.
"""

import asyncio
import contextlib
import os
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from types import EllipsisType
from typing import Self, TypeAlias, cast

import gradwire.exchange
import httpx
import pytest

from tests.patient import patient_app

collect_ignore = ["autograd_suite"]  # of autograd, which has a module `test_util`


Scripted: TypeAlias = bytes | EllipsisType | threading.Event | None


class ScriptedServer:
    """Answers requests one after another from a script, and records them.

    In the script, ``None`` hangs up, ``...`` never answers, and an event is waited for before the
    answer after it.
    """

    def __init__(self, *script: Scripted) -> None:
        self._script = list(script)
        self.requests: list[bytes] = []
        self.connections = 0
        self._conversations: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()))
        self._ready = threading.Event()

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        server = await asyncio.start_server(self._converse, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        self._ready.set()
        await self._stop.wait()
        server.close()
        for conversation in self._conversations:
            conversation.cancel()
        await asyncio.gather(*self._conversations, return_exceptions=True)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._conversations.add(cast("asyncio.Task[None]", asyncio.current_task()))
        try:
            await self._answer(reader, writer)
        except asyncio.IncompleteReadError:
            pass
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
            self.requests.append(head + await reader.readexactly(int(length or b"0")))
            reply = self._script.pop(0)
            if isinstance(reply, threading.Event):
                await asyncio.to_thread(reply.wait)
                reply = self._script.pop(0)
            if reply is None:
                return
            if reply is ...:
                await self._stop.wait()
                return
            assert isinstance(reply, bytes)
            writer.write(reply)
            await writer.drain()


@pytest.fixture(scope="module", autouse=True)
def _without_authorities() -> Iterator[None]:
    """Trust no authority: to read the certificates of all takes longer than what a client asks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("SSL_CERT_FILE", raising=False)
        patch.setenv("SSL_CERT_DIR", os.devnull)
        yield


@pytest.fixture
def script(monkeypatch) -> Iterator[Callable[..., ScriptedServer]]:
    """Starts scripted servers; retries do not wait long."""
    monkeypatch.setattr(gradwire.exchange, "FIRST_DELAY_SECONDS", 0.01)
    running: list[ScriptedServer] = []

    def start(*replies: Scripted) -> ScriptedServer:
        running.append(ScriptedServer(*replies).__enter__())
        return running[-1]

    yield start
    for server in running:
        server.__exit__()


@pytest.fixture(scope="session")
def client(service_url) -> Iterator[gradwire.Client]:
    """A synchronous client of the service on the loopback."""
    with gradwire.Client(service_url) as client:
        yield client


@pytest.fixture
async def awaiting_client() -> AsyncIterator[gradwire.AsyncClient]:
    """An asynchronous client of a service in the same event loop."""
    app = patient_app()
    transport = httpx.ASGITransport(app)
    async with (
        httpx.AsyncClient(transport=transport, base_url="http://service") as http,
        gradwire.AsyncClient(http_client=http) as client,
    ):
        yield client
    app.state.executors.shut()
