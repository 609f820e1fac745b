"""The memory of a process as reported by the kernel; unlike ``ru_maxrss``, without its parent's."""

from __future__ import annotations

import re
from pathlib import Path


def resident_mib(pid: int | str = "self") -> float:
    """The current memory of a process, by default this one, in MiB."""
    return _mib("VmRSS", pid)


def peak_mib(pid: int | str = "self") -> float:
    """The peak memory in MiB since its start, or since ``forget_peak``."""
    return _mib("VmHWM", pid)


def forget_peak(pid: int | str = "self") -> None:
    """Reset the peak to the current memory."""
    (_of(pid) / "clear_refs").write_text("5")


def _mib(field: str, pid: int | str) -> float:
    return int(re.findall(rf"{field}:\s+(\d+)", (_of(pid) / "status").read_text())[0]) / 1024


def _of(pid: int | str) -> Path:
    return Path("/proc", str(pid))
