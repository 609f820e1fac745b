"""Replicas that are forked from a process that has imported the service: they start in a moment.

    python -m tests.fleet.forks

Apart from that, each is a process like any other: with its own environment, log, signals, watchdog
and worker processes. What these are forked from is itself forked from the replica. The program
reads what to start, one JSON document a line, and writes its process id.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from itertools import pairwise
from multiprocessing import util
from pathlib import Path
from typing import NoReturn

_ROOT = Path(__file__).parents[2]
#: Linux: processes whose parent ends become children of the nearest process that asks for it.
_PR_SET_CHILD_SUBREAPER = 36
_POLL_SECONDS = 0.02


class Forked:
    """A child process, with what tests use of ``subprocess.Popen``."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """The exit status, if it has ended; negative after a signal."""
        if self.returncode is None:
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            if ended:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout: float = math.inf) -> int:
        """Wait until it has ended. Raises: ``subprocess.TimeoutExpired``."""
        end = time.monotonic() + timeout
        while (status := self.poll()) is None:
            if time.monotonic() > end:
                raise subprocess.TimeoutExpired(str(self.pid), timeout)
            time.sleep(_POLL_SECONDS)
        return status

    def send_signal(self, sent: signal.Signals) -> None:
        """Send it a signal, if it has not ended."""
        if self.poll() is None:
            os.kill(self.pid, sent)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def forked(arguments: Sequence[str], environment: Mapping[str, str], log: Path) -> Forked:
    """Run ``gradwire-server`` with these arguments in a process of its own."""
    mother = _mother()
    assert mother.stdin is not None
    assert mother.stdout is not None
    asked = {"arguments": [*arguments], "environment": {**environment}, "log": str(log)}
    mother.stdin.write(json.dumps(asked) + "\n")
    mother.stdin.flush()
    return Forked(int(mother.stdout.readline()))


@cache
def _mother() -> subprocess.Popen[str]:
    """The process that has imported the service, until this one ends."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    pipe = subprocess.PIPE
    made = subprocess.Popen(
        [sys.executable, "-m", __name__], stdin=pipe, stdout=pipe, text=True, cwd=_ROOT
    )
    atexit.register(_ended, made)
    return made


def _ended(mother: subprocess.Popen[str]) -> None:
    mother.communicate()


def _serve() -> None:
    """Start what is asked for, until there are no more questions."""
    import gradwire_service.__main__
    import gradwire_service.serving  # noqa: F401 - so that nobody else has to
    from gradwire_service.workers.forking import _COMPILER, _WORKERS

    for name in (*_WORKERS[1:], _COMPILER):  # the first is for the fork server alone
        import_module(name)
    gc.collect()
    gc.freeze()  # or each replica would go through it, and copy the pages that it is on
    vars(util)["spawnv_passfds"] = _spawned
    for line in sys.stdin:
        asked = json.loads(line)
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            pid = os.fork()
            if not pid:
                os.close(reading)
                os.close(writing)
                _become(**asked)
            os.write(writing, str(pid).encode())
            os._exit(0)  # so that the tests' process becomes the parent
        os.waitpid(child, 0)
        sys.stdout.write(f"{int(os.read(reading, 32))}\n")
        sys.stdout.flush()
        os.close(reading)
        os.close(writing)


def _become(arguments: list[str], environment: dict[str, str], log: str) -> NoReturn:
    """Be the program, in a process that was just forked."""
    from gradwire_service.__main__ import main

    status = 1
    try:
        nothing = os.open(os.devnull, os.O_RDONLY)
        written = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        for to, of in ((0, nothing), (1, written), (2, written)):
            os.dup2(of, to)
        os.close(nothing)
        os.close(written)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv = ["gradwire-server", *arguments]
        main(arguments)
        status = 0
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def _spawned(_: str, arguments: Sequence[str], passed: Sequence[int]) -> int:
    """Run a program of multiprocessing's, such as its fork server, in a process that is forked.

    In place of ``multiprocessing.util.spawnv_passfds``, which starts another Python for it.
    """
    if pid := os.fork():
        return pid
    status = 1
    try:
        most = os.sysconf("SC_OPEN_MAX")
        for low, high in pairwise([2, *sorted({*passed} - {0, 1, 2}), most]):
            os.closerange(low + 1, high)
        exec(arguments[-1], {})
        status = 0
    except SystemExit as ended:
        status = int(bool(ended.code))
    except BaseException:  # noqa: BLE001 - as Python itself does on exit
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(status)


if __name__ == "__main__":
    _serve()
