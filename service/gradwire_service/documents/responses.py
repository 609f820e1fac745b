"""The bodies of answers, by kind of computation."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from gradwire_engine.answer import Kind
from pydantic import BaseModel, Field

from gradwire_service.documents.values import Answered, Value, Word
from gradwire_service.problems import KINDS


class Place(BaseModel):
    """A place in the program."""

    id: str | None = None
    op: str | None = None
    line: int | None = None
    column: int | None = None


class Warned(BaseModel):
    """A warning; the answer is correct."""

    code: str
    detail: str
    node: Place | None = None


class Unconnected(BaseModel):
    """The reason why a gradient does not exist."""

    reason: str
    detail: str
    node: Place | None = None


class Range(BaseModel):
    """An operand of an instruction."""

    shape: list[int]
    min: float | None = Field(
        description="The least finite element; of complex elements, their modulus."
    )
    max: float | None = Field(
        description="The greatest finite element; of complex elements, their modulus."
    )
    nonfinite: int = Field(description="The number of elements that are NaN or infinite.")


class Nonfinite(Place):
    """The first place where a value is not finite."""

    instruction: str = Field(
        description="The instruction that computed it: of the program, or of its derivative."
    )
    operands: list[Range]
    hint: str | None = Field(None, description="A function that stays finite there.")


class Response(BaseModel):
    """The fields of all answers."""

    program: str = Field(description="The program's id.", pattern="^sha256:")
    updates: dict[str, Value] | None = Field(
        None, description="New values of variables that the program assigned."
    )
    warnings: list[Warned] | None = None
    nonfinite: dict[Literal["forward", "backward"], Nonfinite] | None = None


class EvaluateResponse(Response):
    """Values in the structure of the requested names."""

    outputs: Answered


class DerivativeResponse(Response):
    """The target's value, and the reasons why derivatives do not exist."""

    value: Answered
    outputs: Answered = None
    unconnected: dict[str, Unconnected] | None = None


class GradientResponse(DerivativeResponse):
    """The target's value, and gradients in the structure of the sources."""

    gradients: Any = Field(description="Arrays; null where a gradient does not exist.")


class Check(BaseModel):
    """Comparison of a source's gradient with differences."""

    ok: bool
    error: float | Word = Field(description="The largest error of an element.")
    at: list[int] | None = Field(
        description="The indices of this element, in a batch after that of the example; null for "
        "sources with too many elements, where the error is that of one random direction."
    )


class CheckResponse(GradientResponse):
    """Gradients, differences, and their comparison."""

    differences: Any = Field(description="Arrays; null where the source has too many elements.")
    checks: dict[str, Check] = Field(description="Comparisons by the path of the source.")
    ok: bool = Field(description="Whether all gradients agree.")


class JacobianResponse(DerivativeResponse):
    """The target's value, and Jacobians in the structure of the sources."""

    jacobian: Any = Field(
        description="Arrays with the axes of the target, then the source; or null."
    )


class HessianResponse(GradientResponse):
    """Gradients, and second derivatives in the structure of the sources, twice."""

    hessian: Any = Field(description="Arrays with the axes of both sources, or null.")


class JvpResponse(DerivativeResponse):
    """The target's value, and its derivative along the tangents."""

    jvp: Any = Field(description="Arrays; null where no tangent reaches the target.")


class HvpResponse(GradientResponse):
    """Gradients, and their derivatives along the vectors, in the structure of the vectors."""

    hvp: Any = Field(description="Arrays; null where a gradient does not exist.")


class Problem(BaseModel):
    """A problem (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    code: Literal[tuple(KINDS)]  # type: ignore[valid-type]
    pointer: str | None = Field(None, description="A JSON pointer into the request.")
    node: Place | None = None
    hint: str | None = None
    missing: list[str] | None = None


class TapeResponse(EvaluateResponse):
    """A new tape."""

    tape: str = Field(description="Its id; only the tenant that created it can use it.")
    watched: list[str] = Field(description="Paths of the watched variables.")
    expires_at: datetime = Field(description="Time of expiry; each use extends it.")


class Recorded(BaseModel):
    """One instruction of a tape."""

    slot: int
    op: str
    args: list[int] = Field(description="Slots of the operands.")
    type: str = Field(description="Dtype and shape of the result.")
    node: Place
    body: list[Recorded] | None = Field(None, description="The instructions of a loop's body.")


class TapeDocument(BaseModel):
    """A tape with its instructions."""

    tape: str
    program: str
    persistent: bool
    watched: list[str]
    expires_at: datetime
    memory_bytes: int = Field(description="Memory of the values of all instructions.")
    length: int = Field(description="The number of instructions.")
    instructions: list[Recorded] = Field(
        description="The first instructions of a long tape, or all."
    )


RESPONSES: dict[Kind, type[Response]] = {
    "evaluate": EvaluateResponse,
    "gradient": GradientResponse,
    "jacobian": JacobianResponse,
    "hessian": HessianResponse,
    "jvp": JvpResponse,
    "hvp": HvpResponse,
    "check": CheckResponse,
}
