"""The memory limit of a worker process, and the release of free memory."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from contextlib import suppress
from mmap import PAGESIZE
from pathlib import Path

from gradwire_engine.memory import forget_buffers

from gradwire_service.allocation import KEPT_BY_PROCESS_BYTES, data_bytes

#: Smaller amounts are not worth releasing.
_NOISE_BYTES = 4 << 20
#: Memory beyond the caches that may remain in use after tasks.
_LEFTOVER_BYTES = 16 << 20
#: Memory that a GPU's driver may take in its process, for code and graphs, beyond its start.
DRIVER_BYTES = 1 << 30
#: Where cores are short, a worker gets a third of what the event loop does. With 10, a tenth:
#: tasks beside other programs of the machine missed their deadlines.
_NICENESS = 5
#: A job gets a third of what other workers do.
_NICENESS_OF_JOBS = 10
_SMAPS = Path("/proc/self/smaps_rollup")


def limit_memory(most_bytes: int) -> None:
    """Limit this process to ``most_bytes`` more than it uses now.

    Allocations beyond it raise ``MemoryError``. The limit counts private writable memory
    (``RLIMIT_DATA``); answers in shared memory have the same limit (``RLIMIT_FSIZE``). Only for
    Linux. Source: getrlimit(2).
    """
    if sys.platform == "linux":
        import resource

        most = data_bytes() + most_bytes
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))


def set_oom_score() -> None:
    """Make the OOM killer choose this process, not the service.

    The result is one request's error. Source: proc_pid_oom_score_adj(5).
    """
    if sys.platform == "linux":
        with suppress(OSError):  # /proc is read-only
            Path("/proc/self/oom_score_adj").write_text("1000")


def lower_priority(*, for_jobs: bool = False) -> None:
    """Let the service's event loop run before this process wherever both want a core.

    The worker has all that is left, so nothing is lost. One ``for_jobs`` comes after those of other
    requests. Source: setpriority(2).
    """
    if hasattr(os, "nice"):
        os.nice(_NICENESS_OF_JOBS if for_jobs else _NICENESS)


class MemoryTrimmer:
    """Returns the memory left over from large tasks to the system.

    Fragments remain: Python allocates arenas of 1 MiB, each of which stays as long as one object in
    it. So do copies of pages that were shared with the parent process: even a reader of an object
    writes to its page, the count of its references. ``over_limit`` is set when more remains than
    ``most_kept_bytes`` and a margin. Cycles that the collector was spared are not collected: the
    collector would write to all objects, those of the parent included.
    """

    def __init__(self, most_kept_bytes: int) -> None:
        # Opened once: opening takes ten times as long as reading.
        self._statm = os.open("/proc/self/statm", os.O_RDONLY) if sys.platform == "linux" else -1
        self._kept_bytes = self._resident_bytes() + KEPT_BY_PROCESS_BYTES
        began_with = _private_bytes()
        self._least_bytes = began_with + _NOISE_BYTES
        self._most_bytes = began_with + most_kept_bytes + _LEFTOVER_BYTES
        self.over_limit = False
        self._malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)

    def trim(self) -> None:
        """Between tasks: release unused memory, if there is much."""
        if self._resident_bytes() > self._kept_bytes:
            self._trim()
            self._kept_bytes = max(self._kept_bytes, self._resident_bytes() + KEPT_BY_PROCESS_BYTES)

    def trim_all(self) -> None:
        """When idle: release all unused memory."""
        if _private_bytes() > self._least_bytes:
            self._trim()
            self._least_bytes = max(self._least_bytes, _private_bytes() + _NOISE_BYTES)

    def _resident_bytes(self) -> int:
        if self._statm < 0:
            return 0
        return int(os.pread(self._statm, 256, 0).split()[1]) * PAGESIZE

    def _trim(self) -> None:
        forget_buffers()
        gc.collect()
        if self._malloc_trim is not None:
            self._malloc_trim(0)
        self.over_limit = _private_bytes() > self._most_bytes


def _private_bytes() -> int:
    """The memory that would be free without this process; reading it takes about a millisecond.

    Source: proc_pid_smaps(5), where ``smaps_rollup`` sums up all mappings (Linux 4.14).
    """
    try:
        lines = _SMAPS.read_bytes().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith(b"Private_"))
