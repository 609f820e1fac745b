"""What the service and its processes say to each other."""

from __future__ import annotations

import signal
from collections.abc import Collection, Sequence
from typing import NamedTuple

from gradwire_engine.answer import Kind

from gradwire_service.access.keyring import Caller
from gradwire_service.capacity import Deadline
from gradwire_service.problems import Problem
from gradwire_service.wire.references import ShelfName

#: The signal that asks a process to stop what it does; it stays where it is until the next poll.
STOP = signal.SIGUSR1


class Asked(NamedTuple):
    """A request, as far as an answer depends on it: no key is among its headers."""

    kind: Kind
    headers: Sequence[tuple[bytes, bytes]]
    body: bytes
    caller: Caller
    deadline: Deadline


class Lookup(NamedTuple):
    """What is held there under a reference? The answer is the value, or None."""

    shelf: ShelfName
    reference: str


class Learned(NamedTuple):
    """What is known of a request by now: the time that it has, and what its replay will hold."""

    allowed_ms: float
    held_bytes: int


class Computed(NamedTuple):
    """An answer, and what there is to count of it.

    ``next_seconds`` is how long the next replay is predicted to take.
    """

    body: Sequence[bytes]
    seconds: Sequence[float]
    program: str | None
    cached: bool
    nonfinite: Collection[str]
    next_seconds: float
    next_bytes: int


class Failed(NamedTuple):
    """What is wrong with the request, or with us; then ``trace`` is for the log."""

    problem: Problem
    trace: str | None
