"""The C allocator: freed memory is kept for the next arrays; what there is of it.

In threads, glibc returns memory to the system as soon as a few hundred kilobytes are free, and the
next array faults in every page again: 500 faults and a millisecond for a request of 800 KB. Source:
mallopt(3).
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

import numpy as np

#: Smaller allocations are not checked: they usually succeed.
_LITTLE_BYTES = 8 << 20
#: Larger blocks are mapped separately. This is the maximum of glibc: parsing 2 MB of JSON needs a
#: block of 24 MB.
MAPPED_BYTES = 32 << 20
#: For a process that leaves computing to workers: its own bodies are smaller.
MAPPED_BY_FRONT_BYTES = 4 << 20
#: Maximum free memory at the end of each thread's arena: more does not speed up JSON, and growing
#: bodies of 64 MB would leave all of it unused.
KEPT_BYTES = 24 << 20
#: For a worker process, which releases memory itself between tasks.
KEPT_BY_PROCESS_BYTES = 64 << 20

_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8


def keep_freed_memory(
    kept_bytes: int = KEPT_BYTES, *, mapped_bytes: int = MAPPED_BYTES, in_one: bool = False
) -> None:
    """Keep up to ``kept_bytes`` of freed memory in this process, if its C library is glibc.

    Blocks of ``mapped_bytes`` and more are always returned. From all memory ``in_one`` arena,
    ``malloc_trim`` can release everything, but computing threads would wait for each other. A
    thread whose allocation fails starts a second arena.
    """
    if not sys.platform.startswith("linux"):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # only glibc has it
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, mapped_bytes)
        mallopt(_M_TRIM_THRESHOLD, kept_bytes)
        if in_one:
            mallopt(_M_ARENA_MAX, 1)


def check_memory(nbytes: int) -> None:
    """Raise ``MemoryError`` if this process cannot allocate ``nbytes`` more, on behalf of a
    library.

    orjson (3.13) writes to the null pointer of a failed allocation.
    """
    if nbytes > _LITTLE_BYTES:
        np.empty(nbytes, np.uint8)


def data_bytes() -> int:
    """Private writable memory of this process, as ``RLIMIT_DATA`` counts it. Only for Linux.

    Source: proc_pid_status(5).
    """
    lines = Path("/proc/self/status").read_bytes().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith(b"VmData:"))
