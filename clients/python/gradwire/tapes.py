"""Tapes: programs that the service has run and kept, for derivatives later."""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, Self, TypeVar, Unpack

from gradwire import endpoints
from gradwire.call import Call, Reply
from gradwire.endpoints import (
    CheckOptions,
    DerivativeOptions,
    GradientOptions,
    HessianOptions,
    JacobianOptions,
    Program,
    ProgramAt,
    TapeOptions,
    document_of,
    program_at,
)
from gradwire.errors import UnknownTape
from gradwire.methods import Awaiting, AwaitingResource, Blocking, BlockingResource, C, sent
from gradwire.results import (
    Check,
    Evaluation,
    Gradient,
    Hessian,
    Hvp,
    Jacobian,
    Jvp,
    Recording,
    recording,
    shared_fields,
)
from gradwire.trees import Variables
from gradwire.usage import path_part, used
from gradwire.values import decode


class TapeMethods:
    """Methods for the derivatives of a tape.

    They are the client's methods, without program and variables, which the tape has.
    """

    of: ProgramAt

    @sent
    def gradient(self, **options: Unpack[GradientOptions]) -> Call[Gradient]:
        """A target's value, and its gradient at every source."""
        return endpoints.gradient(self.of, options)

    @sent
    def check(self, **options: Unpack[CheckOptions]) -> Call[Check]:
        """The gradient beside central differences of the target's values."""
        return endpoints.check(self.of, options)

    @sent
    def jacobian(self, **options: Unpack[JacobianOptions]) -> Call[Jacobian]:
        """The derivative of each element of a target in each element of the sources."""
        return endpoints.jacobian(self.of, options)

    @sent
    def hessian(self, **options: Unpack[HessianOptions]) -> Call[Hessian]:
        """A target's second derivatives in each pair of sources, and its gradients."""
        return endpoints.hessian(self.of, options)

    @sent
    def jvp(self, tangents: Variables, **options: Unpack[DerivativeOptions]) -> Call[Jvp]:
        """A target's derivative along tangents, in the target's structure."""
        return endpoints.jvp(self.of, tangents, options)

    @sent
    def hvp(self, vectors: Variables, **options: Unpack[DerivativeOptions]) -> Call[Hvp]:
        """The Hessian times vectors and the gradients, both in the structure of the vectors."""
        return endpoints.hvp(self.of, vectors, options)

    @sent
    def show(self) -> Call[Recording]:
        """The recorded instructions, and the memory of their values."""
        return Call("GET", self.of.path, None, recording)

    @sent
    def delete(self) -> Call[None]:
        """Delete the tape now, before it expires."""
        return Call("DELETE", self.of.path, None, lambda _: None)


@dataclass(frozen=True)
class StoredTape(TapeMethods, BlockingResource):
    """A tape of a ``Client``; as a context manager, it is deleted at the end."""

    id: str
    _client: Blocking
    of: ProgramAt

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(UnknownTape):
            self.delete()


@dataclass(frozen=True)
class AsyncStoredTape(TapeMethods, AwaitingResource):
    """As ``StoredTape``, of an ``AsyncClient``."""

    id: str
    _client: Awaiting
    of: ProgramAt

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        with suppress(UnknownTape):
            await self.delete()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Recorded(Evaluation, Generic[C]):
    """A tape that was made here, with the program's ``outputs``."""

    id: str
    #: Paths of the watched variables, as declared.
    watched: tuple[str, ...]
    _client: C
    of: ProgramAt


class Tape(Recorded[Blocking], StoredTape):
    """A tape that a ``Client`` made."""


class AsyncTape(Recorded[Awaiting], AsyncStoredTape):
    """A tape that an ``AsyncClient`` made."""


class TapeBeingMade:
    """A tape to await or to enter; as a context manager, it is deleted at the end."""

    def __init__(self, tape: Coroutine[Any, Any, AsyncTape]) -> None:
        self._making = tape

    def __await__(self) -> Generator[Any, Any, AsyncTape]:
        return self._making.__await__()

    async def __aenter__(self) -> AsyncTape:
        self._tape = await self._making
        return await self._tape.__aenter__()

    async def __aexit__(self, *_: object) -> None:
        await self._tape.__aexit__()


def path_of(token: str) -> str:
    """The path of a tape, by its id."""
    part = path_part(token, "a tape's id")
    return f"/v1/tapes/{part}"


def known_by(token: str) -> ProgramAt:
    """A tape known by its id alone: answers are nested as the service nests them."""
    return ProgramAt(path_of(token), {}, None, None)


R = TypeVar("R", Tape, AsyncTape)


def record(
    kind: type[R],
    client: Any,
    program: Program,
    variables: Variables | None,
    options: TapeOptions,
) -> Call[R]:
    """Run a program and keep it: the reply reads as a tape of this kind."""
    with used("tape"):
        recorded = program_at(program, variables)

    def read(reply: Reply) -> R:
        token = reply.document["tape"]
        return kind(
            id=token,
            watched=tuple(reply.document["watched"]),
            outputs=decode(reply.document["outputs"]),
            _client=client,
            of=ProgramAt(path_of(token), {}, program, variables),
            **shared_fields(reply),
        )

    document = document_of(recorded, options)
    return Call("POST", f"{recorded.path}/tapes", document, read, recorded.source)
