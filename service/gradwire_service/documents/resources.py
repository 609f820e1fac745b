"""Programs and tensors as resources: what their routes take and answer."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field

from gradwire_service.documents.programs import Name, NamesOrNull, Program
from gradwire_service.documents.values import Digest, Document, Dtype


class RegisterRequest(Document):
    """What ``POST /v1/programs`` takes."""

    program: Program
    name: Name | None = Field(None, description="What to call it from now on.")
    ref: Digest | None = Field(None, description="The id that it must turn out to have.")


class ProgramSummary(BaseModel):
    """A program that is held."""

    id: Digest = Field(description="Of what it means: equal programs have equal ids.")
    name: Name | None = Field(None, description="The name it was asked by, or the first of all.")
    names: list[Name] = Field(description="All its names.")
    variables: list[str] = Field(description="Names that it reads before it assigns them.")
    outputs: NamesOrNull = Field(description="Names that it returns; null for what has none.")
    nodes: int = Field(description="How many steps it is.")


class ProgramDocument(ProgramSummary):
    """A program that is held, with its text."""

    text: str | None = Field(None, description="As it was sent, or of a graph, as it prints.")


class ProgramPage(BaseModel):
    """Programs of one tenant, by their ids."""

    programs: list[ProgramSummary]
    after: Digest | None = Field(None, description="Where the next page begins, if there is one.")


class TensorDocument(BaseModel):
    """A tensor that is held."""

    ref: Digest = Field(
        description="SHA-256 over the line `<dtype> <lengths, by commas>` with its line feed, and "
        "the little-endian bytes in C order."
    )
    dtype: Dtype
    shape: list[int]
    nbytes: int
    expires_at: datetime = Field(description="Each use moves this on.")
