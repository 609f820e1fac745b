"""Servers that a benchmark starts, measures and ends, and a client that costs little.

The CPU time of another process is read as Linux tells it.
"""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
GRADWIRE = ("-m", "gradwire_service", "serve", "--log-level", "warning", "--port")
BARE = (str(HERE / "reference.py"),)

_START_SECONDS = 30
_LENGTH = re.compile(rb"\r\ncontent-length: (\d+)\r\n", re.IGNORECASE)


class Server:
    """A running server and the CPU time it has taken."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self._process = process
        self.port = port
        # Linux' number for the CPU clock of another process, as clock_getcpuclockid(3) makes it.
        self._clock = (~process.pid << 3) | 2

    def cpu_seconds(self) -> float:
        """CPU time of all threads since the start."""
        return time.clock_gettime(self._clock)

    def await_start(self) -> None:
        """Return once connections are accepted."""
        end = time.monotonic() + _START_SECONDS
        while True:
            if self._process.poll() is not None:
                raise RuntimeError(f"the server ended with status {self._process.returncode}")
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)


@contextmanager
def running(arguments: Sequence[str]) -> Iterator[Server]:
    """Start ``python`` with these arguments and a free port after them; end it at the end."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    process = subprocess.Popen([sys.executable, *arguments, str(port)])
    try:
        server = Server(process, port)
        server.await_start()
        yield server
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Connection:
    """One kept-alive connection, on which whole requests are sent and replies read."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._received = bytearray()
        self._expected = 0

    def send(self, request: bytes) -> None:
        """Send a request made by ``request_for``."""
        self.socket.sendall(request)

    def receive_some(self) -> bytes | None:
        """Read what there is; gives the body once it is complete."""
        piece = self.socket.recv(1 << 20)
        if not piece:
            raise ConnectionError("the server closed the connection")
        self._received += piece
        if not self._expected:
            self._expected = self._measured()
        if not self._expected or len(self._received) < self._expected:
            return None
        body = bytes(self._received[self._received.index(b"\r\n\r\n") + 4 :])
        self._received.clear()
        self._expected = 0
        return body

    def exchange(self, request: bytes) -> bytes:
        """Send a request and wait for the body of its reply."""
        self.send(request)
        while (body := self.receive_some()) is None:
            pass
        return body

    def close(self) -> None:
        """Close the connection."""
        self.socket.close()

    def _measured(self) -> int:
        """The length of head and body, 0 while the head is incomplete."""
        end = self._received.find(b"\r\n\r\n")
        if end < 0:
            return 0
        head = bytes(self._received[: end + 2])
        length = _LENGTH.search(head)
        if not head.startswith(b"HTTP/1.1 200 ") or length is None:
            raise RuntimeError(bytes(self._received[:1000]).decode("latin-1"))
        return end + 4 + int(length[1])


def request_for(body: bytes) -> bytes:
    """The bytes of a ``POST`` to ``/v1/gradient``."""
    head = (
        "POST /v1/gradient HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: */*\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body
