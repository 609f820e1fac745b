"""The documents of programs, tensors and tenants."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from gradwire_service.access.rules import Scope
from gradwire_service.openapi.json_schema import Described
from gradwire_service.openapi.programs import Name, NamesOrNull, Program
from gradwire_service.openapi.values import Digest, Document, Dtype, Real, Whole
from gradwire_service.scheduling.placement import Device


class RegisterRequest(Document):
    """The body of ``POST /v1/programs``."""

    program: Program
    name: Name | None = Field(None, description="A name for it.")
    ref: Digest | None = Field(None, description="The id that it must have.")


class ProgramSummary(Described):
    """A stored program."""

    id: Digest = Field(description="Equal programs have equal ids.")
    name: Name | None = Field(None, description="The name in the request, or its first name.")
    names: list[Name] = Field(description="All its names.")
    variables: list[str] = Field(description="Names that it reads before assigning them.")
    outputs: NamesOrNull = Field(description="Names that it returns; null for values without one.")
    nodes: int = Field(description="Its number of nodes.")


class ProgramDocument(ProgramSummary):
    """A stored program with its text."""

    text: str | None = Field(None, description="As it was sent; a graph as text.")


class ProgramPage(Described):
    """Programs of one tenant, by their ids."""

    programs: list[ProgramSummary]
    after: Digest | None = Field(None, description="Start of the next page, if there is one.")


class TensorDocument(Described):
    """A stored tensor."""

    ref: Digest = Field(
        description="SHA-256 over the line `<dtype> <lengths, by commas>` with its line feed, and "
        "the little-endian bytes in C order."
    )
    dtype: Dtype
    shape: list[int]
    nbytes: int
    expires_at: datetime = Field(description="Extended by each use.")


class HeldAmount(Described):
    """The stored amount of a kind."""

    records: int
    nbytes: int


class HeldAmounts(Described):
    """The usage of a tenant in the store, which replicas may share."""

    programs: HeldAmount
    names: HeldAmount
    tensors: HeldAmount
    results: HeldAmount
    tapes: HeldAmount
    jobs: HeldAmount
    job_parts: HeldAmount = Field(description="Requests, checkpoints and results of jobs.")


class KeyDocument(Described):
    """A key, and its requests to this process since it was first read."""

    id: str
    name: str
    scopes: list[Scope]
    expires_at: datetime | None = Field(description="Null if it does not expire.")
    in_flight: int = Field(description="Its requests under way.")
    requests: int = Field(description="Its admitted requests.")
    limited: int = Field(description="Its requests that were refused as `rate_limited`.")


class TenantDocument(Described):
    """A tenant."""

    tenant: str
    holds: HeldAmounts
    keys: list[KeyDocument]


class GpuDocument(Described):
    """A GPU, and the costs of a replay on it as measured at start."""

    name: str
    compute_capability: str
    matmul_precision: str = Field(
        description="What factors of float32 products may be rounded to: float32 leaves them as "
        "they are."
    )
    memory_bytes: Whole
    room_bytes: Whole = Field(description="The part of it that arrays may take.")
    launch_seconds: Real = Field(description="The time of a replay that computes nothing.")
    bytes_per_second_in: Real = Field(description="The speed of sending inputs to it.")
    bytes_per_second_out: Real = Field(description="The speed of fetching answers from it.")
    flops_per_second: Real = Field(description="The arithmetic of elementwise formulas.")
    crossover_elements: Whole = Field(
        description="An elementwise formula of more elements takes less time on it than on the CPU."
    )

    @classmethod
    def of(cls, device: Device) -> GpuDocument:
        """The document of a device."""
        gpu, costs, room_bytes = device
        return cls(
            name=gpu.name,
            compute_capability=gpu.compute_capability,
            matmul_precision=gpu.matmul_precision,
            memory_bytes=gpu.memory_bytes,
            room_bytes=room_bytes,
            launch_seconds=costs.launch_seconds,
            bytes_per_second_in=costs.bytes_per_second_in,
            bytes_per_second_out=costs.bytes_per_second_out,
            flops_per_second=costs.flops_per_second,
            crossover_elements=costs.elements,
        )


class TenantsDocument(Described):
    """Every tenant that has a key."""

    tenants: list[TenantDocument]
