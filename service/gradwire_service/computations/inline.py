"""Limits for work on the event loop."""

from __future__ import annotations

from typing import NamedTuple

from gradwire_engine import Call

from gradwire_service.scheduling.deadline import INLINE_SECONDS
from gradwire_service.settings import Settings


class InlineLimits(NamedTuple):
    """Maximum seconds of a replay, and maximum bytes of its answer."""

    seconds: float
    nbytes: int

    def allow(self, call: Call) -> bool:
        """True if a compiled call is predicted to be within the limits."""
        return call.seconds < self.seconds and call.answer_bytes <= self.nbytes

    def for_groups(self) -> InlineLimits:
        """The limits of replays that several requests can share, in a thread."""
        return self._replace(seconds=max(self.seconds, INLINE_SECONDS))


def inline_limits(settings: Settings) -> InlineLimits:
    """The limits in the settings."""
    return InlineLimits(settings.inline_microseconds * 1e-6, settings.inline_body_bytes)
