"""The service's answers, as typed objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import httpx

from gradwire.call import Reply
from gradwire.display_mixin import DisplayMixin
from gradwire.documents import Document
from gradwire.locations import Node
from gradwire.values import decode


@dataclass(frozen=True, slots=True)
class Unconnected(Document):
    """Why a derivative does not exist, and the node where the path from its source ends."""

    reason: str
    detail: str
    node: Node | None = None


@dataclass(frozen=True, slots=True)
class Notice(Document):
    """A notice about a valid answer."""

    code: str
    detail: str
    node: Node | None = None


@dataclass(frozen=True, slots=True)
class Range(Document):
    """An operand's least and greatest finite element, and the number of non-finite ones."""

    shape: tuple[int, ...]
    min: float | None
    max: float | None
    nonfinite: int


@dataclass(frozen=True, slots=True)
class Nonfinite(Node):
    """The first node with a non-finite value, and the ranges of its operands."""

    instruction: str | None = None
    operands: tuple[Range, ...] = ()
    hint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Result(DisplayMixin):
    """An answer: its notices, timings and ids, beside its values."""

    #: New values of the variables that the program assigned to, by path.
    updates: Mapping[str, Any]
    warnings: tuple[Notice, ...]
    #: The first non-finite value of each pass, ``forward`` and ``backward``, if any.
    nonfinite: Mapping[str, Nonfinite]
    #: The program's id, which may be sent in its place as ``{"ref": id}``.
    program: str | None
    #: Milliseconds by phase: parse, compile, replay, encode, queue, other; and their total.
    timings: Mapping[str, float]
    #: The id to quote when reporting a problem.
    request_id: str | None
    #: The raw response.
    raw: httpx.Response


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Evaluation(Result):
    """The values of a program's outputs."""

    outputs: Any


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Derivative(Result):
    """A target's value, beside its derivatives.

    Derivatives that do not exist are ``None``; ``unconnected`` says why, by the source's path.
    """

    value: Any
    #: The values of ``outputs``.
    outputs: Any
    unconnected: Mapping[str, Unconnected]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Gradient(Derivative):
    """A target's value, and its gradient at each source, in the structure of the sources."""

    gradients: Any


@dataclass(frozen=True, slots=True)
class SourceCheck(Document):
    """The comparison of a source's gradient with differences."""

    ok: bool
    #: The largest error of an element, or of the slope along a random direction.
    error: float
    #: The element's index, ``None`` where there are too many to try.
    at: tuple[int, ...] | None
    #: False if the gradient does not agree, but the differences are too much in doubt to contradict
    #: it, as at a kink.
    decided: bool = True

    @property
    def wrong(self) -> bool:
        """True if the differences contradict the gradient."""
        return self.decided and not self.ok


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Check(Gradient):
    """A gradient beside differences of the target's values."""

    #: True if all gradients agree with the differences.
    ok: bool
    #: In the structure of the sources, ``None`` for those of many elements.
    differences: Any
    #: By the source's path.
    checks: Mapping[str, SourceCheck]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Jacobian(Derivative):
    """A target's value, and its Jacobian at each source, in the structure of the sources."""

    #: Each, an array or a ``SparseArray``, has the target's axes, then its source's.
    jacobian: Any


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Hessian(Gradient):
    """Gradients, and of each its Jacobians: the structure of the sources twice."""

    #: Each array has the axes of the outer source, then of the inner one.
    hessian: Any


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Jvp(Derivative):
    """A target's value and its derivative along tangents, both in the target's structure."""

    jvp: Any


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Hvp(Gradient):
    """Gradients and the Hessian's product with vectors, in the structure of the vectors."""

    hvp: Any


@dataclass(frozen=True, slots=True)
class Instruction(Document):
    """One instruction of a tape."""

    slot: int
    op: str
    #: Slots of the operands.
    args: tuple[int, ...]
    #: Dtype and shape, as ``float64[2,3]``.
    type: str
    node: Node | None
    #: The instructions of a loop's body.
    body: tuple[Instruction, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Recording(DisplayMixin, Document):
    """The recording of a tape."""

    program: str
    persistent: bool
    #: Paths of the watched variables, as declared.
    watched: tuple[str, ...]
    #: The time when it expires, unless it is used before.
    expires_at: datetime
    #: The memory of all instructions' values.
    memory_bytes: int
    #: The number of all instructions; ``instructions`` has the first ones.
    length: int
    instructions: tuple[Instruction, ...]
    #: The id to quote when reporting a problem.
    request_id: str | None
    #: The raw response.
    raw: httpx.Response


def recording(reply: Reply) -> Recording:
    """The recording of a tape."""
    response = reply.response
    return Recording.read(reply.document, request_id=request_id(response), raw=response)


def shared_fields(reply: Reply) -> dict[str, Any]:
    """The fields of ``Result`` from a reply."""
    document = reply.document
    nonfinite = document.get("nonfinite") or {}
    return {
        "updates": decode(document["updates"]) if document.get("updates") else {},
        "warnings": tuple(map(Notice.read, document.get("warnings") or ())),
        "nonfinite": {way: Nonfinite.read(node) for way, node in nonfinite.items() if node},
        "program": document.get("program"),
        "timings": timings(reply.response.headers.get("Server-Timing", "")),
        "request_id": request_id(reply.response),
        "raw": reply.response,
    }


def unconnected_sources(document: Mapping[str, Any]) -> dict[str, Unconnected]:
    """The reasons for missing derivatives, by the source's path."""
    unconnected = document.get("unconnected") or {}
    return {path: Unconnected.read(reason) for path, reason in unconnected.items()}


def source_checks(document: Mapping[str, Any]) -> dict[str, SourceCheck]:
    """The comparisons of gradients with differences, by the source's path."""
    return {path: SourceCheck.read(check) for path, check in document["checks"].items()}


def timings(header: str) -> dict[str, float]:
    """The durations in a ``Server-Timing`` header, in milliseconds."""
    durations: dict[str, float] = {}
    for metric in header.split(","):
        name, *parameters = metric.split(";")
        for parameter in parameters:
            key, _, number = parameter.partition("=")
            if key.strip().lower() == "dur":
                durations[name.strip()] = float(number.strip().strip('"'))
    return durations


def request_id(response: httpx.Response) -> str | None:
    """The id under which the service has logged a request."""
    header: str | None = response.headers.get("X-Request-ID")
    return header
