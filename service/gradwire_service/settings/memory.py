"""The memory of the machine or container, and what the settings make of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from gradwire_service.settings.units import GIBIBYTE, MEBIBYTE, written

#: Memory where it is unknown.
_USUAL_BYTES = 8 * GIBIBYTE
#: The memory limit of a container, in cgroup v2 and v1.
_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
#: The service without work, and what its processes have in common and begin with.
IDLE_BYTES = 300 * MEBIBYTE
#: The least memory of each process, where there are more than two, and of one at all.
_EACH_BYTES = 128 * MEBIBYTE
LEAST_PROCESS_BYTES = 64 * MEBIBYTE
#: The parts of a store, in memory and elsewhere, by the settings that limit them; tensors count
#: twice, for results, and jobs twice, for their requests and checkpoints.
_UNITS = {
    "max_tapes_bytes": (1, 1),
    "max_programs_bytes": (1, 1),
    "max_tensors_bytes": (4, 4),
    "max_jobs_bytes": (2, 16),
}
_ALL_UNITS = (14, 42)
_UNIT_BYTES = 256 * MEBIBYTE


def available_bytes() -> int:
    """The memory of the machine, in a container that of the container."""
    if not hasattr(os, "sysconf"):
        return _USUAL_BYTES
    found = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for path in _LIMITS:
        with suppress(OSError, ValueError):  # "max": there is no limit
            found = min(found, int(Path(path).read_text()))
    return found


def available_cores() -> int:
    """The cores that this process may use, in a container those of the container."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class MemoryShare:
    """The default of a size: a part of the memory, and no more than ``most``."""

    def __init__(self, part: int, most: int) -> None:
        self._part, self._most = part, most
        self.__doc__ = f"1/{part} of the memory, at most `{written(most)}`"

    def __call__(self, data: Mapping[str, Any]) -> int:
        """The size, by the settings that were read before."""
        return min(self._most, int(data["memory_bytes"]) // self._part)


class Same:
    """The default of a setting that is as another one, ``name``."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.__doc__ = f"`GRADWIRE_{name.upper()}`"

    def __call__(self, data: Mapping[str, Any]) -> Any:
        """The other's value."""
        return data[self._name]


CACHE, LOCAL_CACHE, BUFFER, TAPE_VALUES = (
    MemoryShare(24, 256 * MEBIBYTE),
    MemoryShare(48, 512 * MEBIBYTE),
    MemoryShare(48, 128 * MEBIBYTE),
    MemoryShare(24, 256 * MEBIBYTE),
)
#: Bytes of the longest JSON number, with its comma, for each byte of a float64.
TEXT_PER_BYTE = 25 / 8
_QUEUE, _LEAVING = MemoryShare(24, 512 * MEBIBYTE), MemoryShare(12, 25 * GIBIBYTE // 8)


def default_processes(data: Mapping[str, Any]) -> int:
    """Twice as many as cores, plus one, so long requests do not block others.

    Fewer where there is little memory, but at least two.
    """
    if sys.platform == "win32":
        return 0
    room = (int(data["memory_bytes"]) - IDLE_BYTES) // _EACH_BYTES
    return max(min(2 * int(data["cores"]) + 1, room), 2)


def default_process_bytes(data: Mapping[str, Any]) -> int:
    """The memory that the service itself does not need, divided by the processes."""
    own = sum(int(data[name]) for name in ("cache_bytes", "local_cache_bytes", "buffer_bytes"))
    passing = 2 * _QUEUE(data) + _LEAVING(data)
    left = int(data["memory_bytes"]) - IDLE_BYTES - own - passing - stored_bytes(data)
    processes = int(data["processes"]) or default_processes(data)
    return max(left // (processes + int(data["job_processes"]) + 1), LEAST_PROCESS_BYTES)


def default_total_bytes(data: Mapping[str, Any]) -> int:
    """4/5 of `GRADWIRE_PROCESS_BYTES`, or 1/4 of the memory without processes; at most `4GiB`."""
    share = 4 * int(data["process_bytes"]) // 5
    return min(4 * GIBIBYTE, share if data["processes"] else int(data["memory_bytes"]) // 4)


def default_array_bytes(data: Mapping[str, Any]) -> int:
    """4/5 of `GRADWIRE_MAX_TOTAL_BYTES`, at most `1GiB`."""
    return min(GIBIBYTE, 4 * int(data["max_total_bytes"]) // 5)


def default_answer_bytes(data: Mapping[str, Any]) -> int:
    """1/38 of the memory, at most `1GiB`: what fits in `GRADWIRE_MAX_LEAVING_BYTES` as JSON."""
    return int(_LEAVING(data) / TEXT_PER_BYTE)


def default_queue_bytes(data: Mapping[str, Any]) -> int:
    """1/24 of the memory, at most `512MiB`, and at least `GRADWIRE_MAX_BODY_BYTES`."""
    return max(_QUEUE(data), int(data["max_body_bytes"]))


def default_leaving_bytes(data: Mapping[str, Any]) -> int:
    """1/12 of the memory, or 25/8 of `GRADWIRE_MAX_ANSWER_BYTES` if more."""
    return max(_LEAVING(data), int(TEXT_PER_BYTE * data["max_answer_bytes"]))


def is_in_memory(data: Mapping[str, Any]) -> bool:
    """True if settings read so far name a store in the memory of the service."""
    return bool(data["store"] == "memory:")


def default_store_bytes(data: Mapping[str, Any]) -> int:
    """`10.5GiB`; of a store in memory 7/32 of the memory, at most `3.5GiB`."""
    most = _ALL_UNITS[not is_in_memory(data)] * _UNIT_BYTES
    return min(most, 7 * int(data["memory_bytes"]) // 32) if is_in_memory(data) else most


def results_bytes(data: Mapping[str, Any]) -> int:
    """The most bytes of results by reference that are in memory beside a file."""
    return int(data["memory_bytes"]) // 16


def stored_bytes(data: Mapping[str, Any]) -> int:
    """The most memory that records may take."""
    if is_in_memory(data):
        return int(data["store_bytes"])
    return results_bytes(data) if str(data["store"]).startswith("local:") else 0


class StoreBytes:
    """The default of a limit of stored bytes, named ``name``: a part of all."""

    def __init__(self, name: str) -> None:
        self._units = _UNITS[name]
        parts = [f"{own}/{all_}" for own, all_ in zip(self._units, _ALL_UNITS, strict=True)]
        self.__doc__ = f"{parts[1]} of `GRADWIRE_STORE_BYTES`, of a store in memory {parts[0]}"

    def __call__(self, data: Mapping[str, Any]) -> int:
        """The limit, by the settings that were read before."""
        elsewhere = not is_in_memory(data)
        return int(data["store_bytes"]) * self._units[elsewhere] // _ALL_UNITS[elsewhere]


#: So few are not divided where the number of tenants is not known.
_FEW = 100


class TenantShare:
    """The default of a tenant's quota: its part of ``total``, one in ``least`` at most."""

    def __init__(self, total: str, least: int = 1) -> None:
        self._total, self._least = total, least
        self.__doc__ = f"`GRADWIRE_{total.upper()}` / `GRADWIRE_TENANTS`"
        if least > 1:
            self.__doc__ += f", at most 1/{least} of more than {_FEW}"

    def __call__(self, data: Mapping[str, Any]) -> int:
        """The quota, by the settings that were read before."""
        total, few = int(data[self._total]), _FEW if self._least > 1 else 1
        return max(total // max(self._least, int(data["tenants"])), min(total, few))
