"""Explanations of queries: what the service replays, and the graph of values and adjoints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from gradwire.call import Reply
from gradwire.documents import Document
from gradwire.locations import Node
from gradwire.results import Result, shared_fields
from gradwire.values import decode


@dataclass(frozen=True, slots=True)
class ArraySummary(Document):
    """An array of many elements: the range and the mean of the finite ones.

    They are ``None`` if no element is finite; of complex elements they are those of the size.
    """

    min: float | None
    max: float | None
    mean: float | None
    #: The number of elements that are not finite.
    nonfinite: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ExplainedOperation(Document):
    """The members that instructions and nodes share: an operation of earlier ones, and its type."""

    slot: int
    op: str
    #: What is fixed of the operation, as text: ``axes=(0,)``.
    parameters: str = ""
    #: Slots of the operands, which come before this.
    operands: tuple[int, ...]
    #: ``None`` of several results.
    dtype: np.dtype[Any] | None
    shape: tuple[int, ...] | None
    #: What it computes in the program, or the variable that it is.
    place: Node


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedInstruction(ExplainedOperation):
    """One instruction of the tape that is replayed."""

    #: Whether it came of differentiating what is at its place.
    derivative: bool
    #: Predicted arithmetic operations, and bytes of the result.
    flops: int
    bytes: int
    #: The measured time, if it was asked for.
    seconds: float | None = None
    #: The number that it is, if it is one.
    constant: Any = None
    #: What each pass of a loop does, or each block of a fused kernel.
    body: tuple[ExplainedInstruction, ...] = ()

    @classmethod
    def read(cls, document: Mapping[str, Any], **given: Any) -> Self:
        """The instruction of a reply."""
        read = super(ExplainedInstruction, cls).read
        return read(document, constant=_number(document.get("constant")), **given)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ExplainedNode(ExplainedOperation):
    """One instruction as it was recorded, with its value and its adjoint."""

    #: A variable's path, or the name of a value in the program.
    name: str | None
    #: An array, or an ``ArraySummary`` of one of more than 64 elements.
    value: Any
    #: The derivative of the target with respect to this, likewise; ``None`` where there is none.
    adjoint: Any
    is_source: bool
    is_target: bool

    @classmethod
    def read(cls, document: Mapping[str, Any], **given: Any) -> Self:
        """The node of a reply."""
        shown = {name: _shown(document[name]) for name in ("value", "adjoint")}
        return super(ExplainedNode, cls).read(document, **shown, **given)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Explanation(Result):
    """An explanation of how the service computes a query."""

    #: What is replayed, after all optimisations; of very many the first ones.
    instructions: tuple[ExplainedInstruction, ...]
    #: The slots of what the replay gives.
    outputs: tuple[int, ...]
    #: Predicted arithmetic operations on large arrays, and bytes of all that is alive at once.
    flops: int
    peak_bytes: int
    #: The time of all instructions, if it was asked for.
    seconds: float | None
    #: The number of instructions after each pass of the compiler.
    stages: Mapping[str, int]
    #: The program as it was recorded; ``None`` if ``warnings`` say why not.
    nodes: tuple[ExplainedNode, ...] | None

    def named(self) -> Iterator[tuple[str, ExplainedNode]]:
        """The nodes that have a name, with it; none without ``nodes``."""
        for node in self.nodes or ():
            if node.name is not None:
                yield node.name, node


def explanation(reply: Reply) -> Explanation:
    """The explanation of a reply."""
    document = reply.document
    nodes = document["nodes"]
    return Explanation(
        instructions=tuple(map(ExplainedInstruction.read, document["instructions"])),
        outputs=tuple(document["outputs"]),
        flops=document["flops"],
        peak_bytes=document["peak_bytes"],
        seconds=document.get("seconds"),
        stages=document["stages"],
        nodes=None if nodes is None else tuple(map(ExplainedNode.read, nodes)),
        **shared_fields(reply),
    )


def _shown(document: Mapping[str, Any] | None) -> Any:
    if document is None:
        return None
    return decode(document["value"]) if "value" in document else ArraySummary.read(document)


def _number(document: Any) -> Any:
    """A number, of which the service writes NaN and infinities as words."""
    if isinstance(document, Mapping):
        return complex(float(document["re"]), float(document["im"]))
    return float(document) if isinstance(document, str) else document
