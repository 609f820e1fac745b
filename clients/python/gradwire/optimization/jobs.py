"""Jobs: optimisations that go on after the answer to the request that began them."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import aclosing, closing, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar
from urllib.parse import quote

from gradwire import hooks
from gradwire.call import BlockingStep, Call, Conversation, Fetch, Reply, Steps
from gradwire.documents import Document
from gradwire.errors import GradwireError, JobCancelled, RequestTimeout, problem_error
from gradwire.events import ServerEvent
from gradwire.methods import AwaitingListener, BlockingListener, sent
from gradwire.optimization.results import OptimizeResult, result_of
from gradwire.usage import check_reference

T = TypeVar("T")
L = TypeVar("L", BlockingListener, AwaitingListener)

State: TypeAlias = Literal["queued", "running", "succeeded", "failed", "cancelled"]
#: The states that do not change any more.
DONE: Final = frozenset({"succeeded", "failed", "cancelled"})
#: The longest silence of a stream: the service sends a comment every 15 seconds.
SILENCE_SECONDS: Final = 60.0
#: The time between questions about a job whose events do not arrive.
POLL_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class JobProgress(Document):
    """How far an optimisation is."""

    iteration: int
    #: The value, the cost of ``least_squares``, or the size of the values of ``root``.
    value: float | None
    #: The largest element of the gradient; of ``root``, of the values.
    gradient_norm: float | None
    #: The time since its start.
    seconds: float
    #: Iterations per second.
    rate: float | None
    #: ``None`` unless the number of iterations is limited.
    seconds_left: float | None


@dataclass(frozen=True, slots=True)
class JobDocument(Document):
    """A job as the service describes it."""

    id: str
    kind: str
    state: str
    created_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    #: The time when the service forgets it.
    expires_at: datetime | None = None
    #: How often it was resumed after its process had ended.
    resumed: int = 0
    progress: JobProgress | None = None
    result: Any = None
    problem: Mapping[str, Any] | None = None


class JobHandle(Generic[L]):
    """A job, as it was when it was last asked about."""

    def __init__(
        self,
        client: L,
        document: JobDocument,
        read: Callable[[Any], OptimizeResult] | None = None,
        source: str | None = None,
    ) -> None:
        self.client: L = client
        #: The latest description that has arrived.
        self.document: JobDocument = document
        self._read = read
        self._source = source

    def __repr__(self) -> str:
        return hooks.display().text(self)

    def _repr_html_(self) -> str:
        return hooks.display().card(self)

    @property
    def id(self) -> str:
        """Its id, by which ``client.jobs.get`` finds it."""
        return self.document.id

    @property
    def kind(self) -> str:
        """``minimize``, ``least_squares`` or ``root``."""
        return self.document.kind

    @property
    def state(self) -> str:
        """``queued``, ``running``, ``succeeded``, ``failed`` or ``cancelled``."""
        return self.document.state

    @property
    def progress(self) -> JobProgress | None:
        """How far it is; ``None`` before its first iteration."""
        return self.document.progress

    @property
    def done(self) -> bool:
        """True once it has succeeded, failed, or been cancelled."""
        return self.state in DONE

    def answer(self) -> OptimizeResult:
        """The result of a job that is done, or its error."""
        found = self.document
        if found.state == "succeeded":
            return self.read(found.result)
        if found.problem is not None:
            raise problem_error(found.problem, source=self._source)
        if found.state == "cancelled":
            raise JobCancelled(f"job {found.id} was cancelled", status=409, code="job_cancelled")
        raise RuntimeError(f"job {found.id} is {found.state}")

    def read(self, answer: Any) -> OptimizeResult:
        """The result that an answer describes, nested as the start was if it was given here."""
        return result_of(self.kind, answer) if self._read is None else self._read(answer)

    def refreshed(self) -> Call[None]:
        """The question how it is now."""

        def read(reply: Reply) -> None:
            self.document = JobDocument.read(reply.document)

        return Call("GET", path_of(self.id), None, read)


class JobMethods(JobHandle[L]):
    """What a client asks about one job."""

    @sent
    def refresh(self) -> Call[None]:
        """Ask how it is now."""
        return self.refreshed()

    @sent
    def wait(self, timeout: float | None = None) -> Steps[None]:
        """Wait until it is done; ``RequestTimeout`` after ``timeout`` seconds."""
        return followed(self, timeout=timeout)

    @sent
    def result(self, timeout: float | None = None) -> Steps[OptimizeResult]:
        """Its result, once it is done, or its error; it goes on if the time is over before.

        >>> client.minimize("(x - 3)**2", {"x": 0.0}, background=True).result(timeout=60).x
        {'x': np.float64(3.0)}
        """
        return waited(self, timeout)

    @sent
    def cancel(self) -> Steps[None]:
        """Stop it, unless it is done."""
        return cancelled(self)

    @sent
    def delete(self) -> Steps[None]:
        """Stop it, if it is not done, and forget it."""
        return deleted(self)


class Job(JobMethods[BlockingListener]):
    """A job of a ``Client``; iterating over it gives its progress until it is done."""

    def run(self, asked: Conversation[T]) -> T:
        """Run a call with the client."""
        return self.client.run(asked)

    def __iter__(self) -> Iterator[JobProgress]:
        return self.events()

    def events(self) -> Iterator[JobProgress]:
        """Its progress as it comes, until it is done; connections that are lost are renewed."""
        following = Following(self)
        while not self.done:
            with suppress(GradwireError), closing(self.client.listen(following.stream())) as events:
                for progress in map(following.heard, events):
                    if progress is not None:
                        yield progress
            progress = self.client.run(following.checked())
            if progress is not None:
                yield progress


class AsyncJob(JobMethods[AwaitingListener]):
    """As ``Job``, of an ``AsyncClient``."""

    def run(self, asked: Conversation[T]) -> Coroutine[Any, Any, T]:
        """Run a call with the client."""
        return self.client.run(asked)

    def __aiter__(self) -> AsyncIterator[JobProgress]:
        return self.events()

    async def events(self) -> AsyncIterator[JobProgress]:
        """As ``Job.events``."""
        following = Following(self)
        while not self.done:
            with suppress(GradwireError):
                async with aclosing(self.client.listen(following.stream())) as events:
                    async for event in events:
                        progress = following.heard(event)
                        if progress is not None:
                            yield progress
            progress = await self.client.run(following.checked())
            if progress is not None:
                yield progress


class Following:
    """A job's stream of events over its connections, without I/O."""

    def __init__(self, job: JobHandle[Any], timeout: float | None = None) -> None:
        self._job = job
        self._end = None if timeout is None else time.monotonic() + timeout
        self._last_id: str | None = None
        self._is_alive = False

    def stream(self, hear: Callable[[ServerEvent], Any] = lambda _: None) -> Call[Any]:
        """The request for the events after the last one that was heard."""
        self._is_alive = False
        left = SILENCE_SECONDS if self._end is None else self._end - time.monotonic()
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
        progress = JobProgress.read(event.document)
        self._job.document = _with_progress(self._job.document, progress)
        return progress

    def is_late(self) -> bool:
        """True once the time is over."""
        return self._end is not None and time.monotonic() >= self._end

    def checked(self) -> Steps[JobProgress | None]:
        """After a stream has ended: progress that it has not reported, and a pause if it had none.

        If events do not arrive, as behind a proxy that holds them back, this is how they do.
        """
        job, known = self._job, self._job.progress
        yield from job.refreshed()
        if not job.done and self.is_late():
            raise RequestTimeout(f"job {job.id} is not done: it is {job.state}, and goes on")
        if not job.done and not self._is_alive:
            yield from _pause(POLL_SECONDS)
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
    if job.state == "succeeded" and job.document.result is None:
        yield from job.refreshed()
    return job.answer()


def path_of(job: str) -> str:
    """The path of a job, by its id."""
    check_reference(job, "a job's id")
    return f"/v1/jobs/{quote(job, safe='')}"


def cancelled(job: JobHandle[Any]) -> Steps[None]:
    """The steps that stop a job; one that is done stays as it is."""
    yield from job.refreshed()
    if not job.done:
        yield from _deletion(job.id)
        yield from job.refreshed()


def deleted(job: JobHandle[Any]) -> Steps[None]:
    """The steps that stop a job, if it is not done, and forget it."""
    yield from cancelled(job)
    yield from _deletion(job.id)


def _deletion(job: str) -> Call[None]:
    """The request that cancels a job, or forgets one that is done."""
    return Call("DELETE", path_of(job), None, _nothing)


def _with_progress(document: JobDocument, progress: JobProgress) -> JobDocument:
    state = "running" if document.state == "queued" else document.state
    return replace(document, state=state, progress=progress)


def _pause(seconds: float) -> BlockingStep[None]:
    def pause(_: Fetch) -> None:
        time.sleep(seconds)

    return BlockingStep(pause)


def _nothing(_: Any) -> None:
    """Read nothing."""
