"""How often a key may ask, and how much at once: a bucket of tokens and a count, each key's own."""

from __future__ import annotations

import math
from collections.abc import Callable
from time import monotonic
from typing import NamedTuple

from gradwire_service.problems import Refusal


class RateLimits(NamedTuple):
    """Requests a second, as many at once after a pause, and under way; 0 for any number."""

    requests_per_second: float = 0
    burst: int = 0
    concurrent: int = 0

    @property
    def most_tokens(self) -> float:
        """What the bucket holds: without a burst of its own, what comes in a second."""
        return float(self.burst or max(1, math.ceil(self.requests_per_second)))


class RateLimiter:
    """What one key has asked of this process. Only on the event loop, so without a lock."""

    __slots__ = (
        "_clock",
        "_filled_at",
        "_limits",
        "_most",
        "_tokens",
        "in_flight",
        "limited",
        "requests",
    )

    def __init__(self, limits: RateLimits, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._limits = limits
        self._most = self._tokens = limits.most_tokens
        self._filled_at = clock()
        self.in_flight = 0
        #: How many were let in ever, and how many not.
        self.requests = 0
        self.limited = 0

    @property
    def limits(self) -> RateLimits:
        return self._limits

    @limits.setter
    def limits(self, limits: RateLimits) -> None:
        """Go on by other figures; what is used up stays used up."""
        self._limits, self._most = limits, limits.most_tokens

    def enter(self) -> None:
        """Count a request in.

        Raises: ``Refusal`` (rate_limited), which costs the key nothing.
        """
        per_second, _, concurrent = self._limits
        if concurrent and self.in_flight >= concurrent:
            raise self._limited(f"{concurrent} requests of this key are under way", 1)
        if per_second:
            now = self._clock()
            tokens = self._tokens + (now - self._filled_at) * per_second
            self._tokens, self._filled_at = min(tokens, self._most), now
            if self._tokens < 1:
                wait = (1 - self._tokens) / per_second
                raise self._limited(
                    f"this key may ask {per_second:g} times a second", max(1, math.ceil(wait))
                )
            self._tokens -= 1
        self.in_flight += 1
        self.requests += 1

    def leave(self) -> None:
        """Count the request out."""
        self.in_flight -= 1

    def _limited(self, detail: str, seconds: int) -> Refusal:
        self.limited += 1
        return Refusal(
            "rate_limited",
            detail,
            hint="retry after the time in the Retry-After header, or send examples in one batch",
            retry_after_seconds=seconds,
        )
