"""The service's catalogue of operations, and the limits of a request."""

from __future__ import annotations

from dataclasses import dataclass

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
class Gpu(Document):
    """A GPU of the service, and the costs of a replay on it, measured when the service started."""

    name: str
    compute_capability: str
    #: What factors of float32 products may be rounded to: float32 or tensorfloat32.
    matmul_precision: str
    memory_bytes: int
    #: The part of the memory that arrays may take.
    room_bytes: int
    #: The time of a replay that computes nothing.
    launch_seconds: float
    #: The speeds of sending inputs and of fetching answers.
    bytes_per_second_in: float
    bytes_per_second_out: float
    #: The arithmetic of elementwise formulas.
    flops_per_second: float
    #: An elementwise formula of more elements takes less time there than on the CPU.
    crossover_elements: int


@dataclass(frozen=True, slots=True)
class Limits(Document):
    """The most that one request may have, and a tenant may store; the GPU, if one is ready."""

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
    #: Jobs of a tenant, the longest that one may take, and the longest that an answer waits.
    jobs: int
    jobs_bytes: int
    job_seconds: int
    wait_ms: int
    gpu: Gpu | None = None


class Catalogue:
    """The service's description of itself; neither method needs an API key."""

    @sent
    def ops(self) -> Call[list[Operation]]:
        """Every operation, in the order of the service.

        >>> {op.name: op for op in client.ops()}["tanh"].differentiable
        True
        """
        return Call("GET", "/v1/ops", None, _operations)

    @sent
    def limits(self) -> Call[Limits]:
        """The limits of a request, which the operator of the service sets, and the GPU's costs.

        >>> client.limits().body_bytes
        67108864
        >>> client.limits().gpu  # None if no GPU is ready
        """
        return Call("GET", "/v1/limits", None, Limits.of)


def _operations(reply: Reply) -> list[Operation]:
    return [Operation.read(document) for document in reply.document["ops"]]
