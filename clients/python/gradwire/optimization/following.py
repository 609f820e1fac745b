"""Following jobs: their events over lost connections, their end, and their cancellation."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from gradwire import hints
from gradwire.call import BlockingStep, Call, Fetch, Steps
from gradwire.errors import GradwireError, MalformedReply, RequestTimeout
from gradwire.events import ServerEvent
from gradwire.exchange import UNREADABLE
from gradwire.optimization.handles import JobDocument, JobHandle, JobProgress, path_of
from gradwire.optimization.results import OptimizeResult

#: The longest silence of a stream: the service sends a comment every 15 seconds.
SILENCE_SECONDS: Final = 60.0
#: The time between questions about a job whose events do not arrive.
POLL_SECONDS: Final = 1.0


class Following:
    """A job's stream of events over its connections, without I/O."""

    def __init__(
        self,
        job: JobHandle[Any],
        timeout: float | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._job = job
        self._clock = clock
        self._sleep = sleep
        self._end = None if timeout is None else clock() + timeout
        self._last_id: str | None = None
        self._is_alive = False

    def stream(self, hear: Callable[[ServerEvent], Any] = lambda _: None) -> Call[Any]:
        """The request for the events after the last one that was heard."""
        self._is_alive = False
        left = SILENCE_SECONDS if self._end is None else self._end - self._clock()
        return Call(
            "GET",
            f"{path_of(self._job.id)}/events",
            None,
            _nothing,
            timeout_seconds=min(SILENCE_SECONDS, max(left, 0.001)),
            hear=hear,
            last_event_id=self._last_id,
        )

    def heard(self, event: ServerEvent) -> JobProgress | None:
        """The progress that an event reports."""
        self._last_id = event.id or self._last_id
        if event.kind != "progress":
            return None
        self._is_alive = True
        try:
            progress = JobProgress.read(event.document)
        except UNREADABLE as error:
            problem = f"an event of job {self._job.id} cannot be read: {error}"
            raise MalformedReply(problem, hint=hints.OLD) from error
        self._job.document = _with_progress(self._job.document, progress)
        return progress

    def is_late(self) -> bool:
        """True once the time has passed."""
        return self._end is not None and self._clock() >= self._end

    def checked(self) -> Steps[JobProgress | None]:
        """After a stream has ended: progress that it has not reported, and a pause if it had none.

        If events do not arrive, as behind a proxy that holds them back, this is how they do.
        """
        job, known = self._job, self._job.progress
        yield from job.refreshed()
        if not job.done and self.is_late():
            raise RequestTimeout(
                f"job {job.id} is not done: it is {job.state}, and goes on",
                hint="wait again, with a longer timeout or none; job.cancel() stops it",
            )
        if not job.done and not self._is_alive:
            yield from _pause(POLL_SECONDS, self._sleep)
        return None if job.progress == known else job.progress


def followed(
    job: JobHandle[Any],
    report: Callable[[JobProgress], None] | None = None,
    timeout: float | None = None,
) -> Steps[None]:
    """The steps until a job is done, with each progress reported as it comes."""
    following = Following(job, timeout)
    raised: list[BaseException] = []

    def told(progress: JobProgress | None) -> None:
        try:
            if progress is not None and report is not None:
                report(progress)
        except BaseException as error:  # noqa: BLE001 - raised below, outside of the stream
            raised.append(error)

    def hear(event: ServerEvent) -> bool | None:
        told(following.heard(event))
        return (event.kind == "done" or bool(raised) or following.is_late()) or None

    while not job.done:
        with suppress(GradwireError):  # an error that stays is that of the question after it, too
            yield from following.stream(hear)
        if not raised:
            told((yield from following.checked()))
        if raised:
            raise raised[0]


def waited(job: JobHandle[Any], timeout: float | None = None) -> Steps[OptimizeResult]:
    """The steps to the result of a job."""
    yield from followed(job, timeout=timeout)
    yield from completed(job)
    return job.answer()


def completed(job: JobHandle[Any]) -> Steps[None]:
    """The steps to the result of a job that is done, if it has one."""
    if job.state == "succeeded" and job.document.result is None:
        yield from job.refreshed()


def cancelled(job: JobHandle[Any]) -> Steps[None]:
    """The steps that stop a job; one that is done stays as it is."""
    yield from job.refreshed()
    if not job.done:
        yield from deletion(job.id)
        yield from job.refreshed()


def deleted(job: JobHandle[Any]) -> Steps[None]:
    """The steps that stop a job, if it is not done, and forget it."""
    yield from cancelled(job)
    yield from deletion(job.id)


def deletion(job: str) -> Call[None]:
    """The request that cancels a job, or forgets one that is done."""
    return Call("DELETE", path_of(job), None, _nothing)


def _with_progress(document: JobDocument, progress: JobProgress) -> JobDocument:
    state = "running" if document.state == "queued" else document.state
    return replace(document, state=state, progress=progress)


def _pause(seconds: float, sleep: Callable[[float], object]) -> BlockingStep[None]:
    def pause(_: Fetch) -> None:
        sleep(seconds)

    return BlockingStep(pause)


def _nothing(_: Any) -> None:
    """Read nothing."""
