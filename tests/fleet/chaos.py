"""A TCP proxy that injects network faults, which can be changed at any time."""

from __future__ import annotations

import asyncio
import math
import random
import socket
import struct
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

from tests.fleet.processes import free_port

_CHUNK_BYTES = 1 << 16
#: SO_LINGER with which closing resets the connection and drops unsent bytes.
_RESET = struct.pack("ii", 1, 0)


@dataclass(frozen=True)
class Faults:
    """Faults in one direction of a connection; ``after`` counts the bytes in this direction."""

    #: Each piece is delayed by this time plus up to the jitter.
    delay_seconds: float = 0.0
    jitter_seconds: float = 0.0
    bytes_per_second: float = math.inf
    #: Both directions are reset after this number of bytes.
    cut_after: int | None = None
    #: The receiver sees the end after this number of bytes; the other direction continues.
    end_after: int | None = None
    #: Garbage bytes are inserted after this number of bytes.
    garbage_after: int | None = None
    garbage: bytes = b"\0\xffgarbage\r\n\r\n"
    #: Nothing is forwarded, and neither side notices.
    swallows: bool = False


CALM = Faults()


class Chaos:
    """Listens on its own port for one target. ``up`` has the faults of what clients send.

    Both ``up`` and ``down`` may be set at any time; they then also apply to existing connections.
    """

    def __init__(self, target: int, *, seed: int = 0) -> None:
        self.port = free_port()
        self.up = self.down = CALM
        self.connections = 0
        self._target = target
        self._random = random.Random(seed)
        self._server: asyncio.Server | None = None
        self._serving: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        await self.accept()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.refuse()
        await self.drop()

    async def accept(self) -> None:
        """Accept connections, also again after ``refuse``."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)

    async def refuse(self) -> None:
        """Accept no new connections; existing ones continue."""
        if self._server is not None:
            self._server.close()
            self._server = None

    async def drop(self) -> None:
        """Reset every connection."""
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)

    def calm(self) -> None:
        """Forward everything without faults from now on."""
        self.up = self.down = CALM

    async def _serve(self, near: asyncio.StreamReader, to_near: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        self.connections += 1
        writers = [to_near]
        # asyncio would log a cancelled task that served a connection as an error.
        with suppress(asyncio.CancelledError):
            try:
                far, to_far = await asyncio.open_connection("127.0.0.1", self._target)
                writers.append(to_far)
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._carry("up", near, to_far, writers))
                    group.create_task(self._carry("down", far, to_near, writers))
                for writer in writers:
                    writer.close()
                for writer in writers:  # a loop with unsent bytes cannot close
                    await writer.wait_closed()
            except* OSError:
                pass
            finally:
                self._serving.discard(task)
                if not to_near.is_closing():
                    _reset(writers)
                for writer in writers:
                    writer.transport.abort()

    async def _carry(
        self,
        direction: str,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        both: list[asyncio.StreamWriter],
    ) -> None:
        """Forward one direction's bytes, with its faults."""
        gone = 0
        while piece := await reader.read(_CHUNK_BYTES):
            faults: Faults = getattr(self, direction)
            if faults.swallows:
                continue
            await self._wait(faults, len(piece))
            end = gone + len(piece)
            at = faults.garbage_after
            if at is not None and gone <= at < end:
                piece = piece[: at - gone] + faults.garbage + piece[at - gone :]
            for at in (faults.cut_after, faults.end_after):
                if at is not None and at < end:
                    piece = piece[: max(at - gone, 0)]
            writer.write(piece)
            await writer.drain()
            gone = end
            if faults.cut_after is not None and faults.cut_after < end:
                _reset(both)
                return
            if faults.end_after is not None and faults.end_after < end:
                break
        if writer.can_write_eof() and not writer.is_closing():
            writer.write_eof()
        # Read and drop what still arrives: a full buffer would block the other side.
        while await reader.read(_CHUNK_BYTES):
            pass

    async def _wait(self, faults: Faults, nbytes: int) -> None:
        seconds = faults.delay_seconds + self._random.random() * faults.jitter_seconds
        seconds += nbytes / faults.bytes_per_second
        if seconds:
            await asyncio.sleep(seconds)


def _reset(writers: list[asyncio.StreamWriter]) -> None:
    for writer in writers:
        sock = writer.get_extra_info("socket")
        if sock is not None:
            with suppress(OSError):
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        writer.transport.abort()
