"""Machine code for programs that are replayed often, compiled in a process that may die.

What a worker wants compiled, and no worker of the service has compiled before, a child compiles. It
has the worker's compiler, loaded before, and none of its connections; its time, memory and answer
are limited, and its end ends nothing else. It is forked from a process without threads, which the
worker forks when it begins: a fork beside threads of a library takes locks along that nobody opens.
"""

from __future__ import annotations

import os
import select
import signal
import struct
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any, NamedTuple, NoReturn, Protocol

import gradwire_gpu
from gradwire_engine import native

from gradwire_service import __version__
from gradwire_service.allocation import data_bytes
from gradwire_service.machine_code import Found
from gradwire_service.settings import Settings
from gradwire_service.watchdog import end_with_parent

#: Processor time of a compilation, and time until one that hangs is given up: on a machine that is
#: busy, a low priority makes minutes of seconds.
_CPU_SECONDS, _SECONDS = 10, 900
#: Memory that compiling needs beside the worker's, and most code of a program.
_MEMORY_BYTES, _MOST_CODE_BYTES = 512 << 20, 16 << 20
#: Priority below that of requests, where both want a core.
_NICENESS = 10
#: Beyond the most files that Linux lets a process open, unless that is set higher.
_MOST_FILES = 1 << 20
_LENGTH = struct.Struct("<Q")


class CompilationFailed(Exception):
    """The child process ended without an answer, after so many ``seconds`` of processor time."""

    def __init__(self, detail: str, seconds: float) -> None:
        super().__init__(detail, seconds)
        self.detail, self.seconds = detail, seconds

    def __str__(self) -> str:
        return self.detail


class Compiled(NamedTuple):
    """An object file for each source, and the processor time that they took."""

    objects: Sequence[bytes]
    seconds: float


class Codes(Protocol):
    """The machine code of each tenant, which all workers share."""

    def get(self, tenant: str, keys: Sequence[bytes], *, postponable: bool = True) -> Found:
        """The code of a tenant, and if compiling is postponable, for how long it must wait."""
        ...

    def put(self, tenant: str, objects: Mapping[bytes, bytes], seconds: float) -> None:
        """Keep what took so long to compile; nothing where compiling failed."""
        ...


class Compiler:
    """Compiles what is not known yet to machine code, in a child process."""

    _postponable = True

    def __init__(
        self, codes: Codes, compile: Callable[[Sequence[Any]], Compiled] | None = None
    ) -> None:
        self._codes = codes
        self._compiled = compile_apart if compile is None else compile

    def __call__(self, sources: Sequence[Any], tenant: str) -> Sequence[bytes]:
        """An object file for each source of a tenant.

        Raises: ``CompilationFailed``; what engines take as postponed, if the tenant has compiled
        as much as it may for now.
        """
        keys = [self._key_of(source) + __version__.encode() for source in sources]
        found, wait_seconds = self._codes.get(tenant, keys, postponable=self._postponable)
        missing = {
            key: source for key, source in zip(keys, sources, strict=True) if key not in found
        }
        made: Mapping[bytes, bytes] = {}
        if missing:
            if wait_seconds:
                raise native.postponed(wait_seconds)
            seconds = 0.0
            try:
                objects, seconds = self._compiled([*missing.values()])
                made = dict(zip(missing, objects, strict=True))
            except CompilationFailed as error:
                seconds = error.seconds
                raise
            finally:
                self._codes.put(tenant, made, seconds)
        return [made[key] if key in made else found[key] for key in keys]

    def _key_of(self, source: Any) -> bytes:
        return native.key_of(source)


class GpuCompiler(Compiler):
    """The same to PTX for a GPU, in this process: one that has a GPU must not be forked.

    It is not postponed, since nothing computes without it; its time counts all the same.
    """

    _postponable = False

    def __init__(self, codes: Codes) -> None:
        super().__init__(codes, _compiled_for_gpu)

    def _key_of(self, source: Any) -> bytes:
        return gradwire_gpu.key_of(source)


