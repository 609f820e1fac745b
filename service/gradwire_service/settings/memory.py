"""The memory of the machine or container, and the parts of it that stores may take."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from gradwire_service.settings.units import GIBIBYTE, MEBIBYTE

#: Memory where it is unknown.
_USUAL_BYTES = 8 * GIBIBYTE
#: The memory limit of a container, in cgroup v2 and v1.
_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
_IN_MEMORY = "memory:"


def available_bytes() -> int:
    """The memory that this process may use, in a container that of the container."""
    if not hasattr(os, "sysconf"):
        return _USUAL_BYTES
    found = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for path in _LIMITS:
        with suppress(OSError, ValueError):  # "max": there is no limit
            found = min(found, int(Path(path).read_text()))
    return found


def is_in_memory(data: Mapping[str, Any]) -> bool:
    """True if settings read so far name a store in the memory of the service."""
    return bool(data.get("store", _IN_MEMORY) == _IN_MEMORY)


class StoreBytes:
    """The default of a limit of stored bytes: in memory, a part of what there is."""

    def __init__(self, most: int, part: int) -> None:
        self._most, self._part = most, part
        name = f"{most // GIBIBYTE}GiB" if most % GIBIBYTE == 0 else f"{most // MEBIBYTE}MiB"
        self.__doc__ = f"`{name}`, of a store in memory 1/{part} of the memory if that is less"

    def __call__(self, data: Mapping[str, Any]) -> int:
        """The limit, by the settings that were read before."""
        if is_in_memory(data):
            return min(self._most, available_bytes() // self._part)
        return self._most


def results_bytes() -> int:
    """The most bytes of results by reference that are in memory beside a file."""
    return available_bytes() // 16


def stored_bytes(data: Mapping[str, Any]) -> int:
    """The most memory that records may take, by the settings read so far."""
    if is_in_memory(data):
        return sum(count * int(data.get(name, 0)) for name, count in _KINDS.items())
    return results_bytes() if str(data.get("store")).startswith("local:") else 0


#: The settings that limit stored bytes, and how many kinds of records have each limit.
_KINDS = {
    "max_tapes_bytes": 1,
    "max_programs_bytes": 1,
    "max_tensors_bytes": 2,  # and results
    "max_jobs_bytes": 2,  # and their requests and answers
}
