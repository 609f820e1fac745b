"""The service's catalogue of operations, and the limits of a request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from gradwire.call import Call, Reply
from gradwire.documents import Document
from gradwire.methods import sent


@dataclass(frozen=True, slots=True)
class Operation(Document):
    """An operation of the language of programs."""

    name: str
    aliases: tuple[str, ...]
    #: As in a program: ``sum(a, axis=None, …)``.
    signature: str
    parameters: tuple[str, ...]
    family: str
    differentiable: bool
    doc: str
    #: The same operation in the names of other libraries.
    dialects: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Limits(Document):
    """The most that one request may have, and a tenant may store."""

    body_bytes: int
    array_bytes: int
    total_bytes: int
    answer_bytes: int
    instructions: int
    flops: int
    default_timeout_ms: int
    timeout_ms: int
    tapes: int
    tapes_bytes: int
    programs: int
    programs_bytes: int
    tensors: int
    tensors_bytes: int


_Operations: TypeAlias = list[Operation]


class Catalogue:
    """The service's description of itself; neither method needs an API key."""

    @sent
    def ops(self) -> Call[_Operations]:
        """Every operation, in the order of the service.

        >>> {op.name: op for op in client.ops()}["tanh"].differentiable
        True
        """
        return Call("GET", "/v1/ops", None, _operations)

    @sent
    def limits(self) -> Call[Limits]:
        """The limits of a request; the operator of the service sets them.

        >>> client.limits().body_bytes
        67108864
        """
        return Call("GET", "/v1/limits", None, Limits.of)


def _operations(reply: Reply) -> list[Operation]:
    return [Operation.read(document) for document in reply.document["ops"]]