def _compiled_for_gpu(sources: Sequence[Any]) -> Compiled:
    began = time.thread_time()
    objects = gradwire_gpu.compile_texts(sources)
    return Compiled(objects, time.thread_time() - began)


class CompilingProcess:
    """Forks children that compile, for a process that has threads later; thread-safe.

    Raises: ``OSError`` where no process can be forked.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connection, theirs = Pipe()
        if not os.fork():
            _serve(theirs)
        theirs.close()

    def compile(self, sources: Sequence[Any]) -> Compiled:
        """As ``compile_apart``."""
        with self._lock:
            try:
                self._connection.send(list(sources))
                answer = self._connection.recv()
            except (OSError, EOFError):
                raise CompilationFailed("the compiling process has ended", 0.0) from None
        if isinstance(answer, CompilationFailed):
            raise answer
        found: Compiled = answer
        return found


def is_compiled(settings: Settings) -> bool:
    """True if worker processes compile programs to machine code."""
    forks = hasattr(os, "fork") and sys.platform == "linux"
    return settings.machine_code and settings.processes > 0 and forks and native.is_available()


def compile_apart(sources: Sequence[Any]) -> Compiled:
    """Compile each source to an object file in a child process.

    Raises: ``CompilationFailed``.
    """
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        _compile(theirs, sources)
    os.close(theirs)
    try:
        answer = _received(ours)
    finally:
        os.close(ours)
        os.kill(child, signal.SIGKILL)  # where it is given up; else it has ended
        _, status, used = os.wait4(child, 0)
    seconds = used.ru_utime + used.ru_stime
    found: list[bytes] = []
    at = 0
    while at + _LENGTH.size <= len(answer):
        (length,) = _LENGTH.unpack_from(answer, at)
        at += _LENGTH.size + length
        found.append(answer[at - length : at])
    if len(found) != len(sources) or at != len(answer):
        detail = f"the compiling process ended with status {status} after {seconds:.1f} s"
        raise CompilationFailed(detail, seconds)
    return Compiled(found, seconds)


def _serve(connection: Connection) -> NoReturn:
    """The process that forks: it ends with the one that it was forked from."""
    try:
        end_with_parent()
        for number in signal.SIGINT, signal.SIGTERM:
            signal.signal(number, signal.SIG_IGN)
        os.closerange(0, connection.fileno())
        os.closerange(connection.fileno() + 1, _MOST_FILES)
        while True:
            sources = connection.recv()
            try:
                answer: Any = compile_apart(sources)
            except CompilationFailed as error:
                answer = error
            connection.send(answer)
    finally:
        os._exit(0)


def _received(connection: int) -> bytes:
    """Everything written until the other end closes, or a limit is exceeded."""
    chunks: list[bytes] = []
    ends, received = time.monotonic() + _SECONDS, 0
    while (left := ends - time.monotonic()) > 0 and received <= _MOST_CODE_BYTES:
        if select.select([connection], [], [], left)[0]:
            chunk = os.read(connection, 1 << 20)
            if not chunk:
                break
            chunks.append(chunk)
            received += len(chunk)
    return b"".join(chunks)


def _compile(connection: int, sources: Sequence[Any]) -> NoReturn:
    """The child: whatever happens, it ends here."""
    try:
        import resource

        os.closerange(0, connection)
        os.closerange(connection + 1, _MOST_FILES)
        signal.alarm(_SECONDS)  # nobody else ends it when the parent was killed
        resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))
        memory = data_bytes() + _MEMORY_BYTES
        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        if most == resource.RLIM_INFINITY or memory < most:
            resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
        os.nice(_NICENESS)
        for compiled in native.compile_texts(sources):
            _send(connection, _LENGTH.pack(len(compiled)) + compiled)
    finally:
        os._exit(0)


def _send(connection: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(connection, left) :]
