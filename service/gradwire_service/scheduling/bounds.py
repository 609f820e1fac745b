"""Limits of the queue, and estimates of how long work takes."""

from __future__ import annotations

import math
from typing import NamedTuple

from gradwire_service.problems import RequestError

#: The estimate before any task has run, and the weight of the newest task.
_FIRST_SECONDS, _NEWEST = 0.005, 0.1
_LEAST_SECONDS = 1e-9


class Bounds(NamedTuple):
    """Maximum waiting tasks, bytes of their bodies, and seconds of work."""

    requests: int
    nbytes: int
    seconds: float = math.inf


class DurationEstimate:
    """The expected duration of a task that has not run before: a mean of recent ones.

    The mean is geometric, and newer tasks weigh more.
    """

    def __init__(self) -> None:
        self._log = math.log(_FIRST_SECONDS)

    @property
    def seconds(self) -> float:
        """The expected duration of a task."""
        return math.exp(self._log)

    def learn(self, seconds: float) -> None:
        """Include the duration of a finished task."""
        self._log += _NEWEST * (math.log(max(seconds, _LEAST_SECONDS)) - self._log)


def overloaded(detail: str, retry_after_seconds: int) -> RequestError:
    """The error for requests beyond capacity."""
    return RequestError(
        "overloaded",
        detail,
        hint="retry after the time in the Retry-After header",
        retry_after_seconds=retry_after_seconds,
    )


def draining() -> RequestError:
    """The error for requests during shutdown."""
    return RequestError(
        "draining",
        "this replica is shutting down; retry on another one",
        retry_after_seconds=1,
    )
