"""Control groups that limit the memory of a program and all its child processes.

Source: the kernel's documentation, cgroup-v1/memory.rst and cgroup-v2.rst.
"""

from __future__ import annotations

import errno
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


class _Version(NamedTuple):
    """The file names of one version of the kernel's control groups."""

    root: Path
    limit: str
    #: The limit of memory and swap together (version 1), or of swap alone (version 2).
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
        with suppress(FileNotFoundError):  # missing if the kernel does not count swap
            swap = 0 if version.swap_is_apart else limit_bytes
            (self._folder / version.swap).write_text(str(swap))

    def around(self, command: Sequence[str]) -> list[str]:
        """A command that runs this one in the group, with only that group visible.

        This is like a container, in which only the group's folder is mounted.
        """
        script = 'echo $$ >"$0/cgroup.procs" && mount --bind "$0" "$1" && shift && exec "$@"'
        within = ["unshare", "--mount", "sh", "-c", script]
        return [*within, str(self._folder), str(self._version.root), *command]

    @property
    def held_bytes(self) -> int:
        """The memory of its processes alone, including anonymous files."""
        figures = self._figures("memory.stat")
        return sum(figures[name] for name in self._version.held)

    @property
    def shared_bytes(self) -> int:
        """The part of that memory in anonymous files."""
        return self._figures("memory.stat")["shmem"]

    @property
    def most_bytes(self) -> int:
        """The peak memory, including the page cache."""
        return int((self._folder / self._version.most).read_text())

    @property
    def killed(self) -> int:
        """The number of processes that the kernel's OOM killer has killed."""
        return self._figures(self._version.killed)["oom_kill"]

    def remove(self) -> None:
        """Kill the processes still in the group, and remove it."""
        while True:
            for pid in (self._folder / "cgroup.procs").read_text().split():
                with suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
            try:
                self._folder.rmdir()
                return
            except OSError as error:
                if error.errno != errno.EBUSY:
                    raise
            time.sleep(0.02)  # until the last process has ended

    def _figures(self, file: str) -> dict[str, int]:
        lines = (self._folder / file).read_text().splitlines()
        return {name: int(number) for name, number in (line.split() for line in lines)}


@contextmanager
def cgroup(name: str, limit_bytes: int) -> Iterator[Cgroup]:
    """A group that exists within the context."""
    made = Cgroup(name, limit_bytes)
    try:
        yield made
    finally:
        made.remove()


@cache
def why_not() -> str | None:
    """The reason why no groups can be created here, if there is one."""
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
