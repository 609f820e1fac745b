"""What may be done on the event loop."""

from __future__ import annotations

from typing import NamedTuple

from gradwire_engine.call import Call

from gradwire_service.scheduling.deadline import INLINE_SECONDS
from gradwire_service.settings import Settings


class InlineLimits(NamedTuple):
    """Replays of so many seconds, answers of so many bytes."""

    seconds: float
    nbytes: int

    def allow(self, call: Call) -> bool:
        """Whether what is compiled is predicted to be no longer."""
        return call.seconds < self.seconds and call.answer_bytes <= self.nbytes

    def for_groups(self) -> InlineLimits:
        """The same of replays that several requests may share, in a thread."""
        return self._replace(seconds=max(self.seconds, INLINE_SECONDS))


def inline_limits(settings: Settings) -> InlineLimits:
    """What the settings call short."""
    return InlineLimits(settings.inline_microseconds * 1e-6, settings.inline_body_bytes)
