"""The documents of answers."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from gradwire_engine.answer import Kind
from pydantic import Field

from gradwire_service.openapi.json_schema import Described
from gradwire_service.openapi.values import Answered, ComplexParts, Dtype, Value, Word
from gradwire_service.problems import KINDS


class Place(Described):
    """A place in the program."""

    id: str | None = None
    op: str | None = None
    line: int | None = None
    column: int | None = None


class Warned(Described):
    """A warning about a correct answer."""

    code: str
    detail: str
    node: Place | None = None


class Unconnected(Described):
    """Why a gradient does not exist."""

    reason: str
    detail: str
    node: Place | None = None


class Range(Described):
    """The range of an operand."""

    shape: list[int]
    min: float | None = Field(description="The least finite element; of complex ones, the size.")
    max: float | None = Field(description="The greatest finite element, likewise.")
    nonfinite: int = Field(description="The number of elements that are NaN or infinite.")


class Nonfinite(Place):
    """The first place where values stopped being finite."""

    instruction: str = Field(description="The instruction there; backward, that of the derivative.")
    operands: list[Range]
    hint: str | None = Field(None, description="A function that stays finite.")


class Response(Described):
    """Members of the answers of all computations."""

    program: str = Field(description="The program's id.", pattern="^sha256:")
    updates: dict[str, Value] | None = Field(None, description="Variables that were assigned.")
    warnings: list[Warned] | None = None
    nonfinite: dict[Literal["forward", "backward"], Nonfinite] | None = None


class EvaluateResponse(Response):
    """Values in the structure of the requested names."""

    outputs: Answered


class DerivativeResponse(Response):
    """The target's value, and why derivatives do not exist."""

    value: Answered
    outputs: Answered = None
    unconnected: dict[str, Unconnected] | None = None


class GradientResponse(DerivativeResponse):
    """The target's value, and gradients in exactly the sources' structure."""

    gradients: Any = Field(description="Arrays, null where a gradient does not exist.")


class Check(Described):
    """A source's gradient compared with differences."""

    ok: bool = Field(description="Whether the gradient agrees with the differences.")
    decided: bool = Field(
        description="False if it does not agree, but they are too much in doubt to contradict it, "
        "as at a kink."
    )
    error: float | Word = Field(description="The largest of an element.")
    at: list[int] | None = Field(
        description="That element, in a batch behind its example; null where there are too many, "
        "and the error is that of the slope along a random direction."
    )


class CheckResponse(GradientResponse):
    """Gradients, differences, and how they compare."""

    differences: Any = Field(description="Arrays, null where the source has many elements.")
    checks: dict[str, Check] = Field(description="By the source's path.")
    ok: bool = Field(description="Whether all gradients agree with the differences.")


class JacobianResponse(DerivativeResponse):
    """The target's value and Jacobians in exactly the sources' structure."""

    jacobian: Any = Field(description="Arrays of the target's shape and the source's, or null.")


class HessianResponse(GradientResponse):
    """Gradients, and for each of them its Jacobians in the sources' structure again."""

    hessian: Any = Field(description="Arrays of the one source's shape and the other's, or null.")


class JvpResponse(DerivativeResponse):
    """The target's value and its derivative along the tangents, in its structure."""

    jvp: Any = Field(description="Arrays, null where no tangent reaches the target.")


class HvpResponse(GradientResponse):
    """Gradients and their derivatives along the vectors, both in the vectors' structure."""

    hvp: Any = Field(description="Arrays, null where a gradient does not exist.")


class Problem(Described):
    """Any refusal (RFC 9457)."""

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
    """A tape that was made."""

    tape: str = Field(description="Its id; only the key that made it may use it.")
    watched: list[str] = Field(description="Paths of the watched variables, as declared.")
    expires_at: datetime = Field(description="Each use moves this on.")


class Recorded(Described):
    """One instruction of a tape."""

    slot: int
    op: str
    args: list[int] = Field(description="Slots of the operands.")
    type: str = Field(description="Dtype and shape of the result.")
    node: Place
    body: list[Recorded] | None = Field(None, description="The body of a loop.")


class TapeDocument(Described):
    """A recorded tape."""

    tape: str
    program: str
    persistent: bool
    watched: list[str]
    expires_at: datetime
    memory_bytes: int = Field(description="Memory of the values of all instructions.")
    length: int = Field(description="Number of all instructions.")
    instructions: list[Recorded] = Field(description="The first of them.")


class Summary(Described):
    """An array: its elements if they are few, or else the range and the mean of the finite ones."""

    value: Value | None = Field(None, description="Up to 64 elements.")
    min: float | Word | None = Field(None, description="Of complex ones, the size, as below.")
    max: float | Word | None = None
    mean: float | Word | None = None
    nonfinite: int | None = Field(None, description="The number of those NaN or infinite.")


class _Operation(Described):
    """An operation on a tape."""

    slot: int
    op: str
    parameters: str | None = Field(None, description="What is fixed of it, `axes=(0,)`.")
    operands: list[int] = Field(description="Slots, which come earlier.")
    dtype: Dtype | None = Field(description="Null if it has several results.")
    shape: list[int] | None
    place: Place = Field(description="What it computes in the program, or the variable it reads.")


class Explained(_Operation):
    """An instruction that is replayed."""

    derivative: bool = Field(description="Whether it came of differentiating what is at its place.")
    flops: int = Field(description="Predicted arithmetic operations.")
    bytes: int = Field(description="Predicted memory of the result.")
    seconds: float | None = Field(None, description="Measured: the median of some replays.")
    constant: float | bool | Word | ComplexParts | None = Field(
        None, description="The number that it is, if it is one."
    )
    body: list[Explained] | None = Field(
        None, description="What each pass of a loop does, or each block of a fused kernel."
    )


class ExplainedNode(_Operation):
    """A recorded instruction, with its value and its adjoint."""

    name: str | None = Field(None, description="A variable's path, or the name of a value.")
    value: Summary | None
    adjoint: Summary | None = Field(
        description="The derivative of the target, of the sum of its elements, with respect to it."
    )
    is_source: bool
    is_target: bool


class ExplainResponse(Described):
    """An explanation of how a query is computed."""

    program: str = Field(description="The program's id.", pattern="^sha256:")
    instructions: list[Explained] = Field(description="What is replayed, optimised.")
    outputs: list[int] = Field(description="Slots of what the replay gives.")
    flops: int = Field(description="Predicted arithmetic operations on large arrays.")
    peak_bytes: int = Field(description="Predicted memory of all that is alive at once.")
    seconds: float | None = Field(None, description="Of all instructions together.")
    stages: dict[str, int] = Field(description="Number of instructions after each pass.")
    nodes: list[ExplainedNode] | None = Field(
        description="What was recorded, before any pass; null if that is too much to show."
    )
    warnings: list[Warned] | None = None


RESPONSES: dict[Kind, type[Response]] = {
    "evaluate": EvaluateResponse,
    "gradient": GradientResponse,
    "jacobian": JacobianResponse,
    "hessian": HessianResponse,
    "jvp": JvpResponse,
    "hvp": HvpResponse,
    "check": CheckResponse,
}
