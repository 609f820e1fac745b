"""What one request came to: written down along its way, told when it is over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from starlette.types import Scope

PHASES = ("parse", "compile", "replay", "encode")
#: The status under which a request is told of that nobody waited for any more.
CLIENT_GONE = 499
_KEY = "gradwire.account"
_TIMING = b", ".join(phase.encode() + b";dur=%.3f" for phase in PHASES)


class Account:
    """The figures of one request, by which it is counted, logged and traced; never its values."""

    __slots__ = (
        "answer_bytes",
        "body_bytes",
        "client",
        "code",
        "ended_at",
        "method",
        "phases",
        "program",
        "request_id",
        "route",
        "seconds",
        "status",
        "tenant",
        "trace_id",
        "waited_seconds",
    )

    def __init__(self) -> None:
        self.request_id = ""
        self.method = ""
        #: The path as it is declared, with the names of its parameters.
        self.route = "none"
        #: What it was answered with; nobody waits for an answer until there is one.
        self.status = CLIENT_GONE
        #: The code of its problem.
        self.code: str | None = None
        #: When it was over, in seconds since 1970, and how long it took.
        self.ended_at = 0.0
        self.seconds = 0.0
        #: Seconds that each of ``PHASES`` took, and that it waited for an executor.
        self.phases: list[float] = [0.0] * len(PHASES)
        self.waited_seconds = 0.0
        #: Bytes of its body as they came, and of the answer's as they went.
        self.body_bytes = 0
        self.answer_bytes = 0
        #: The id of its program.
        self.program: str | None = None
        #: Whose it is, by a name that is no secret, and from where.
        self.tenant: str | None = None
        self.client: str | None = None
        #: The trace that it is part of.
        self.trace_id: str | None = None

    def take_over(self, phases: Sequence[float]) -> None:
        """Count also what the phases took elsewhere, just now."""
        for phase, seconds in enumerate(phases):
            self.phases[phase] += seconds

    def wait(self, since: float, seconds: float) -> None:
        """Count what it waited for an executor, ``since`` when by ``perf_counter``."""
        self.waited_seconds += seconds


AnyAccount = TypeVar("AnyAccount", bound=Account)


def account_of(scope: Scope) -> Account:
    """The account of the request of ``scope``; made once."""
    account: Account | None = scope.get(_KEY)
    return opened(scope, Account()) if account is None else account


def opened(scope: Scope, account: AnyAccount) -> AnyAccount:
    """Make ``account`` that of the request of ``scope``."""
    scope[_KEY] = account
    return account


def server_timing(seconds: Sequence[float]) -> bytes:
    """The phases' durations as the header ``Server-Timing`` gives them, in milliseconds."""
    return _TIMING % tuple([1000 * duration for duration in seconds])
