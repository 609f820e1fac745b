"""Servers that a benchmark starts, measures and stops, and a cheap client.

Linux reports the CPU time of other processes.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

HERE = Path(__file__).resolve().parent
GRADWIRE = ("-m", "gradwire_service", "serve", "--log-level", "warning", "--port")
BARE = (str(HERE / "reference.py"),)
JSON = "application/json"

_START_SECONDS = 60
LENGTH = re.compile(rb"\r\ncontent-length: (\d+)\r\n", re.IGNORECASE)
_BUFFER_BYTES = 1 << 16


class Server:
    """A running server and its CPU time."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self._process = process
        self.port = port

    @property
    def url(self) -> str:
        """The address for clients on this machine."""
        return f"http://127.0.0.1:{self.port}"

    def family(self) -> list[int]:
        """The process and its existing child processes."""
        found = [self._process.pid]
        for pid in found:
            with suppress(OSError):
                for listed in Path(f"/proc/{pid}/task").glob("*/children"):
                    found += map(int, listed.read_text().split())
        return found

    def cpu_seconds(self) -> float:
        """The CPU time of all its threads and processes, also of those that have ended."""
        seconds = 0.0
        for pid in self.family():
            with suppress(OSError):
                # Linux's id of the CPU clock of another process: clock_getcpuclockid(3).
                seconds += time.clock_gettime((~pid << 3) | 2)
                seconds += _waited_for(pid)
        return seconds

    def await_start(self) -> None:
        """Wait until connections are accepted."""
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


def _waited_for(pid: int) -> float:
    """The CPU seconds of processes that have ended and that this one has waited for: proc(5)."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def running(
    arguments: Sequence[str],
    *,
    python: str = sys.executable,
    environment: Mapping[str, str] | None = None,
    log: int | None = None,
) -> Iterator[Server]:
    """Start ``python`` with these arguments and a free port; stop it after the context.

    ``environment`` extends this process's own; output goes to ``log``.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    process = subprocess.Popen(
        [python, *arguments, str(port)],
        env={**os.environ, "GRADWIRE_STORE": "memory:", **(environment or {})},
        stdout=log,
        stderr=log,
    )
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
    """One keep-alive connection that sends whole requests and reads replies.

    It reads replies into a growing buffer without copies: a body is valid until the next reply.
    """

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._buffer = bytearray(_BUFFER_BYTES)
        self._received = 0
        self._body = slice(0, 0)

    def send(self, request: bytes) -> None:
        """Send a request made by ``http_request``."""
        self.socket.sendall(request)

    def receive_some(self) -> memoryview | None:
        """Read available bytes; returns the body once it is complete."""
        count = self.socket.recv_into(memoryview(self._buffer)[self._received :])
        if not count:
            raise ConnectionError("the server closed the connection")
        self._received += count
        if not self._body.stop:
            self._find_body()
        if not self._body.stop or self._received < self._body.stop:
            return None
        body = memoryview(self._buffer)[self._body]
        self._received, self._body = 0, slice(0, 0)
        return body

    def exchange(self, request: bytes) -> memoryview:
        """Send a request and wait for the body of its reply."""
        self.send(request)
        while (body := self.receive_some()) is None:
            pass
        return body

    def close(self) -> None:
        """Close the connection."""
        self.socket.close()

    def _find_body(self) -> None:
        """Find the body once the head is complete, and make room for it.

        Raises: ``RuntimeError`` if the reply is not successful.
        """
        end = self._buffer.find(b"\r\n\r\n", 0, self._received)
        if end < 0:
            return
        head = bytes(self._buffer[: end + 2])
        length = LENGTH.search(head)
        if not head.startswith(b"HTTP/1.1 2") or length is None:
            raise RuntimeError(bytes(self._buffer[: min(self._received, 1000)]).decode("latin-1"))
        self._body = slice(end + 4, end + 4 + int(length[1]))
        if self._body.stop > len(self._buffer):
            longer = bytearray(self._body.stop)
            longer[: self._received] = memoryview(self._buffer)[: self._received]
            self._buffer = longer


def http_request(
    path: str, body: bytes, *, method: str = "POST", media_type: str = JSON, accept: str = "*/*"
) -> bytes:
    """The bytes of a whole request."""
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: {accept}\r\n"
        f"Content-Type: {media_type}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body
