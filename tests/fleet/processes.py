"""Programs that tests start, and their resources as reported by Linux."""

from __future__ import annotations

import asyncio
import errno
import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeAlias

from tests.fleet.cgroups import Cgroup
from tests.fleet.forks import Forked

#: Below the ports of outgoing connections, one of which could take the port of a program that
#: must listen on it again.
_PORTS = range(15_000, 32_000)
#: Not seeded: tests that run beside others draw other ports.
_DRAW = random.SystemRandom()
#: Then a program that is stopped is killed, which only ends a test sooner.
_STOP_SECONDS = 10.0


def child_of(pid: int) -> int:
    """The only child process of a process."""
    (child,) = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return int(child)


#: A process that a test started.
Process: TypeAlias = subprocess.Popen[bytes] | Forked


class Figures(NamedTuple):
    """The resources that a process has at a moment."""

    resident_bytes: int
    most_bytes: int
    threads: int
    files: int


class Program:
    """A program that listens on a loopback port and writes its log to a file."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        port: int,
        folder: Path,
        environment: Mapping[str, str] | None = None,
        cgroup: Cgroup | None = None,
    ) -> None:
        self.name = name
        self.port = port
        self.cgroup = cgroup
        self._command = command if cgroup is None else cgroup.around(command)
        self._log = folder / f"{name}.log"
        self._environment: Mapping[str, str] = environment or {}
        self._process: Process | None = None

    @property
    def pid(self) -> int:
        """The process that listens."""
        return self.process.pid

    @property
    def process(self) -> Process:
        assert self._process is not None, f"{self.name} was not started"
        return self._process

    def start(self) -> Self:
        """Start the program, also again after it has ended."""
        self._process = self._begun({**_inherited(), **self._environment})
        return self

    def _begun(self, environment: Mapping[str, str]) -> Process:
        with self._log.open("ab") as log:
            return subprocess.Popen(
                self._command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    async def listening(self) -> Self:
        """Wait until it accepts connections."""
        while not await self.answers():
            assert self.process.poll() is None, f"{self.name} ended:\n{self.log()}"
            await asyncio.sleep(0.05)
        return self

    async def answers(self) -> bool:
        """True if it accepts a connection now."""
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", self.port)
        except OSError:
            return False
        writer.close()
        return True

    def send(self, sent: signal.Signals) -> None:
        """Send it a signal."""
        self.process.send_signal(sent)

    async def ended(self) -> int:
        """Wait until it has ended; returns its exit status."""
        while (status := self.process.poll()) is None:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        return status

    def stop(self) -> None:
        """Kill it, even if it is suspended or ignores signals."""
        if self._process is None or self._process.poll() is not None:
            return
        self._process.send_signal(signal.SIGCONT)
        self._process.terminate()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def log(self, most: int = 4000) -> str:
        """The end of its log."""
        return self._log.read_text(errors="replace")[-most:] if self._log.exists() else ""

    def figures(self) -> Figures:
        """The resources that it has now."""
        of = Path(f"/proc/{self.pid}")
        told = dict(line.split(":", 1) for line in (of / "status").read_text().splitlines())
        return Figures(
            resident_bytes=int(told["VmRSS"].split()[0]) << 10,
            most_bytes=int(told["VmHWM"].split()[0]) << 10,
            threads=int(told["Threads"]),
            files=sum(1 for _ in (of / "fd").iterdir()),
        )

    async def taken(self) -> float:
        """``cpu_seconds`` as a coroutine, for ``until``."""
        return self.cpu_seconds()

    def family(self) -> list[int]:
        """The process and its existing child processes."""
        found = [self.process.pid]
        for pid in found:
            with suppress(OSError):
                for told in Path(f"/proc/{pid}/task").glob("*/children"):
                    found += map(int, told.read_text().split())
        return found

    @contextmanager
    def suspended(self, *pids: int) -> Iterator[None]:
        """Suspend some of its processes within the context; those that have ended are left out."""
        try:
            _signal(signal.SIGSTOP, pids)
            yield
        finally:
            _signal(signal.SIGCONT, pids)

    def cpu_seconds(self) -> float:
        """The CPU time of all its threads and processes since their start, in seconds."""
        seconds = 0.0
        for pid in self.family():
            with suppress(OSError):
                # Linux's id of the CPU clock of another process: clock_getcpuclockid(3).
                seconds += time.clock_gettime((~pid << 3) | 2)
        return seconds


async def until(figure: Callable[..., Awaitable[float]], *asked: Any, least: float) -> None:
    """Wait until a figure is at least ``least``, however long that takes on a busy machine."""
    while await figure(*asked) < least:  # noqa: ASYNC110
        await asyncio.sleep(0.05)


def _signal(sent: signal.Signals, pids: Sequence[int]) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, sent)


def _inherited() -> dict[str, str]:
    """This process's environment, without settings of services."""
    return {name: value for name, value in os.environ.items() if not name.startswith("GRADWIRE_")}


def free_port() -> int:
    """A free port."""
    while True:
        port = _DRAW.choice(_PORTS)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
            else:
                return port
