"""Processes, threads, queue and caches."""

from __future__ import annotations

from pydantic import BaseModel, Field, SecretStr

from gradwire_service.settings.derived import derived
from gradwire_service.settings.memory import (
    BUFFER,
    CACHE,
    LEAST_PROCESS_BYTES,
    Same,
    default_process_bytes,
)
from gradwire_service.settings.units import MEBIBYTE, Size


class ConcurrencySettings(BaseModel):
    """Processes, threads, queue and caches."""

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
    code_cache_bytes: Size = derived(
        default=256 * MEBIBYTE,
        gt=0,
        description="Most bytes in that folder; code that was used least recently is deleted.",
    )
    block_threads: int = Field(
        default=1,
        gt=0,
        le=256,
        description="Threads that share the passes of machine code over a request's large arrays, "
        "and its matrix products, in addition to the threads of other requests.",
    )
    blas_threads: int = derived(
        "block_threads",
        default_factory=Same("block_threads"),
        gt=0,
        description="Threads for each matrix product; other requests use the other cores.",
    )
    queue_requests: int = derived(
        default=256, ge=0, description="Requests that may wait for a process; others are a 503."
    )
    queue_seconds: float = derived(
        default=5.0,
        gt=0,
        description="The longest wait for a process, real or predicted; then 503.",
    )
    inline_microseconds: int = derived(
        default=200,
        ge=0,
        description="Computations with at most this predicted time run on the event loop.",
    )
    inline_body_bytes: Size = derived(
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
    batch_requests: int = derived(
        default=64, ge=2, le=1024, description="Most requests that share one replay."
    )
    cache_bytes: Size = derived(
        "memory_bytes",
        default_factory=CACHE,
        gt=0,
        description="Most bytes of parsed programs, compiled executables and their machine code in "
        "the cache.",
    )
    buffer_bytes: Size = derived(
        "memory_bytes",
        default_factory=BUFFER,
        ge=0,
        description="Most bytes of freed arrays that all threads of a process keep for new ones. "
        "In a worker process they count towards `GRADWIRE_PROCESS_BYTES`.",
    )
    process_bytes: Size = derived(
        "memory_bytes",
        default_factory=default_process_bytes,
        ge=LEAST_PROCESS_BYTES,
        description="Memory that each process may use in addition to what it starts with; a "
        "request that needs more is refused with 413. Enforced on Linux only.",
    )
