"""A parent process that kills the service when its event loop is stuck.

What waits for a process that is stuck waits for long: its connections stay open. Once it is killed
they are reset, so that a proxy asks another replica, and who started the service starts it again.
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

#: What is sent to the parent is meant for the service.
_PASSED_ON = [
    getattr(signal, name)
    for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
    if hasattr(signal, name)
]
_PR_SET_PDEATHSIG = 1
#: The status of a process that a signal has ended, as shells tell it.
_ENDED_BY_SIGNAL = 128


class Heartbeat:
    """By this the parent hears that the event loop goes round."""

    def __init__(self, writing: int) -> None:
        os.set_blocking(writing, False)
        self._writing: int | None = writing

    def beat(self) -> None:
        """Tell the parent; where it has gone, stop as if it had said so."""
        if self._writing is None:
            return
        try:
            os.write(self._writing, b".")
        except BlockingIOError:  # it is stopped itself, and will find enough
            return
        except BrokenPipeError:
            self.end()
            signal.raise_signal(signal.SIGTERM)

    def end(self) -> None:
        """Be watched no longer: what is begun now may take its time."""
        if self._writing is not None:
            os.close(self._writing)
            self._writing = None


def watched(serve: Callable[[Settings, Heartbeat | None], int], settings: Settings) -> int:
    """Serve in a child of this process, and kill it when it is silent; gives the exit status.

    Without ``watchdog_seconds``, without processes (threads may hold the event loop up) and where
    processes cannot be forked, this process itself serves.
    """
    if not (settings.watchdog_seconds and settings.processes and hasattr(os, "fork")):
        return serve(settings, None)
    reading, writing = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    # Held back until there is somebody to pass them on to.
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
        _tell(settings)
    return status if status >= 0 else _ENDED_BY_SIGNAL - status


def _end(
    serve: Callable[[Settings, Heartbeat | None], int], settings: Settings, heartbeat: Heartbeat
) -> NoReturn:
    """Serve and exit: nothing that the parent has begun is for the child to go on with."""
    status = 1
    try:
        status = serve(settings, heartbeat)
    except SystemExit as ended:  # so uvicorn ends where it cannot listen
        status = ended.code if isinstance(ended.code, int) else 1
    except BaseException:  # noqa: BLE001 - as Python itself does at its end
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def end_with_parent() -> None:
    """Have the system kill this process when its parent ends. Only Linux does it: prctl(2)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _falls_silent(reading: int, seconds: float) -> bool:
    """Wait until nothing comes for so long, or nothing will come any more.

    Counting begins with the first beat. Two halves have to pass: when all processes were stopped
    and go on, as after a suspended session, the first is over at once.
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


def _tell(settings: Settings) -> None:
    """A line of the log; to import what writes all others would take a second."""
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
