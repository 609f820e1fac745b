"""A server whose answers a test writes itself, for what the real service never does."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from types import EllipsisType
from typing import Self

import gradwire.exchange
import pytest


class ScriptedServer:
    """Answers one request after another from its script, and keeps what it was sent.

    In the script, ``None`` hangs up and ``...`` never answers.
    """

    def __init__(self, *script: bytes | EllipsisType | None) -> None:
        self._script = list(script)
        self.requests: list[bytes] = []
        self.connections = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run)
        self._ready = threading.Event()

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def _run(self) -> None:
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        server = await asyncio.start_server(self._converse, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        self._ready.set()
        await self._stop.wait()
        server.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while not self._stop.is_set():
                head = await reader.readuntil(b"\r\n\r\n")
                length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
                self.requests.append(head + await reader.readexactly(int(length)))
                reply = self._script.pop(0)
                if reply is None:
                    break
                if reply is ...:
                    await self._stop.wait()
                    break
                writer.write(reply)
                await writer.drain()
        except asyncio.IncompleteReadError:
            pass
        finally:
            writer.close()


@pytest.fixture
def script(monkeypatch) -> Iterator[Callable[..., ScriptedServer]]:
    """Start servers that answer as they are told; retries do not wait long."""
    monkeypatch.setattr(gradwire.exchange, "FIRST_DELAY_SECONDS", 0.01)
    running: list[ScriptedServer] = []

    def start(*replies: bytes | EllipsisType | None) -> ScriptedServer:
        running.append(ScriptedServer(*replies).__enter__())
        return running[-1]

    yield start
    for server in running:
        server.__exit__()
