"""Response times of small requests, measured in a separate process.

    python sampler.py PATH SECONDS PORT...

The load generator would measure its own delays. It requests from the ports in turn, until the time
has passed or the standard input ends, and in between from a process that only echoes: the echo's
delays are due to the machine.
"""

import asyncio
import json
import os
import select
import socket
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import cycle
from typing import NamedTuple

PAUSE_SECONDS = 0.01
#: The time of a request without a response.
FAILED = 1e9


class Samples(NamedTuple):
    """The time of each response in seconds; unsuccessful responses count as infinite."""

    served: list[float]
    #: The times of the process that only echoes.
    idle: list[float]


@asynccontextmanager
async def sampling(path: str, ports: Sequence[int], seconds: float = 1e9) -> AsyncIterator[Samples]:
    """Returns an object that has the times after the context."""
    command = [sys.executable, __file__, path, str(seconds), *map(str, ports)]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
    assert process.stdout is not None
    await process.stdout.readline()
    found = Samples([], [])
    try:
        yield found
    finally:
        told, _ = await process.communicate(b"")
    served, idle = json.loads(told)
    found.served.extend(served)
    found.idle.extend(idle)


def sampled(path: str, seconds: float, ports: Sequence[int]) -> Samples:
    """Send requests until the time has passed."""
    request = f"GET {path} HTTP/1.1\r\nHost: gradwire\r\n\r\n".encode()
    found = Samples([], [])
    idle = _idle()
    connections = {port: _connected(port) for port in ports}
    print(flush=True)  # noqa: T201 - that it has begun
    end = time.perf_counter() + seconds
    for port in cycle(ports):
        start = time.perf_counter()
        if start > end or select.select([sys.stdin], [], [], PAUSE_SECONDS)[0]:
            break
        found.idle.append(_asked(idle, request, b""))
        found.served.append(_asked(connections[port], request, b"HTTP/1.1 200 "))
        if found.served[-1] == FAILED:
            with suppress(OSError):
                connections[port].close()
                connections[port] = _connected(port)
    return found


def _connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port))


def _asked(connection: socket.socket, request: bytes, right: bytes) -> float:
    """The seconds until the response, which must begin with ``right``."""
    start = time.perf_counter()
    try:
        connection.sendall(request)
        answered = connection.recv(1 << 16).startswith(right)
    except OSError:
        answered = False
    return time.perf_counter() - start if answered else FAILED


def _idle() -> socket.socket:
    """A connection to an echo process, which ends when the connection is closed."""
    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        ours.close()
        while piece := theirs.recv(1 << 16):
            theirs.sendall(piece)
        os._exit(0)
    theirs.close()
    return ours


if __name__ == "__main__":
    _, path, seconds, *ports = sys.argv
    json.dump(sampled(path, float(seconds), [int(port) for port in ports]), sys.stdout)
