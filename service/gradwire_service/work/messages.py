"""A task, and what comes of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from gradwire_service.problems import Problem
from gradwire_service.scheduling import Deadline
from gradwire_service.wire.shared import Packed
from gradwire_service.work.request import Outcome


class Task(NamedTuple):
    """What to do, and all that its answer depends on: no key is among the headers."""

    name: str
    arguments: tuple[str, ...]
    headers: Mapping[bytes, bytes]
    owner: str
    deadline: Deadline
    body: Packed


class TaskDone(NamedTuple):
    """The answer: its body, and what there is to say of it."""

    body: Packed
    outcome: Outcome


class TaskFailed(NamedTuple):
    """What is wrong with the request, or with us; then ``trace`` is for the log."""

    problem: Problem
    trace: str | None
    outcome: Outcome
