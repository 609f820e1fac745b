"""A parent process that kills the service when its event loop is stuck.

Clients of a stuck process wait for long, since its connections stay open. Killing it resets them: a
proxy retries on another replica, and the supervisor restarts the service.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import NoReturn

from gradwire_service.settings import Settings

#: Signals to the parent that are passed on to the service.
_PASSED_ON = [
    getattr(signal, name)
    for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
    if hasattr(signal, name)
]
_PR_SET_PDEATHSIG = 1
#: A process ended by a signal has this exit status plus the signal, as in shells.
_ENDED_BY_SIGNAL = 128


class Heartbeat:
    """Shows the parent that the event loop is running."""

    def __init__(self, writing: int) -> None:
        os.set_blocking(writing, False)
        self._writing: int | None = writing

    def beat(self) -> None:
        """Notify the parent; if it has ended, terminate."""
        if self._writing is None:
            return
        try:
            os.write(self._writing, b".")
        except BlockingIOError:  # the parent is suspended, and will find enough beats
            return
        except BrokenPipeError:
            self.end()
            signal.raise_signal(signal.SIGTERM)

    def end(self) -> None:
        """End the watch: from now on work may take any time."""
        if self._writing is not None:
            os.close(self._writing)
            self._writing = None


def watched(serve: Callable[[Settings, Heartbeat | None], int], settings: Settings) -> int:
    """Serve in a child process, and kill it when it is silent; returns the exit status.

    Without ``watchdog_seconds``, without worker processes (threads may block the event loop) and
    where processes cannot be forked, this process itself serves.
    """
    if not (settings.watchdog_seconds and settings.processes and hasattr(os, "fork")):
        return serve(settings, None)
    reading, writing = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    # Blocked until there is a child to pass them on to.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _PASSED_ON)
    child = os.fork()
    if child == 0:
        os.close(reading)
        end_with_parent()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        _end(serve, settings, Heartbeat(writing))
    os.close(writing)
    for number in _PASSED_ON:
        signal.signal(number, lambda sent, _: _pass_on(child, sent))
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    silent = _falls_silent(reading, settings.watchdog_seconds)
    if silent:
        os.kill(child, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if silent:
        _log_kill(settings)
    return status if status >= 0 else _ENDED_BY_SIGNAL - status


def _end(
    serve: Callable[[Settings, Heartbeat | None], int], settings: Settings, heartbeat: Heartbeat
) -> NoReturn:
    """Serve and exit, without returning to the parent's code."""
    status = 1
    try:
        status = serve(settings, heartbeat)
    except SystemExit as ended:  # uvicorn exits like this if it cannot listen
        status = ended.code if isinstance(ended.code, int) else 1
    except BaseException:  # noqa: BLE001 - as Python itself does on exit
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def end_with_parent() -> None:
    """Have the system kill this process when its parent ends. Only for Linux: prctl(2)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _falls_silent(reading: int, seconds: float) -> bool:
    """Wait until no beat arrives for ``seconds`` (true), or the pipe closes (false).

    Counting begins with the first beat. Two halves must pass: when all processes resume after a
    suspension, the first one has passed at once.
    """
    missed, patience = 0, None
    while missed < 2:
        if not select.select([reading], [], [], patience)[0]:
            missed += 1
            continue
        if not os.read(reading, select.PIPE_BUF):
            return False
        missed, patience = 0, seconds / 2
    return True


def _pass_on(child: int, sent: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(child, sent)


def _log_kill(settings: Settings) -> None:
    """Write a line of the log; importing the logging code would take a second."""
    seconds = settings.watchdog_seconds
    line = {
        "time": f"{datetime.now(UTC).replace(tzinfo=None).isoformat()}Z",
        "level": "error",
        "event": f"the service was killed: its event loop was stuck for {seconds:g} s",
        "logger": "gradwire",
    }
    if settings.log_format == "json":
        sys.stderr.write(f"{json.dumps(line)}\n")
    else:
        sys.stderr.write("{time} [{level}] {event} [{logger}]\n".format_map(line))
