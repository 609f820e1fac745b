"""Programs and tensors as resources: requests and answers."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field

from gradwire_service.documents.programs import Name, NamesOrNull, Program
from gradwire_service.documents.values import Digest, Document, Dtype


class RegisterRequest(Document):
    """The body of ``POST /v1/programs``."""

    program: Program
    name: Name | None = Field(None, description="A name for the program.")
    ref: Digest | None = Field(None, description="The expected id; another one is refused.")


class ProgramSummary(BaseModel):
    """A stored program."""

    id: Digest = Field(description="A digest of its meaning: equal programs have equal ids.")
    name: Name | None = Field(None, description="The requested name, or the first of its names.")
    names: list[Name] = Field(description="All its names.")
    variables: list[str] = Field(description="Names that it reads and does not assign before.")
    outputs: NamesOrNull = Field(
        description="Names of the values that it returns; null for those without a name."
    )
    nodes: int = Field(description="The number of its nodes.")


class ProgramDocument(ProgramSummary):
    """A stored program with its text."""

    text: str | None = Field(None, description="The text as sent; of a graph, its text form.")


class ProgramPage(BaseModel):
    """Programs of one tenant, in the order of their ids."""

    programs: list[ProgramSummary]
    after: Digest | None = Field(
        None, description="The parameter `after` of the next page, if there is one."
    )


class TensorDocument(BaseModel):
    """A stored tensor."""

    ref: Digest = Field(
        description="SHA-256 of the line `<dtype> <lengths, separated by commas>`, its line feed, "
        "and the little-endian bytes in C order."
    )
    dtype: Dtype
    shape: list[int]
    nbytes: int
    expires_at: datetime = Field(description="Time of expiry; each use extends it.")
