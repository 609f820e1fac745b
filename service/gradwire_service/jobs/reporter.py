"""Writes to the store what becomes of a run, once that is a job."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from math import inf
from typing import Any

import orjson
from gradwire_solvers import Checkpoint

from gradwire_service.jobs import Cancelled, Held, Report, State, Transitions, Unknown
from gradwire_service.jobs.feeds import Blocking
from gradwire_service.jobs.transitions import MOST_EVENTS
from gradwire_service.problems import problem_of
from gradwire_service.store import Key, Record, Unavailable
from gradwire_service.store.quotas import OverQuota

logger = logging.getLogger("gradwire")

#: The least time between two reports of progress, and between events that are published to other
#: replicas in between.
_REPORTED_SECONDS, _PUBLISHED_SECONDS = 2.5, 0.5
#: The least time between two checkpoints: so long that few bytes are written each second, but never
#: longer than the work that a killed replica may lose.
_CHECKPOINT_BYTES_PER_SECOND = 370
_CHECKPOINT_SECONDS = 10.0, 90.0
#: Of a longer checkpoint, the point and the method's state are most.
_MOST_BRIEF_BYTES = 1 << 16
#: Time after which a lease is renewed with a report, and at the latest.
_RENEWED_SECONDS = 4.0, 5.5
#: Time between attempts while the store does not answer.
_RETRY_SECONDS = 1.0
#: How much too early a timer may be.
_EARLY_SECONDS = 0.001


class Reporter:
    """Reports the progress of a job that this replica runs, and its end.

    Each report is one command of the store, which is refused if the job is not as it was: so
    nothing else looks whether it was cancelled, or taken over. ``use_seconds`` is the time after
    which what a job needs is used again.
    """

    def __init__(
        self,
        transitions: Transitions,
        blocking: Blocking,
        held: Held,
        events: Sequence[tuple[int, str]],
        clock: Callable[[], float],
        use_seconds: float,
    ) -> None:
        self._transitions, self._blocking, self._held = transitions, blocking, held
        self._clock, self._use_seconds = clock, use_seconds
        #: The events that are stored: fewer than there are.
        self._stored = deque(events, MOST_EVENTS)
        self._latest: tuple[int, str] | None = None
        self._started_at = held.stored.job.started_at
        #: The latest checkpoint, unless it is stored, and when it may be.
        self._checkpoint: bytes | None = None
        self._keeps_from = -inf
        #: Whether other replicas listen, and what was published to them last.
        self._is_heard = False
        self._published: tuple[int, str] | None = None
        self._reported_at = self._published_at = -inf
        self._renewed_at = self._used_at = clock()
        self._retried_at = -inf
        self._is_asked = False

    def add(self, event: tuple[int, str], checkpoint: bytes | None, started_at: float) -> bool:
        """Add what is to be reported; whether nothing was waiting, so that it may be due sooner."""
        was_idle, self._latest = self._latest in (None, self._published), event
        self._started_at = self._started_at or started_at
        self._checkpoint = checkpoint or self._checkpoint
        return was_idle

    def ask(self) -> None:
        """Report at once: somebody else may have changed the job."""
        self._is_asked = True

    @property
    def delay(self) -> float:
        """The time until the next report."""
        due = self._renewed_at + max(_RENEWED_SECONDS)
        if self._latest is not None:
            due = min(due, self._reported_at + _REPORTED_SECONDS)
        if self._is_heard and self._latest not in (None, self._published):
            due = min(due, max(self._reported_at, self._published_at) + _PUBLISHED_SECONDS)
        if self._is_asked:
            due = -inf
        return max(due, self._retried_at + _RETRY_SECONDS) - self._clock() - _EARLY_SECONDS

    async def report(self) -> None:
        """Store what is new, and renew the lease if it is time; until then only publish it.

        Raises: ``Cancelled``, ``Interrupted``, ``Unavailable``.
        """
        now = self._clock()
        then = now + _EARLY_SECONDS
        is_due = then - self._reported_at >= _REPORTED_SECONDS
        least = min(_RENEWED_SECONDS) if is_due else max(_RENEWED_SECONDS)
        renew = self._is_asked or then - self._renewed_at >= least
        report = checkpoint = None
        latest = self._checkpoint
        if self._latest is not None and is_due:
            if latest is not None and then >= self._keeps_from:
                checkpoint = await self._blocking(_brief, latest)
            report = Report([*self._stored, self._latest], self._started_at, checkpoint)
        elif not renew and self._latest is not None:
            self._published, self._published_at = self._latest, now
            event = self._held, self._latest
            self._is_heard = await self._blocking(self._transitions.publish, *event) > 1
            return
        try:
            held, heard = await self._blocking(self._write, report, renew)
        except Unavailable:
            self._retried_at = now
            raise
        except OverQuota:
            self._reported_at = now
            return
        self._held, self._is_asked, self._retried_at = held, False, -inf
        if renew:
            self._renewed_at = now
        if report is not None:
            self._reported_at, self._is_heard = now, heard > 1
            self._stored = deque(report.events, MOST_EVENTS)
            if self._latest is report.events[-1]:
                self._latest = None
            if checkpoint is not None:
                shortest, longest = _CHECKPOINT_SECONDS
                seconds = max(shortest, len(checkpoint) / _CHECKPOINT_BYTES_PER_SECOND)
                self._keeps_from = now + min(seconds, longest)
                if held.log is not None and self._checkpoint is latest:  # there was room for it
                    self._checkpoint = None

    def _write(self, report: Report | None, renew: bool) -> tuple[Held, int]:
        if self._clock() - self._used_at >= self._use_seconds:
            self._used_at = self._clock()
            try:
                self._transitions.use(self._held.stored.key)
            except Unknown:
                raise Cancelled from None
        return self._transitions.report(self._held, report, renew=renew)

    def hand_over(self, *, counted: bool, announced: bool) -> None:
        """End the lease: the job goes on from here, elsewhere or later. May block."""
        self._transitions.hand_over(
            self._held, self._checkpoint, counted=counted, announced=announced
        )

    def end(
        self,
        answer: Record | Exception,
        events: Sequence[tuple[int, str]],
        ended_at: float,
        taken_at: float | None,
    ) -> State:
        """Store how the job has ended; returns its state, as it is then. May block.

        Raises: ``Interrupted``.
        """
        if isinstance(answer, Cancelled):
            return "cancelled"
        fields: dict[str, Any] = {"finished_at": ended_at, "taken_at": taken_at}
        result = None if isinstance(answer, Exception) else answer
        if isinstance(answer, Exception):
            problem = document_of(self._held.stored.key, answer)
            fields |= {"state": "failed", "problem": problem}
        else:
            fields["state"] = "succeeded"
        report = Report(events, self._started_at or ended_at)
        try:
            return self._transitions.end(self._held, fields, report, result).job.state
        except Unknown:  # deleted
            return "cancelled"


def _brief(checkpoint: bytes) -> bytes:
    """A checkpoint in as few bytes as pays."""
    if len(checkpoint) > _MOST_BRIEF_BYTES:
        return checkpoint
    return Checkpoint.read(checkpoint).brief()


def document_of(key: Key, error: Exception) -> dict[str, Any]:
    """The document of the problem with a job; an unexpected one is logged."""
    problem = problem_of(error)
    if not problem.expected:
        logger.error("a job failed", exc_info=error, extra={"job": key.id})
    document: dict[str, Any] = orjson.loads(problem.body(key.id))
    document["instance"] = f"urn:gradwire:job:{key.id}"
    return document
