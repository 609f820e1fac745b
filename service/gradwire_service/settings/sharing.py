"""How requests share the machine."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel, Field

from gradwire_service.settings.units import MEBIBYTE, Size

#: What the service itself takes, and what its processes have in common.
_OWN_BYTES = 384 * MEBIBYTE
#: What each process has at least, where there are more than two.
_EACH_BYTES = 128 * MEBIBYTE
#: What a machine is taken to have that does not tell.
_USUAL_BYTES = 8192 * MEBIBYTE
#: Where the kernel tells what a container may use, in its second and its first version of that.
_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def available_cores() -> int:
    """The cores this process may run on, which in a container are fewer than the machine's."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def default_processes() -> int:
    """Twice as many as cores, since what runs for long is not to hold up others, and one more.

    Fewer where there is little memory, but two.
    """
    if sys.platform == "win32":
        return 0
    room = (available_bytes() - _OWN_BYTES) // _EACH_BYTES
    return max(min(2 * available_cores() + 1, room), 2)


def default_process_bytes() -> int:
    """What is left beside the service itself, divided between its processes."""
    left = available_bytes() - _OWN_BYTES
    return max(left // max(default_processes(), 1), 64 * MEBIBYTE)


def available_bytes() -> int:
    """The memory that this process may use: the container's, where it is in one."""
    if not hasattr(os, "sysconf"):
        return _USUAL_BYTES
    found = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for told in _LIMITS:
        with suppress(OSError, ValueError):  # "max": there is no limit
            found = min(found, int(Path(told).read_text()))
    return found


class Sharing(BaseModel):
    """How requests share the machine."""

    cores: int = Field(
        default_factory=available_cores,
        gt=0,
        description="Computations that begin beside one another; one that has run for a quarter of "
        "a second no longer counts.",
    )
    processes: int = Field(
        default=0,
        ge=0,
        le=1024,
        description="Processes that do what is too long for the event loop. One is killed when the "
        "time of its request is over, and replaced. The command `gradwire-server` starts twice as "
        "many as there are cores, and one, as memory allows, unless it is told otherwise. With 0, "
        "which is what a service has that is embedded in a program, threads do the same: then what "
        "cannot be stopped goes on after its time, only budgets limit memory, and a crash ends "
        "all. Processes need Linux or macOS, and a folder for temporary files.",
    )
    process_bytes: Size = Field(
        default_factory=default_process_bytes,
        ge=64 * MEBIBYTE,
        description="Memory that each process may take beyond what it starts with; what needs more "
        "is refused with 413. By default the machine's, or the container's, divided between "
        "the processes there are by default. Limited on Linux only.",
    )
    blas_threads: int = Field(
        default=1,
        gt=0,
        description="Threads of each matrix product; other requests use the other cores.",
    )
    block_threads: int = Field(
        default=1,
        gt=0,
        le=256,
        description="Threads that share the blocks of one request's large arrays, each beside "
        "those of other requests.",
    )
    queue_requests: int = Field(
        default=256, ge=0, description="Requests that may wait for a process; beyond them, 503."
    )
    queue_bytes: Size = Field(
        default=512 * MEBIBYTE,
        gt=0,
        description="Body bytes that waiting and running requests may hold.",
    )
    queue_seconds: float = Field(
        default=5.0,
        gt=0,
        description="How long a request may wait for a process, or is expected to; beyond it, 503.",
    )
    inline_microseconds: int = Field(
        default=200,
        ge=0,
        description="Predicted replay time up to which work runs on the event loop.",
    )
    inline_body_bytes: Size = Field(
        default=64 * 1024,
        ge=0,
        le=64 * 1024,
        description="Body size up to which a request is read on the event loop.",
    )
    batch_window_microseconds: int = Field(
        default=0,
        ge=0,
        le=100_000,
        description="How long a request may wait for others of its program and types, to be "
        "answered with them by one replay; 0 for never. Worth it where many clients at once ask "
        "for replays of hundreds of operations on small arrays. Event loops count in milliseconds.",
    )
    batch_requests: int = Field(
        default=64, ge=2, le=1024, description="Most requests that are answered by one replay."
    )
    cache_bytes: Size = Field(
        default=256 * MEBIBYTE,
        gt=0,
        description="Bytes of parsed programs and compiled executables that are kept.",
    )
