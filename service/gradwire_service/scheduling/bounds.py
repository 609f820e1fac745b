"""What a queue refuses, and how long it expects work to take."""

from __future__ import annotations

import math
from typing import NamedTuple

from gradwire_service.problems import Refusal

#: What a task is expected to take before any has run, and how much the newest one counts.
_FIRST_SECONDS, _NEWEST = 0.005, 0.1
_LEAST_SECONDS = 1e-9


class Bounds(NamedTuple):
    """How much may wait: tasks, bytes of their bodies, and how long all of it may take."""

    requests: int
    nbytes: int
    seconds: float = math.inf


class DurationEstimate:
    """How long a task of unknown duration is expected to take: a mean of recent ones.

    It is geometric, and newer ones count more.
    """

    def __init__(self) -> None:
        self._log = math.log(_FIRST_SECONDS)

    @property
    def seconds(self) -> float:
        """What a task is expected to take."""
        return math.exp(self._log)

    def learn(self, seconds: float) -> None:
        """Count a task that was done."""
        self._log += _NEWEST * (math.log(max(seconds, _LEAST_SECONDS)) - self._log)


def overloaded(detail: str, retry_after_seconds: int) -> Refusal:
    """The refusal of what is more than is taken at a time."""
    return Refusal(
        "overloaded",
        detail,
        hint="retry after the time in the Retry-After header",
        retry_after_seconds=retry_after_seconds,
    )


def draining() -> Refusal:
    """The refusal of what comes when the service is about to stop."""
    return Refusal(
        "draining",
        "this replica is shutting down; retry on another one",
        retry_after_seconds=1,
    )
