"""A TCP proxy with the latency of a network, and without a limit of bandwidth.

``python proxy.py TARGET_PORT MILLISECONDS PORT``: what arrives from either side is sent on
after half of the milliseconds.
"""

from __future__ import annotations

import asyncio
import selectors
import sys
from contextlib import suppress

_PIECE_BYTES = 1 << 20


async def serve(target: int, delay_seconds: float, port: int) -> None:
    """Serve a port of this machine with connections to another one."""

    async def join(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answers, questions = await asyncio.open_connection("127.0.0.1", target)
        await asyncio.gather(
            _forward(reader, questions, delay_seconds), _forward(answers, writer, delay_seconds)
        )

    server = await asyncio.start_server(join, "127.0.0.1", port)
    await server.serve_forever()


async def _forward(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, delay_seconds: float
) -> None:
    """Send what is read, each piece later; at the end, close what it is sent to."""
    loop = asyncio.get_running_loop()
    on_its_way = asyncio.Queue[tuple[float, bytes]]()

    async def receive() -> None:
        data = b"-"
        while data:
            data = b""
            with suppress(ConnectionError):
                data = await reader.read(_PIECE_BYTES)
            on_its_way.put_nowait((loop.time() + delay_seconds, data))

    async def send() -> None:
        while True:
            due, data = await on_its_way.get()
            await asyncio.sleep(due - loop.time())
            if not data or writer.is_closing():
                writer.close()
                return
            writer.write(data)

    await asyncio.gather(receive(), send())


def _loop() -> asyncio.AbstractEventLoop:
    """A loop with exact timers: epoll would round their times up to milliseconds."""
    return asyncio.SelectorEventLoop(selectors.SelectSelector())


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=_loop) as runner:
        runner.run(serve(int(sys.argv[1]), float(sys.argv[2]) / 2000, int(sys.argv[3])))
