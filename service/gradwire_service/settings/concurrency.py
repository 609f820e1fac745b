"""Processes, threads, queue and caches."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field, SecretStr

from gradwire_service.settings.memory import available_bytes, stored_bytes
from gradwire_service.settings.units import MEBIBYTE, Size

#: Memory of the service itself, shared with its processes.
_OWN_BYTES = 448 * MEBIBYTE
#: The least memory of each process, where there are more than two.
_EACH_BYTES = 128 * MEBIBYTE


def available_cores() -> int:
    """The cores that this process may use, in a container those of the container."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def default_processes() -> int:
    """Twice as many as cores, plus one, so long requests do not block others.

    Fewer where there is little memory, but at least two.
    """
    if sys.platform == "win32":
        return 0
    room = (available_bytes() - _OWN_BYTES) // _EACH_BYTES
    return max(min(2 * available_cores() + 1, room), 2)


def default_process_bytes(data: Mapping[str, Any]) -> int:
    """The memory that the service itself does not need, divided by the number of processes.

    There may be as many for jobs as there are cores, and one more for short ones.
    """
    left = available_bytes() - _OWN_BYTES - stored_bytes(data)
    return max(left // (default_processes() + available_cores() + 1), 64 * MEBIBYTE)


class ConcurrencySettings(BaseModel):
    """Processes, threads, queue and caches."""

    cores: int = Field(
        default_factory=available_cores,
        gt=0,
        description="Computations that may run at the same time; one that has run for a quarter of "
        "a second no longer counts.",
    )
    processes: int = Field(
        default=0,
        ge=0,
        le=1024,
        description="Worker processes for computations that are too long for the event loop. A "
        "process is killed and replaced when its request times out. By default `gradwire-server` "
        "starts twice as many as there are cores, plus one, if there is enough memory. With 0, the "
        "default of a service embedded in a program, threads are used: then a computation that "
        "cannot be interrupted outlives its timeout, only budgets limit memory, and a crash ends "
        "the whole service. Processes need Linux or macOS, and a folder for temporary files.",
    )
    process_bytes: Size = Field(
        default_factory=default_process_bytes,
        ge=64 * MEBIBYTE,
        description="Memory that each process may use in addition to what it starts with; a "
        "request that needs more is refused with 413. By default the memory of the machine or "
        "container, divided by the default number of processes. Enforced on Linux only.",
    )
    machine_code: bool = Field(
        default=True,
        description="Compile programs that are replayed again to machine code, in worker processes "
        "and in the background. Needs llvmlite and Linux; without them NumPy "
        "computes everything, and `/readyz` says so.",
    )
    compile_seconds_per_minute: float = Field(
        default=20,
        ge=0,
        allow_inf_nan=False,
        description="Processor time that compiling a tenant's programs may take in each minute; "
        "beyond it, they stay on NumPy until there is some again. What is compiled for a GPU "
        "counts, and does not wait. Without keys, that of all programs; 0 is unlimited. Each "
        "replica counts it separately.",
    )
    code_cache: str = Field(
        default="",
        description="Folder in which machine code is kept, also a GPU's, so that a restart "
        "need not compile it again; replicas may share it. By default it is kept in memory only. "
        "Only the service may be able to write there: files are executed if their keyed digest is "
        "right.",
    )
    code_cache_key: SecretStr | None = Field(
        default=None,
        min_length=16,
        description="Key of these digests, the same for all who share the folder. Without one, a "
        "random key is stored in the folder, in a file that only its owner may read.",
    )
    code_cache_bytes: Size = Field(
        default=256 * MEBIBYTE,
        gt=0,
        description="Most bytes in that folder; code that was used least recently is deleted.",
    )
    blas_threads: int = Field(
        default=1,
        gt=0,
        description="Threads for each matrix product; other requests use the other cores.",
    )
    block_threads: int = Field(
        default=1,
        gt=0,
        le=256,
        description="Threads that share the passes of machine code over a request's large arrays, "
        "in addition to the threads of other requests.",
    )
    queue_requests: int = Field(
        default=256, ge=0, description="Requests that may wait for a process; others are a 503."
    )
    queue_bytes: Size = Field(
        default=512 * MEBIBYTE,
        gt=0,
        description="Most bytes of the bodies of waiting and running requests.",
    )
    queue_seconds: float = Field(
        default=5.0,
        gt=0,
        description="The longest wait for a process, real or predicted; then 503.",
    )
    inline_microseconds: int = Field(
        default=200,
        ge=0,
        description="Computations with at most this predicted time run on the event loop.",
    )
    inline_body_bytes: Size = Field(
        default=64 * 1024,
        ge=0,
        le=64 * 1024,
        description="Bodies of at most this size are read on the event loop, if they have at most "
        "1,000 lists, objects and strings, and a program that is known or has at most 2,500 "
        "characters.",
    )
    batch_window_microseconds: int = Field(
        default=0,
        ge=0,
        le=100_000,
        description="How long a request waits for others with the same program and types, to share "
        "one replay; 0 turns this off. Useful if many clients send programs of hundreds of "
        "operations on small arrays. The event loop rounds it to milliseconds.",
    )
    batch_requests: int = Field(
        default=64, ge=2, le=1024, description="Most requests that share one replay."
    )
    cache_bytes: Size = Field(
        default=256 * MEBIBYTE,
        gt=0,
        description="Most bytes of parsed programs, compiled executables and their machine code in "
        "the cache.",
    )
    buffer_bytes: Size = Field(
        default=128 * MEBIBYTE,
        ge=0,
        description="Most bytes of freed arrays that all threads of a process keep for new ones. "
        "In a worker process they count towards `GRADWIRE_PROCESS_BYTES`.",
    )
