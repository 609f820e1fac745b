"""Jobs as the service describes them, and what reads their results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar

from gradwire import hooks
from gradwire.call import Call, Reply
from gradwire.documents import Document
from gradwire.errors import JobCancelled, UsageError
from gradwire.methods import AwaitingListener, BlockingListener
from gradwire.optimization.results import OptimizeResult, result_of
from gradwire.problems import problem_error
from gradwire.tracing.traced import with_source_notes
from gradwire.tracing.writing import Written
from gradwire.usage import path_part

T = TypeVar("T")
L = TypeVar("L", BlockingListener, AwaitingListener)

State: TypeAlias = Literal["queued", "running", "succeeded", "failed", "cancelled"]
#: The states that do not change any more.
DONE: Final = frozenset({"succeeded", "failed", "cancelled"})


@dataclass(frozen=True, slots=True)
class JobProgress(Document):
    """The progress of an optimisation."""

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
        program: Written | str | None = None,
    ) -> None:
        self._client: L = client
        #: The latest description that has arrived.
        self.document: JobDocument = document
        self._read = read
        #: A recording, or a program's text, for the places that errors name.
        self._program = program

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
        """The progress of the optimisation; ``None`` before its first iteration."""
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
            with self._places():
                raise problem_error(found.problem, source=text_of(self._program))
        if found.state == "cancelled":
            raise JobCancelled(f"job {found.id} was cancelled", status=409, code="job_cancelled")
        raise UsageError(
            f"job {found.id} has no answer yet: it is {found.state}",
            hint="job.result() waits for it",
        )

    def _places(self) -> AbstractContextManager[None]:
        if isinstance(self._program, Written):
            return with_source_notes(self._program)
        return nullcontext()

    def read(self, answer: Any) -> OptimizeResult:
        """The result that an answer describes, nested as the start was if it was given here."""
        return result_of(self.kind, answer) if self._read is None else self._read(answer)

    def refreshed(self) -> Call[None]:
        """The question how it is now."""

        def read(reply: Reply) -> None:
            self.document = JobDocument.read(reply.document)

        return Call("GET", path_of(self.id), None, read)


def path_of(job: str) -> str:
    """The path of a job, by its id."""
    part = path_part(job, "a job's id")
    return f"/v1/jobs/{part}"


def text_of(program: Written | str | None) -> str | None:
    """A program's text, if it is known here."""
    return program.text if isinstance(program, Written) else program
