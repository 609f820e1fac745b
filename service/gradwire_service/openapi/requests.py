"""The documents of requests, made of the fields that ``wire/envelope.py`` reads."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Any, Literal

from gradwire_engine.answer import Kind
from pydantic import Field, create_model

from gradwire_service.openapi.programs import Names, NamesOrNull, Program
from gradwire_service.openapi.values import Cotangents, Direction, Document, ResultId, Value
from gradwire_service.wire.envelope import (
    EXPLAINED,
    FIELDS,
    FIELDS_EXPLAINED,
    FIELDS_OF_TAPE,
    TAPE_FIELDS,
)
from gradwire_service.wire.fields import MOST_PATHS

_Axes = Annotated[list[str], Field(min_length=1)] | Annotated[dict[str, int], Field(min_length=1)]
_Directions = Annotated[
    dict[str, Direction],
    Field(description="Directions by name, nested as the values of these names are."),
]


def _optional(kind: Any, description: str, **bounds: Any) -> tuple[Any, Any]:
    return (kind | None, Field(None, description=description, **bounds))


#: Type and description of every field, in the order of the schema.
_TYPES: dict[str, tuple[Any, Any]] = {
    "program": (Program, ...),
    "variables": _optional(dict[str, Value], "Values, nested as you like."),
    "outputs": _optional(Names, "Names whose values to return."),
    "batch": _optional(
        _Axes,
        "Variables, and output_gradients, tangents or vectors, with an axis of examples, the first "
        "or the one given: everything is answered for each example, along a first axis. Of a tape "
        "only the latter.",
    ),
    "persistent": _optional(bool, "Whether it answers more than once."),
    "watch": _optional(list[str], "Variables and intermediates that are sources, too."),
    "watch_accessed_variables": _optional(
        bool, "`false`: of the variables, only those in `watch` are sources."
    ),
    "encoding": _optional(Literal["list", "base64"], "How arrays come back."),
    "promotion": _optional(Literal["numpy", "strict"], "`strict` makes mixing dtypes an error."),
    "exact": _optional(
        bool,
        "No rewriting that changes rounding: bit for bit what the recorded operations give one by "
        "one in NumPy.",
    ),
    "keep": _optional(
        Annotated[list[str], Field(max_length=MOST_PATHS)],
        "Members of the answer, by path (`gradients`, `outputs.0`), whose arrays stay with the "
        "service: references come in their place. Small arrays, and those for which there is no "
        "room, come as they are.",
    ),
    "release": _optional(
        list[ResultId], "Results of earlier answers that are not needed any more, nor here."
    ),
    "timeout_ms": _optional(float, "Time allowed, queueing included.", gt=0),
    "target": _optional(Names, "What to differentiate; the sum where nested."),
    "unconnected_gradients": _optional(
        Literal["none", "zero"], "What a derivative that does not exist is given as."
    ),
    "sources": (
        NamesOrNull,
        Field(None, description="With respect to what; all variables if left out."),
    ),
    "output_gradients": (
        Cotangents,
        Field(None, description="Cotangents in the target's structure; null stands for ones."),
    ),
    "sparse_gradients": _optional(
        bool | Literal["summed"],
        "Gradients by slices in what is only gathered from, repeats listed.",
    ),
    "step": _optional(float, "How far elements are moved, times their size or one.", gt=0),
    "rtol": _optional(float, "Difference allowed, of the largest in its source.", gt=0),
    "atol": _optional(float, "Difference allowed beside.", gt=0),
    "format": _optional(
        Literal["dense", "coo"],
        "Whole arrays, or indices and values of what may differ from zero.",
    ),
    "mode": _optional(
        Literal["auto", "forward", "reverse"], "By columns, by rows, or whichever are fewer."
    ),
    "tangents": (_Directions, ...),
    "vectors": (_Directions, ...),
    "query": _optional(
        Literal[EXPLAINED],
        "What is explained, a gradient if left out: its fields are those that may be given.",
    ),
    "time": _optional(bool, "Whether to measure what each instruction takes."),
}


def _request(name: str, path: str, fields: Collection[str]) -> type[Document]:
    """The document with these fields that ``path`` takes."""
    types: dict[str, Any] = {field: kind for field, kind in _TYPES.items() if field in fields}
    assert types.keys() == set(fields)
    return create_model(name, __base__=Document, __doc__=f"The body of ``{path}``.", **types)


TapeRequest = _request("TapeRequest", "POST /v1/tapes", TAPE_FIELDS)
REQUESTS: dict[Kind, type[Document]] = {
    kind: _request(f"{kind.capitalize()}Request", f"/v1/{kind}", fields)
    for kind, fields in FIELDS.items()
}
ExplainRequest = _request(
    "ExplainRequest", "/v1/explain", frozenset().union(*FIELDS_EXPLAINED.values())
)
#: The kinds of computation on tapes.
TAPE_KINDS: tuple[Kind, ...] = tuple(kind for kind in FIELDS if kind != "evaluate")
TAPE_REQUESTS: dict[Kind, type[Document]] = {
    kind: _request(
        f"Tape{kind.capitalize()}Request",
        f"POST /v1/tapes/{{tape}}/{kind}",
        FIELDS_OF_TAPE[kind],
    )
    for kind in TAPE_KINDS
}
