"""The envelope of a compute request: every field checked, exactly and by hand."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from gradwire_engine import Program
from gradwire_engine.answer import Kind, Query, Repeats

from gradwire_service.problems import Refusal
from gradwire_service.wire.codec import Encoding
from gradwire_service.wire.leaves import read_seeds, read_tangents, read_variables
from gradwire_service.wire.numbers import MAX_DEPTH, describe
from gradwire_service.wire.references import FORMS, References, Shelf

#: What ``Engine.parse`` takes: source text, a graph, or a program that was referred to.
Source: TypeAlias = str | Mapping[str, Any] | Program

#: What makes a tape, and what a question about one does not say again.
RECORDED = frozenset(("program", "variables", "promotion", "exact"))
_SHARED = (*RECORDED, "outputs", "batch", "encoding", "timeout_ms")
_DERIVED = (*_SHARED, "target", "unconnected_gradients")
FIELDS: dict[Kind, frozenset[str]] = {
    "evaluate": frozenset(_SHARED),
    "gradient": frozenset((*_DERIVED, "sources", "output_gradients", "sparse_gradients")),
    "jacobian": frozenset((*_DERIVED, "sources", "mode", "format")),
    "hessian": frozenset((*_DERIVED, "sources", "format")),
    "jvp": frozenset((*_DERIVED, "tangents")),
    "hvp": frozenset((*_DERIVED, "vectors")),
    "check": frozenset((*_DERIVED, "sources", "output_gradients", "step", "rtol", "atol")),
}
#: What ``sparse_gradients`` asks for.
_SLICES: dict[bool | str, Repeats | None] = {False: None, True: "listed", "summed": "summed"}
#: Where a request has the values along which it is differentiated.
_DIRECTIONS: dict[Kind, str] = {"jvp": "tangents", "hvp": "vectors"}
#: Without one, arrays come back in the form that their codec has of its own.
_ENCODINGS = (None, "list", "base64")
_TAPE = RECORDED.union(
    ("encoding", "timeout_ms", "persistent", "watch", "watch_accessed_variables")
)


class Envelope(NamedTuple):
    """A request for computation, read: what the engine is asked, and how to answer."""

    program: Source
    variables: dict[str, Any]
    query: Query
    vectors: Any
    encoding: Encoding | None
    timeout_ms: float | None


class TapeEnvelope(NamedTuple):
    """A request for a tape, read: what to record, and what of it is watched."""

    program: Source
    variables: dict[str, Any]
    promotion: Literal["numpy", "strict"]
    exact: bool
    watch: Sequence[str]
    watch_accessed: bool
    persistent: bool
    encoding: Encoding | None


def read_timeout(document: Any) -> float | None:
    """The time that a request asks for; whether all of it is right is found out elsewhere.

    Raises: ``Refusal`` (invalid_request).
    """
    return _positive(document, "timeout_ms") if type(document) is dict else None


def read_envelope(
    document: Any, kind: Kind, references: References | None = None, *, of_tape: bool = False
) -> Envelope:
    """Check a request's document and read its values; null is as good as leaving a field out.

    One ``of_tape`` has neither program nor variables. Without ``references``, nothing that is
    referred to is held.

    Raises: ``Refusal`` (invalid_request, malformed_tensor or unknown_ref).
    """
    _check_fields(document, FIELDS[kind] - RECORDED if of_tape else FIELDS[kind])
    get = document.get
    references = references or References()
    program = "" if of_tape else _program(document, references)
    leaves = _variables(document, references)
    target = _names(get("target"), "/target")
    sources = _names(get("sources"), "/sources", null_allowed=True)
    vectors = get("output_gradients")
    if vectors is not None:
        vectors = read_seeds(vectors, target, references)
    if kind in _DIRECTIONS:
        sources, vectors = _directions(document, _DIRECTIONS[kind], references)
    references.check()
    query = Query(
        kind,
        outputs=_names(get("outputs"), "/outputs"),
        target=target,
        sources=sources,
        unconnected=_choice(document, "unconnected_gradients", ("none", "zero")),
        promotion=_choice(document, "promotion", ("numpy", "strict")),
        mode=_choice(document, "mode", ("auto", "forward", "reverse")),
        format=_choice(document, "format", ("dense", "coo")),
        slices=_SLICES[_choice(document, "sparse_gradients", tuple(_SLICES))],
        batch=_batch(get("batch")),
        step=_positive(document, "step"),
        rtol=_positive(document, "rtol"),
        atol=_positive(document, "atol"),
        exact=_choice(document, "exact", (False, True)),
    )
    encoding = _choice(document, "encoding", _ENCODINGS)
    return Envelope(program, leaves, query, vectors, encoding, _positive(document, "timeout_ms"))


def read_tape(document: Any, references: References | None = None) -> TapeEnvelope:
    """Check the document of a request for a tape, and read its values.

    Raises: ``Refusal`` (invalid_request, malformed_tensor or unknown_ref).
    """
    _check_fields(document, _TAPE)
    references = references or References()
    program = _program(document, references)
    variables = _variables(document, references)
    references.check()
    watch = document.get("watch") or []
    if type(watch) is not list or not all(type(name) is str for name in watch):
        raise _invalid("watch is a list of names", "/watch")
    return TapeEnvelope(
        program,
        variables,
        _choice(document, "promotion", ("numpy", "strict")),
        _choice(document, "exact", (False, True)),
        watch,
        _choice(document, "watch_accessed_variables", (True, False)),
        _choice(document, "persistent", (False, True)),
        _choice(document, "encoding", _ENCODINGS),
    )


def _check_fields(document: Any, known: frozenset[str]) -> None:
    if type(document) is not dict:
        raise _invalid(f"a request is an object, got {describe(document)}", "")
    if not document.keys() <= known:
        _refuse_unknown(document, known)


def _variables(document: dict[str, Any], references: References) -> dict[str, Any]:
    variables = document.get("variables")
    if variables is None:
        return {}
    if type(variables) is not dict:
        raise _invalid(f"variables is an object, got {describe(variables)}", "/variables")
    return read_variables(variables, references)


def _program(document: dict[str, Any], references: References) -> Source:
    program = document.get("program")
    if type(program) is str:
        return program
    if type(program) is dict:
        if "nodes" not in program:
            if "ref" in program:
                return _referred(program, "ref", references)
            if "name" in program:
                return _referred(program, "name", references)
        return program
    if "program" not in document:
        raise _invalid("a request needs a program", "/program")
    raise _invalid(f"a program is source text or an object, got {describe(program)}", "/program")


def _referred(program: dict[str, Any], field: str, references: References) -> Source:
    reference = program[field]
    if len(program) > 1:
        raise _invalid(f"a reference has {field} and no other field", "/program")
    shelf: Shelf = "programs" if field == "ref" else "names"
    well_formed, form = FORMS[shelf]
    if type(reference) is not str or not well_formed(reference):
        raise _invalid(f"a {field} is {form}", f"/program/{field}")
    return references.found(shelf, reference) or ""


def _names(value: Any, pointer: str, *, null_allowed: bool = False) -> Any:
    """A name, or names nested in lists and objects."""
    if value is None or type(value) is str:
        return value
    if type(value) is not list and type(value) is not dict:
        raise _invalid(f"names are strings, nested as you like, got {describe(value)}", pointer)
    pending: list[tuple[Any, str, int]] = [(value, pointer, 1)]
    while pending:
        outer, place, depth = pending.pop()
        if depth > MAX_DEPTH:
            raise _invalid(f"names nest deeper than {MAX_DEPTH} levels", pointer)
        for key, item in outer.items() if type(outer) is dict else enumerate(outer):
            if type(item) is str or (item is None and null_allowed):
                continue
            inner = f"{place}/{str(key).replace('~', '~0').replace('/', '~1')}"
            if type(item) is not list and type(item) is not dict:
                raise _invalid(f"a name is a string, got {describe(item)}", inner)
            pending.append((item, inner, depth + 1))
    return value


def _directions(document: dict[str, Any], field: str, references: References) -> tuple[Any, Any]:
    """The names of what has a tangent, nested as the tangents are, and the tangents."""
    given = document.get(field)
    if type(given) is not dict:
        raise _invalid(f"{field} is an object of names and values", f"/{field}")
    tangents = read_tangents(given, field, references)
    return {name: _paths(value, name) for name, value in tangents.items()}, tangents


def _paths(value: Any, path: str) -> Any:
    """The path of each array in a nested value."""
    if isinstance(value, dict):
        return {name: _paths(item, f"{path}.{name}") for name, item in value.items()}
    if isinstance(value, list):
        return [_paths(item, f"{path}.{i}") for i, item in enumerate(value)]
    return path


def _batch(value: Any) -> dict[str, int] | None:
    """The axis of examples of what is named: 0, unless it is given."""
    if value is None:
        return None
    if type(value) is list and value and all(type(name) is str for name in value):
        return dict.fromkeys(value, 0)
    if type(value) is dict and value and all(type(axis) is int for axis in value.values()):
        return value
    raise _invalid("batch is a list of names, or an object of names and axes", "/batch")


def _choice(document: dict[str, Any], field: str, choices: tuple[Any, ...]) -> Any:
    value = document.get(field)
    if value is None:
        return choices[0]
    if type(value) in map(type, choices) and value in choices:
        return value
    allowed = " or ".join(json.dumps(choice) for choice in choices if choice is not None)
    raise _invalid(f"{field} is {allowed}", f"/{field}")


def _positive(document: dict[str, Any], field: str) -> float | None:
    value = document.get(field)
    if value is None:
        return None
    if type(value) in (int, float) and 0 < value < math.inf:
        return float(value)
    raise _invalid(f"{field} is a positive number", f"/{field}")


def _refuse_unknown(document: dict[str, Any], known: frozenset[str]) -> None:
    unknown = min(document.keys() - known)
    escaped = unknown.replace("~", "~0").replace("/", "~1")
    raise Refusal(
        "invalid_request",
        "the request has a field that is not known here",
        pointer=f"/{escaped}",
        hint=f"known are {', '.join(sorted(known))}",
    )


def _invalid(detail: str, pointer: str) -> Refusal:
    return Refusal("invalid_request", detail, pointer=pointer)
