"""What one request came to: written down along its way, told when it is over."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.types import Scope

PHASES = ("parse", "compile", "replay", "encode")
_KEY = "gradwire.account"
_TIMING = b", ".join(phase.encode() + b";dur=%.3f" for phase in PHASES)


class Account:
    """The figures of one request, by which it is counted, logged and traced; never its values."""

    __slots__ = ("body_bytes", "program", "seconds", "tenant", "waited_seconds")

    def __init__(self) -> None:
        #: How long each of ``PHASES`` took.
        self.seconds = [0.0] * len(PHASES)
        #: How long it waited for threads.
        self.waited_seconds = 0.0
        #: Bytes of its body as they came.
        self.body_bytes = 0
        #: The id of its program.
        self.program: str | None = None
        #: The name of whose request it is.
        self.tenant: str | None = None


def account_of(scope: Scope) -> Account:
    """The account of the request of ``scope``; made once."""
    account: Account | None = scope.get(_KEY)
    if account is None:
        account = scope[_KEY] = Account()
    return account


def server_timing(seconds: Sequence[float]) -> bytes:
    """The phases' durations as the header ``Server-Timing`` gives them, in milliseconds."""
    return _TIMING % tuple([1000 * duration for duration in seconds])
