"""Rate limits of a key: a token bucket, and a count of concurrent requests."""

from __future__ import annotations

import math
from collections.abc import Callable
from time import monotonic
from typing import NamedTuple

from gradwire_service.problems import RequestError


class RateLimits(NamedTuple):
    """Requests per second, burst, and concurrent requests; 0 means unlimited."""

    requests_per_second: float = 0
    burst: int = 0
    concurrent: int = 0

    @property
    def most_tokens(self) -> float:
        """The capacity of the bucket: the burst, or else the requests of a second."""
        return float(self.burst or max(1, math.ceil(self.requests_per_second)))


class RateLimiter:
    """Limits the requests of one key. Only for the event loop, so without a lock."""

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
        #: All requests admitted so far, and all refused.
        self.requests = 0
        self.limited = 0

    @property
    def limits(self) -> RateLimits:
        return self._limits

    @limits.setter
    def limits(self, limits: RateLimits) -> None:
        """Change the limits; used tokens stay used."""
        self._limits, self._most = limits, limits.most_tokens

    def enter(self) -> None:
        """Admit a request.

        Raises: ``RequestError`` (rate_limited), without using a token.
        """
        per_second, _, concurrent = self._limits
        if concurrent and self.in_flight >= concurrent:
            raise self._limited(f"this key already has {concurrent} requests in flight", 1)
        if per_second:
            now = self._clock()
            tokens = self._tokens + (now - self._filled_at) * per_second
            self._tokens, self._filled_at = min(tokens, self._most), now
            if self._tokens < 1:
                wait = (1 - self._tokens) / per_second
                raise self._limited(
                    f"this key is limited to {per_second:g} requests per second",
                    max(1, math.ceil(wait)),
                )
            self._tokens -= 1
        self.in_flight += 1
        self.requests += 1

    def leave(self) -> None:
        """Count a request as finished."""
        self.in_flight -= 1

    def _limited(self, detail: str, seconds: int) -> RequestError:
        self.limited += 1
        return RequestError(
            "rate_limited",
            detail,
            hint="retry after the time in the Retry-After header, or send examples in one batch",
            retry_after_seconds=seconds,
        )
