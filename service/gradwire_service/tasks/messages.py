"""Messages: a task and its result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from gradwire_service.problems import ProblemDetails
from gradwire_service.scheduling import Deadline
from gradwire_service.scheduling.placement import Device
from gradwire_service.tasks.request import Outcome
from gradwire_service.wire.shared import SharedBody


class Task(NamedTuple):
    """A task, with all that its answer depends on; its headers contain no API key."""

    name: str
    arguments: tuple[str, ...]
    headers: Mapping[bytes, bytes]
    owner: str
    deadline: Deadline
    body: SharedBody
    #: Where an optimisation goes on; empty to begin at its start.
    checkpoint: bytes = b""
    #: The GPU where an optimisation may go on, if it pays.
    device: Device | None = None
    #: Who shares executors with others; empty where only the owner is known.
    tenant: str = ""


class TaskDone(NamedTuple):
    """The body of the answer, and its outcome."""

    body: SharedBody
    outcome: Outcome


class TaskFailed(NamedTuple):
    """The problem with a task; for unexpected errors, ``trace`` goes to the log."""

    problem: ProblemDetails
    trace: str | None
    outcome: Outcome
