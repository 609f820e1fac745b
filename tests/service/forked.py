"""Processes that are forked from one that has loaded the service: a tenth of a second, not two."""

from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

#: The service's own processes come from the same one.
FORKING = get_context("forkserver")
FORKING.set_forkserver_preload(["gradwire_service.workers.worker", "gradwire_service.serving"])
_WRITING = """
import os
_to = os.open(written, os.O_WRONLY | os.O_CREAT, 0o600)
os.dup2(_to, 1)
os.dup2(_to, 2)
"""


def forked(program: str, written: Path | None = None, **names: Any) -> BaseProcess:
    """A process that runs a program in which these names are given; what it writes goes there."""
    if written is not None:
        program = _WRITING + program
        names["written"] = str(written)
    # Not a function of ours: it would be imported where tests are not.
    process = FORKING.Process(target=exec, args=(program, names))
    process.start()
    return process
