"""The documents and operations of optimisations."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Any, Literal, TypeAlias

from gradwire_solvers import METHODS, SolveKind
from pydantic import Field, create_model

from gradwire_service.openapi.json_schema import Described
from gradwire_service.openapi.programs import Names, NamesOrNull, Program
from gradwire_service.openapi.responses import Unconnected, Warned
from gradwire_service.openapi.values import (
    Answered,
    ArrayLeaf,
    Document,
    Numbers,
    Value,
    ValuedArray,
)
from gradwire_service.wire.solving import FIELDS, MOST_CONSTRAINTS, MOST_SEED

_Bound: TypeAlias = Numbers | ArrayLeaf | ValuedArray | None
_Pair = Annotated[list[_Bound], Field(min_length=2, max_length=2)]


class Constraint(Document):
    """A function of the sources that is kept between two bounds."""

    program: Program | None = Field(None, description="A program that computes it.")
    target: Names | None = Field(
        None, description="Instead, what the objective's program computes under this name."
    )
    low: _Bound = Field(None, description="A number, or an array of the function's shape.")
    high: _Bound = Field(None, description="Likewise; equal to `low`, it is an equality.")


class Minibatch(Document):
    """Steps along the gradients of some rows."""

    size: int = Field(ge=1, description="Rows of each step; the last of an epoch may have fewer.")
    variables: Annotated[list[str], Field(min_length=1)] = Field(
        description="Variables whose first axis has the rows."
    )
    seed: int | None = Field(
        None,
        ge=0,
        lt=MOST_SEED,
        description="Of the order of rows, drawn for each epoch.",
    )


def _options(kind: SolveKind) -> type[Document]:
    """All options of a kind's methods, each with what it may be."""
    takers: dict[str, dict[str, list[str]]] = {}
    for method, takes in METHODS[kind].items():
        for name, option in takes.options.items():
            takers.setdefault(name, {}).setdefault(option.expected, []).append(method)
    fields: dict[str, Any] = {
        name: (
            Any,
            Field(
                None,
                description="; ".join(
                    f"{expected} ({', '.join(methods)})" for expected, methods in forms.items()
                ),
            ),
        )
        for name, forms in takers.items()
    }
    name = f"{_title(kind)}Options"
    return create_model(
        name, __base__=Document, __doc__="Options, each of the methods named with it.", **fields
    )


def _title(kind: str) -> str:
    return "".join(word.capitalize() for word in kind.split("_"))


def _optional(kind: Any, description: str, **bounds: Any) -> tuple[Any, Any]:
    return (kind | None, Field(None, description=description, **bounds))


def _types(kind: SolveKind) -> dict[str, tuple[Any, Any]]:
    """Type and description of every field, in the order of the schema."""
    methods = tuple(METHODS[kind])
    targets = {
        "minimize": "What is minimised, one number",
        "least_squares": "The residuals, one array or nested ones",
        "root": "What is to be zero, as many numbers as the sources have",
    }
    return {
        "program": (Program, ...),
        "variables": _optional(
            dict[str, Value],
            "Values; those of the sources are the start. With a Dask cluster, others may be rows: "
            '`{"dask": name}`, `{"zarr": path}` or `{"parquet": path, "columns": [name, …]}`, with '
            'a `dtype` to which they are cast; with `"missing": "fill"`, chunks that a Zarr array '
            "leaves out are its fill value.",
        ),
        "sources": (
            NamesOrNull,
            Field(
                None,
                description="What is varied; if left out, all trainable floating-point variables.",
            ),
        ),
        "target": _optional(Names, f"{targets[kind]}; by default what the program returns."),
        "method": _optional(Literal[methods], f"`{methods[0]}` if left out."),
        "options": _optional(_options(kind), "Options of the method, SciPy's but for first order."),
        "tol": _optional(float, "The method's tolerances, where no option says more.", ge=0),
        "bounds": _optional(
            dict[str, _Pair],
            "Least and greatest values by the source's path, each a number, an array of the "
            "source's shape, or null for none.",
        ),
        "constraints": _optional(
            Annotated[list[Constraint], Field(max_length=MOST_CONSTRAINTS)],
            "Functions kept between bounds, for SLSQP and trust-constr.",
        ),
        "minibatch": _optional(Minibatch, "For first-order methods."),
        "promotion": _optional(Literal["numpy", "strict"], "`strict`: mixing dtypes is an error."),
        "exact": _optional(
            bool,
            "Evaluate as NumPy does, operation by operation: all runs have the same bits. Not with "
            "data of a cluster.",
        ),
        "encoding": _optional(Literal["list", "base64"], "How arrays come back."),
        "background": _optional(bool, "Whether it becomes a job at once."),
        "wait_ms": _optional(float, "How long the answer may take before it is a job.", ge=0),
        "max_seconds": _optional(
            float, "The run stops there with its best point, unsuccessfully.", gt=0
        ),
    }


def _request(kind: SolveKind, fields: Collection[str]) -> type[Document]:
    types: dict[str, Any] = {name: of for name, of in _types(kind).items() if name in fields}
    assert types.keys() == set(fields)
    name, doc = f"{_title(kind)}Request", f"The body of ``/v1/{kind}``."
    return create_model(name, __base__=Document, __doc__=doc, **types)


class Evaluations(Described):
    """The number of times that each was computed."""

    value: int
    gradient: int = Field(description="Or Jacobian.")
    hessian: int = Field(description="Or product with it.")


class History(Described):
    """The course of the run: at most 1,000 of its iterations, evenly chosen."""

    iteration: list[int]
    value: list[float]
    gradient_norm: list[float]
    seconds: list[float]


class SolveResponse(Described):
    """The end of a run."""

    program: str = Field(description="The program's id.", pattern="^sha256:")
    solution: Answered = Field(description="Values in the structure of the sources.")
    gradient_norm: float = Field(
        description="The largest element of the gradient, of the residuals of a root; with bounds "
        "of its projection, with constraints of the Lagrangian's."
    )
    iterations: int
    evaluations: Evaluations
    success: bool
    message: str
    history: History
    unconnected: dict[str, Unconnected] | None = Field(
        None, description="Sources that the target does not depend on, and why."
    )
    warnings: list[Warned] | None = None


class MinimumResponse(SolveResponse):
    """The end of a run: the target's value, or half the sum of squares (of losses)."""

    value: float


class RootResponse(SolveResponse):
    """The end of a run, with the residuals in the target's structure."""

    value: Answered


SOLVE_REQUESTS: Mapping[SolveKind, type[Document]] = {
    kind: _request(kind, fields) for kind, fields in FIELDS.items()
}
SOLVE_RESPONSES: Mapping[SolveKind, type[SolveResponse]] = {
    "minimize": MinimumResponse,
    "least_squares": MinimumResponse,
    "root": RootResponse,
}
