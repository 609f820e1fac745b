"""Machine code for programs that are replayed often, compiled in a process that may die.

A worker forks a child for what it wants compiled. The child has the worker's compiler, loaded
before, and none of its connections; its time is limited, and its end ends nothing else.
"""

from __future__ import annotations

import os
import select
import signal
import struct
import sys
import time
from collections.abc import Sequence
from typing import Any, NoReturn

from gradwire_engine import native

from gradwire_service.settings import Settings

#: Processor time of a compilation, and time until it is given up.
_CPU_SECONDS, _SECONDS = 10, 60
#: How much less often than requests it gets a core where both want one.
_NICENESS = 10
#: Beyond the most files that Linux lets a process open, unless that is set higher.
_MOST_FILES = 1 << 20
_LENGTH = struct.Struct("<Q")


class CompilationFailed(Exception):
    """The child process ended without an answer."""


def is_compiled(settings: Settings) -> bool:
    """Whether worker processes compile programs to machine code."""
    forks = hasattr(os, "fork") and sys.platform == "linux"
    return settings.machine_code and settings.processes > 0 and forks and native.is_available()


def compile_apart(sources: Sequence[Any]) -> Sequence[bytes]:
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
        _, status = os.waitpid(child, 0)
    found: list[bytes] = []
    at = 0
    while at + _LENGTH.size <= len(answer):
        (length,) = _LENGTH.unpack_from(answer, at)
        at += _LENGTH.size + length
        found.append(answer[at - length : at])
    if len(found) != len(sources) or at != len(answer):
        raise CompilationFailed(f"the compiling process ended with status {status}")
    return found


def _received(connection: int) -> bytes:
    """Everything written until the other end closes, or the time limit passes."""
    chunks: list[bytes] = []
    ends = time.monotonic() + _SECONDS
    while (left := ends - time.monotonic()) > 0:
        if select.select([connection], [], [], left)[0]:
            chunk = os.read(connection, 1 << 20)
            if not chunk:
                break
            chunks.append(chunk)
    return b"".join(chunks)


def _compile(connection: int, sources: Sequence[Any]) -> NoReturn:
    """The child: whatever happens, it ends here."""
    try:
        import resource

        os.closerange(0, connection)
        os.closerange(connection + 1, _MOST_FILES)
        resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))
        os.nice(_NICENESS)
        for compiled in native.compile_texts(sources):
            _send(connection, _LENGTH.pack(len(compiled)) + compiled)
    finally:
        os._exit(0)


def _send(connection: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(connection, left) :]
