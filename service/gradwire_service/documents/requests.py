"""The bodies of requests, by kind of computation."""

from __future__ import annotations

from typing import Annotated, Literal

from gradwire_engine.answer import Kind
from pydantic import BaseModel, Field, create_model

from gradwire_service.documents.programs import Names, NamesOrNull, Program
from gradwire_service.documents.values import Cotangents, Direction, Document, Value
from gradwire_service.wire.envelope import RECORDED

_EXACT = (
    "`true`: no optimisation that changes rounding. The answer is, bit for bit, that of the "
    "operations computed one by one in NumPy."
)
_Axes = Annotated[list[str], Field(min_length=1)] | Annotated[dict[str, int], Field(min_length=1)]


class ProgramRequest(Document):
    """The fields of all requests with a program."""

    program: Program
    variables: dict[str, Value] | None = Field(
        None, description="Values by name, nested in lists and objects."
    )
    encoding: Literal["list", "base64"] | None = Field(
        None, description="The form of arrays in the answer."
    )
    promotion: Literal["numpy", "strict"] | None = Field(
        None, description="`strict`: mixing dtypes is an error."
    )
    exact: bool | None = Field(None, description=_EXACT)
    timeout_ms: float | None = Field(
        None, gt=0, description="Time limit in milliseconds, queueing included."
    )


class EvaluateRequest(ProgramRequest):
    """The body of ``/v1/evaluate``."""

    outputs: Names | None = Field(None, description="Names of values to return.")
    batch: _Axes | None = Field(
        None,
        description="Names of variables, and of output_gradients, tangents or vectors, that have "
        "an axis of examples: the first axis, or the given one. Every answer then has a first "
        "axis of examples. For tapes, names of output_gradients, tangents and vectors only.",
    )


class DerivativeRequest(EvaluateRequest):
    """The fields of all derivatives."""

    target: Names | None = Field(
        None, description="The value to differentiate; of a nested one, the sum."
    )
    unconnected_gradients: Literal["none", "zero"] | None = Field(
        None, description="The answer for a derivative that does not exist: null, or zeros."
    )


class SourcesRequest(DerivativeRequest):
    """The fields of derivatives with respect to sources."""

    sources: NamesOrNull = Field(
        None, description="Names to differentiate with respect to; by default all variables."
    )


class PullbackRequest(SourcesRequest):
    """The fields of gradients."""

    output_gradients: Cotangents = Field(
        None, description="Cotangents in the target's structure; null means ones."
    )


class GradientRequest(PullbackRequest):
    """The body of ``/v1/gradient``."""

    sparse_gradients: bool | Literal["summed"] | None = Field(
        None,
        description="`true`: gradients of tables that are only gathered from are slices; "
        "`summed`: slices with one index are added up.",
    )


class CheckRequest(PullbackRequest):
    """The body of ``/v1/check``."""

    step: float | None = Field(
        None,
        gt=0,
        description="Step of the differences, relative to the element or to 1.",
    )
    rtol: float | None = Field(
        None,
        gt=0,
        description="Tolerance relative to the largest element of the gradient.",
    )
    atol: float | None = Field(None, gt=0, description="Absolute tolerance.")


class MatrixRequest(SourcesRequest):
    """The fields of matrices of derivatives."""

    format: Literal["dense", "coo"] | None = Field(
        None,
        description="`dense`: whole arrays; `coo`: indices and values of possible nonzeros.",
    )


class JacobianRequest(MatrixRequest):
    """The body of ``/v1/jacobian``; the target is one array."""

    mode: Literal["auto", "forward", "reverse"] | None = Field(
        None, description="`forward`: by columns; `reverse`: by rows; `auto`: whichever are fewer."
    )


class HessianRequest(MatrixRequest):
    """The body of ``/v1/hessian``."""


class JvpRequest(DerivativeRequest):
    """The body of ``/v1/jvp``."""

    tangents: dict[str, Direction] = Field(
        description="Directions by name, each in the structure of the value with this name."
    )


class HvpRequest(DerivativeRequest):
    """The body of ``/v1/hvp``."""

    vectors: dict[str, Direction] = Field(
        description="Directions by name, each in the structure of the value with this name."
    )


class TapeRequest(ProgramRequest):
    """The body of ``POST /v1/tapes``."""

    persistent: bool | None = Field(
        None, description="`true`: the tape answers any number of questions, not only one."
    )
    watch: list[str] | None = Field(
        None, description="Names of variables and intermediates to watch as well."
    )
    watch_accessed_variables: bool | None = Field(
        None, description="`false`: of the variables, only those in `watch` are watched."
    )


REQUESTS: dict[Kind, type[Document]] = {
    "evaluate": EvaluateRequest,
    "gradient": GradientRequest,
    "jacobian": JacobianRequest,
    "hessian": HessianRequest,
    "jvp": JvpRequest,
    "hvp": HvpRequest,
    "check": CheckRequest,
}
#: The computations of tapes.
TAPE_KINDS: tuple[Kind, ...] = ("gradient", "jacobian", "hessian", "jvp", "hvp", "check")
TAPE_REQUESTS: dict[Kind, type[BaseModel]] = {
    kind: create_model(
        f"Tape{REQUESTS[kind].__name__}",
        __base__=Document,
        __doc__=f"The body of ``POST /v1/tapes/{{tape}}/{kind}``.",
        **{
            name: (field.annotation, field)
            for name, field in REQUESTS[kind].model_fields.items()
            if name not in RECORDED
        },  # type: ignore[call-overload]
    )
    for kind in TAPE_KINDS
}
