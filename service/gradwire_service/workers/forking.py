"""The process that worker processes are forked from: a server that has imported what they need.

They start fast, share most memory, and inherit no threads. It imports no CUDA, whose state does not
survive a fork: the process that computes on a GPU opens that itself.
"""

from __future__ import annotations

import os
import tempfile
from multiprocessing import forkserver, get_context
from pathlib import Path

from gradwire_service.settings import Settings
from gradwire_service.settings.errors import StartupError

FORKING = get_context("forkserver")
_WORKERS = [
    "gradwire_service.workers.fork_server",
    "gradwire_service.workers.worker",
    # What other processes do not import, since it brings SciPy's optimisers.
    *(f"gradwire_solvers.{name}" for name in ("minimizing", "roots", "squares")),
]
_COMPILER = "gradwire_service.workers.preloaded"
#: Writable even in read-only containers.
_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - multiprocessing makes a folder of its own in it


class NoTemporaryFolder(StartupError):
    """There is no folder for temporary files, which worker processes need."""


def preload(settings: Settings) -> None:
    """Set what the server imports when it starts.

    Raises: ``NoTemporaryFolder``.
    """
    _find_temporary_folder()
    FORKING.set_forkserver_preload([*_WORKERS, *([_COMPILER] if settings.machine_code else [])])


def start(settings: Settings) -> None:
    """Start the server, which imports for seconds; this process may do the same meanwhile.

    Raises: ``NoTemporaryFolder``.
    """
    preload(settings)
    forkserver.ensure_running()


def _find_temporary_folder() -> None:
    """Ensure a folder for the socket through which processes are started.

    Raises: ``NoTemporaryFolder``.
    """
    try:
        tempfile.gettempdir()
    except FileNotFoundError as error:
        if not os.access(_SHARED_MEMORY, os.W_OK):
            raise NoTemporaryFolder(
                "worker processes need a folder for temporary files: "
                f"{error.strerror}; mount one at /tmp, set TMPDIR, or set GRADWIRE_PROCESSES=0"
            ) from None
        tempfile.tempdir = str(_SHARED_MEMORY)
