"""The figures of one request, for metrics, its log line and its trace."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import TypeVar

from starlette.types import Scope

PHASES = ("parse", "compile", "replay", "encode")
#: The status of a request whose client went away before it was answered (nginx's number).
CLIENT_GONE = 499
_KEY = "gradwire.stats"
#: Most names of operations in a header.
_MOST_HOSTED = 20
_TIMING = b", ".join(name.encode() + b";dur=%.3f" for name in (*PHASES, "queue", "other", "total"))


@dataclass(slots=True, eq=False)
class RequestStats:
    """The figures of one request, filled in as they become known; never its values."""

    request_id: str = ""
    method: str = ""
    #: The path as it is declared, with the names of its parameters.
    route: str = "none"
    #: The status of the answer, ``CLIENT_GONE`` until there is one.
    status: int = CLIENT_GONE
    #: The code of its problem.
    code: str | None = None
    #: Its end, in seconds since 1970, and its duration.
    ended_at: float = 0.0
    seconds: float = 0.0
    #: Seconds of each of ``PHASES``, and of the wait for an executor.
    phases: list[float] = field(default_factory=lambda: [0.0] * len(PHASES))
    #: When it began, by ``perf_counter``.
    began_at: float = field(default_factory=perf_counter)
    waited_seconds: float = 0.0
    #: Bytes of body and answer as sent over the wire.
    body_bytes: int = 0
    answer_bytes: int = 0
    #: Whether the GPU computed it.
    on_gpu: bool = False
    #: The id of its program.
    program: str | None = None
    #: The tenant's public name, and the client's address.
    tenant: str | None = None
    client: str | None = None
    #: The trace that it is part of.
    trace_id: str | None = None

    def add_phases(self, phases: Sequence[float]) -> None:
        """Add durations of phases in another process, which ended just now."""
        for phase, seconds in enumerate(phases):
            self.phases[phase] += seconds

    def add_wait(self, since: float, seconds: float) -> None:
        """Add a wait for an executor; it began at ``since`` by ``perf_counter``."""
        self.waited_seconds += seconds


AnyStats = TypeVar("AnyStats", bound=RequestStats)


def stats_of(scope: Scope) -> RequestStats:
    """The stats of a request, made at the first call."""
    stats: RequestStats | None = scope.get(_KEY)
    return attached(scope, RequestStats()) if stats is None else stats


def attached(scope: Scope, stats: AnyStats) -> AnyStats:
    """Make ``stats`` those of the request of ``scope``."""
    scope[_KEY] = stats
    return stats


def server_timing(stats: RequestStats, *, hosted: Collection[str]) -> bytes:
    """The value of the header ``Server-Timing``: durations in milliseconds.

    Those of the phases, of the wait for an executor, and of all other work, as to receive the body
    and to hand it over, add up to the total, which ends where the response begins. ``gpu`` says
    that the GPU computed; ``host`` names the operations that it did not.
    """
    total, on_gpu = perf_counter() - stats.began_at, stats.on_gpu
    shown = [*stats.phases, stats.waited_seconds]
    timing = _TIMING % tuple([1000 * part for part in (*shown, total - sum(shown), total)])
    if on_gpu:
        timing += b", gpu"
    if hosted:
        timing += b', host;desc="%s"' % " ".join(sorted({*hosted})[:_MOST_HOSTED]).encode()
    return timing
