"""Memory of this process: what arrays leave behind is kept, what others need is there.

In a thread, glibc gives memory back to the system as soon as a few hundred kilobytes are free, and
has every page of it made anew for the next array: for a request of 800 KB, 500 faults and a
millisecond. Source: mallopt(3).
"""

from __future__ import annotations

import ctypes
import sys

import numpy as np

#: Less is not looked for: there is so much as a rule.
_LITTLE_BYTES = 8 << 20
#: Larger blocks are the system's own, each by itself. The most that glibc allows: to read 2 MB of
#: JSON takes one of 24 MB.
MAPPED_BYTES = 32 << 20
#: Of a process that has others compute: what it reads and sends itself is smaller.
MAPPED_BY_FRONT_BYTES = 4 << 20
#: How much may be free at the end of each thread's memory: more makes JSON no quicker, and bodies
#: of 64 MB, which grow, would leave all of it behind.
KEPT_BYTES = 24 << 20
#: Of a process that does one task after the other, which gives memory back itself.
KEPT_BY_PROCESS_BYTES = 64 << 20

_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8


def keep_freed_memory(
    kept_bytes: int = KEPT_BYTES, *, mapped_bytes: int = MAPPED_BYTES, in_one: bool = False
) -> None:
    """Have this process keep so much of what is freed, where its C library is glibc.

    Blocks of ``mapped_bytes`` and more are given back. All ``in_one`` arena can be given back by
    ``malloc_trim``, which leaves the end of others as it is; threads that compute would wait there
    for each other. One whose memory is refused begins a second arena.
    """
    if not sys.platform.startswith("linux"):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # others have none
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, mapped_bytes)
        mallopt(_M_TRIM_THRESHOLD, kept_bytes)
        if in_one:
            mallopt(_M_ARENA_MAX, 1)


def check_memory(nbytes: int) -> None:
    """Raise ``MemoryError`` where this process may not have so many bytes more, for a library.

    orjson (3.13) writes to where it would have had memory that it was refused.
    """
    if nbytes > _LITTLE_BYTES:
        np.empty(nbytes, np.uint8)
