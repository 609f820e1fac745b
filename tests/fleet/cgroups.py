"""Control groups that limit the memory of a program and of all that it starts.

Source: the kernel's documentation, cgroup-v1/memory.rst and cgroup-v2.rst.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

_REMOVED_SECONDS = 10.0


class _Version(NamedTuple):
    """What files a version of the kernel's control groups has."""

    root: Path
    limit: str
    #: Of memory and swap together, or of swap alone.
    swap: str
    swap_is_apart: bool
    killed: str
    held: tuple[str, ...]
    most: str


_VERSIONS = (
    _Version(
        Path("/sys/fs/cgroup"),
        "memory.max",
        "memory.swap.max",
        True,
        "memory.events",
        ("anon", "shmem"),
        "memory.peak",
    ),
    _Version(
        Path("/sys/fs/cgroup/memory"),
        "memory.limit_in_bytes",
        "memory.memsw.limit_in_bytes",
        False,
        "memory.oom_control",
        ("rss", "shmem"),
        "memory.max_usage_in_bytes",
    ),
)


class Cgroup:
    """A group of processes that share ``limit_bytes`` of memory, and no swap."""

    def __init__(self, name: str, limit_bytes: int) -> None:
        version = next((one for one in _VERSIONS if _has_memory(one.root)), None)
        if version is None:
            raise OSError("no control groups for memory are mounted")
        self._version = version
        self._folder = version.root / f"gradwire-{os.getpid()}-{name}"
        self._folder.mkdir()
        self.limit_bytes = limit_bytes
        (self._folder / version.limit).write_text(str(limit_bytes))
        with suppress(FileNotFoundError):  # where the kernel does not count swap
            swap = 0 if version.swap_is_apart else limit_bytes
            (self._folder / version.swap).write_text(str(swap))

    def around(self, command: Sequence[str]) -> list[str]:
        """The command that runs this one in the group, which is the only one that it sees.

        As in a container, where the group's folder is what is mounted.
        """
        script = 'echo $$ >"$0/cgroup.procs" && mount --bind "$0" "$1" && shift && exec "$@"'
        within = ["unshare", "--mount", "sh", "-c", script]
        return [*within, str(self._folder), str(self._version.root), *command]

    @property
    def held_bytes(self) -> int:
        """What its processes hold and nobody else does; files without a name, too."""
        figures = self._figures("memory.stat")
        return sum(figures[name] for name in self._version.held)

    @property
    def shared_bytes(self) -> int:
        """What of that is in files without a name."""
        return self._figures("memory.stat")["shmem"]

    @property
    def most_bytes(self) -> int:
        """The most that it has taken at a time, pages of files among it."""
        return int((self._folder / self._version.most).read_text())

    @property
    def killed(self) -> int:
        """How many of its processes the kernel has killed for want of memory."""
        return self._figures(self._version.killed)["oom_kill"]

    def remove(self) -> None:
        """End what still runs in it, and forget it."""
        end = time.monotonic() + _REMOVED_SECONDS
        while True:
            for pid in (self._folder / "cgroup.procs").read_text().split():
                with suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
            try:
                self._folder.rmdir()
                return
            except OSError:  # until the last has ended
                if time.monotonic() > end:
                    raise
            time.sleep(0.02)

    def _figures(self, file: str) -> dict[str, int]:
        lines = (self._folder / file).read_text().splitlines()
        return {name: int(number) for name, number in (line.split() for line in lines)}


@contextmanager
def cgroup(name: str, limit_bytes: int) -> Iterator[Cgroup]:
    """A group that is there for a while."""
    made = Cgroup(name, limit_bytes)
    try:
        yield made
    finally:
        made.remove()


@cache
def why_not() -> str | None:
    """Why no groups can be made here, if so."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "control groups are made by root, on Linux"
    if shutil.which("unshare") is None:
        return "unshare is not installed"
    try:
        with cgroup("try", 64 << 20) as made:
            subprocess.run(made.around(["true"]), check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        return f"no control group can be made: {error}"
    return None


def _has_memory(root: Path) -> bool:
    controllers = root / "cgroup.controllers"
    if controllers.exists():
        return "memory" in controllers.read_text().split()
    return (root / "memory.limit_in_bytes").exists()
