"""What the routes take, by kind of computation."""

from __future__ import annotations

from typing import Annotated, Literal

from gradwire_engine.answer import Kind
from pydantic import BaseModel, Field, create_model

from gradwire_service.documents.programs import Names, NamesOrNull, Program
from gradwire_service.documents.values import Cotangents, Direction, Document, Value
from gradwire_service.wire.envelope import RECORDED

_EXACT = (
    "No rewriting that changes rounding: bit for bit what the recorded operations give one by one "
    "in NumPy."
)
_Axes = Annotated[list[str], Field(min_length=1)] | Annotated[dict[str, int], Field(min_length=1)]


class EvaluateRequest(Document):
    """What ``/v1/evaluate`` takes."""

    program: Program
    variables: dict[str, Value] | None = Field(None, description="Values, nested as you like.")
    outputs: Names | None = Field(None, description="Names whose values to return.")
    batch: _Axes | None = Field(
        None,
        description="Variables, and output_gradients, tangents or vectors, with an axis of "
        "examples, the first or the one given: everything is answered for each example, along a "
        "first axis. Of a tape only the latter.",
    )
    encoding: Literal["list", "base64"] | None = Field(None, description="How arrays come back.")
    promotion: Literal["numpy", "strict"] | None = Field(
        None, description="`strict` makes mixing dtypes an error."
    )
    exact: bool | None = Field(None, description=_EXACT)
    timeout_ms: float | None = Field(None, gt=0, description="Time allowed, queueing included.")


class DerivativeRequest(EvaluateRequest):
    """What everything that differentiates takes."""

    target: Names | None = Field(None, description="What to differentiate; the sum where nested.")
    unconnected_gradients: Literal["none", "zero"] | None = Field(
        None, description="What a derivative that does not exist is given as."
    )


class SourcesRequest(DerivativeRequest):
    """What differentiates with respect to sources."""

    sources: NamesOrNull = Field(
        None, description="With respect to what; all variables if left out."
    )


class PullbackRequest(SourcesRequest):
    """What pulls cotangents back."""

    output_gradients: Cotangents = Field(
        None, description="Cotangents in the target's structure; null stands for ones."
    )


class GradientRequest(PullbackRequest):
    """What ``/v1/gradient`` takes."""

    sparse_gradients: bool | Literal["summed"] | None = Field(
        None, description="Gradients by slices in what is only gathered from, repeats listed."
    )


class CheckRequest(PullbackRequest):
    """What ``/v1/check`` takes."""

    step: float | None = Field(
        None, gt=0, description="How far elements are moved, times their size or one."
    )
    rtol: float | None = Field(
        None, gt=0, description="Difference allowed, of the largest in its source."
    )
    atol: float | None = Field(None, gt=0, description="Difference allowed beside.")


class MatrixRequest(SourcesRequest):
    """What answers with matrices."""

    format: Literal["dense", "coo"] | None = Field(
        None, description="Whole arrays, or indices and values of what may differ from zero."
    )


class JacobianRequest(MatrixRequest):
    """What ``/v1/jacobian`` takes; its target is one array."""

    mode: Literal["auto", "forward", "reverse"] | None = Field(
        None, description="By columns, by rows, or whichever are fewer."
    )


class HessianRequest(MatrixRequest):
    """What ``/v1/hessian`` takes."""


class JvpRequest(DerivativeRequest):
    """What ``/v1/jvp`` takes."""

    tangents: dict[str, Direction] = Field(
        description="Directions by name, nested as the values of these names are."
    )


class HvpRequest(DerivativeRequest):
    """What ``/v1/hvp`` takes."""

    vectors: dict[str, Direction] = Field(
        description="Directions by name, nested as the values of these names are."
    )


class TapeRequest(Document):
    """What ``POST /v1/tapes`` takes."""

    program: Program
    variables: dict[str, Value] | None = Field(None, description="Values, nested as you like.")
    persistent: bool | None = Field(None, description="Whether it answers more than once.")
    watch: list[str] | None = Field(
        None, description="Variables and intermediates that are sources, too."
    )
    watch_accessed_variables: bool | None = Field(
        None, description="`false`: of the variables, only those in `watch` are sources."
    )
    encoding: Literal["list", "base64"] | None = Field(None, description="How arrays come back.")
    promotion: Literal["numpy", "strict"] | None = Field(
        None, description="`strict` makes mixing dtypes an error."
    )
    exact: bool | None = Field(None, description=_EXACT)
    timeout_ms: float | None = Field(None, gt=0, description="Time allowed, queueing included.")


REQUESTS: dict[Kind, type[Document]] = {
    "evaluate": EvaluateRequest,
    "gradient": GradientRequest,
    "jacobian": JacobianRequest,
    "hessian": HessianRequest,
    "jvp": JvpRequest,
    "hvp": HvpRequest,
    "check": CheckRequest,
}
#: What tapes are asked for.
TAPE_KINDS: tuple[Kind, ...] = ("gradient", "jacobian", "hessian", "jvp", "hvp", "check")
TAPE_REQUESTS: dict[Kind, type[BaseModel]] = {
    kind: create_model(
        f"Tape{REQUESTS[kind].__name__}",
        __base__=Document,
        __doc__=f"What ``POST /v1/tapes/{{tape}}/{kind}`` takes.",
        **{
            name: (field.annotation, field)
            for name, field in REQUESTS[kind].model_fields.items()
            if name not in RECORDED
        },  # type: ignore[call-overload]
    )
    for kind in TAPE_KINDS
}
