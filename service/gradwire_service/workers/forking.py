"""The process that worker processes are forked from: a server that has imported what they need.

They start fast, share most memory, and inherit no threads. It imports no CUDA, whose state does not
survive a fork: the process that computes on a GPU opens that itself.
"""

from __future__ import annotations

from multiprocessing import forkserver, get_context

from gradwire_service.settings import Settings

FORKING = get_context("forkserver")
_WORKERS = ["gradwire_service.workers.fork_server", "gradwire_service.workers.worker"]
_COMPILER = "gradwire_service.workers.preloaded"


def preload(settings: Settings) -> None:
    """Set what the server imports when it starts."""
    FORKING.set_forkserver_preload([*_WORKERS, *([_COMPILER] if settings.machine_code else [])])


def start(settings: Settings) -> None:
    """Start the server, which imports for seconds; this process may do the same meanwhile."""
    preload(settings)
    forkserver.ensure_running()
