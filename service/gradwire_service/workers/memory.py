"""What a process that computes may take, and what it gives back."""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import suppress
from pathlib import Path

from gradwire_engine.memory import forget_buffers, forget_cycles

from gradwire_service.allocation import KEPT_BY_PROCESS_BYTES

#: Of what is less it is not worth looking for it.
_NOISE_BYTES = 4 << 20
#: Beyond what a process keeps on purpose: what may stay of what it was asked.
_LEFTOVER_BYTES = 16 << 20
_STATUS = Path("/proc/self/status")


def limit_memory(most_bytes: int) -> None:
    """Have the system refuse this process more than so many bytes beyond what it has now.

    What is refused is a ``MemoryError``. Counted is what is written to (``RLIMIT_DATA``), not what
    is shared; an answer on its way, which is, has the same limit (``RLIMIT_FSIZE``). Only Linux
    counts so. Source: getrlimit(2).
    """
    if sys.platform == "linux":
        import resource

        most = _data_bytes() + most_bytes
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))


def end_first() -> None:
    """Have the system end this process, not the service, when all of the memory is used up.

    That is one request's ``MemoryError``. Source: proc_pid_oom_score_adj(5).
    """
    if sys.platform == "linux":
        with suppress(OSError):  # where /proc is not to be written to
            Path("/proc/self/oom_score_adj").write_text("1000")


class MemoryTrimmer:
    """Gives memory back that a large task has left behind.

    What it cannot give back lies between what is kept: Python's memory is in arenas of 1 MiB, each
    of which stays as long as one object does. ``over_limit`` is told when more stays than a
    process may keep, which is ``most_kept_bytes``, and a little.
    """

    def __init__(self, most_kept_bytes: int) -> None:
        # Opened once: opening takes ten times as long as reading.
        self._statm = os.open("/proc/self/statm", os.O_RDONLY) if sys.platform == "linux" else -1
        began_with = self._resident_bytes()
        self._least_bytes = began_with + _NOISE_BYTES
        self._kept_bytes = began_with + KEPT_BY_PROCESS_BYTES
        self._most_bytes = began_with + most_kept_bytes + _LEFTOVER_BYTES
        self.over_limit = False
        self._malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)

    def trim(self) -> None:
        """Between two tasks: give back what is not in use, where that is much."""
        if self._resident_bytes() > self._kept_bytes:
            self._trim()
            self._kept_bytes = max(self._kept_bytes, self._resident_bytes() + KEPT_BY_PROCESS_BYTES)

    def trim_all(self) -> None:
        """When there is nothing to do: give back all that is not in use."""
        if self._resident_bytes() > self._least_bytes:
            self._trim()
            self._least_bytes = max(self._least_bytes, self._resident_bytes() + _NOISE_BYTES)

    def _resident_bytes(self) -> int:
        if self._statm < 0:
            return 0
        return int(os.pread(self._statm, 256, 0).split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def _trim(self) -> None:
        forget_buffers()
        forget_cycles()
        if self._malloc_trim is not None:
            self._malloc_trim(0)
        self.over_limit = self._resident_bytes() > self._most_bytes


def _data_bytes() -> int:
    lines = _STATUS.read_bytes().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith(b"VmData:"))
