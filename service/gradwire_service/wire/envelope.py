"""The fields of a compute request, each of them checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from gradwire_engine.answer import Kind, Query, Repeats

from gradwire_service.problems import RequestError
from gradwire_service.wire.arrays_in import describe
from gradwire_service.wire.codec import Encoding
from gradwire_service.wire.fields import (
    Reader,
    axes,
    check_fields,
    invalid,
    names,
    names_or_null,
    one_of,
    paths,
    positive,
    results,
    strings,
)
from gradwire_service.wire.leaves import read_variables
from gradwire_service.wire.references import References
from gradwire_service.wire.seeds import read_seeds, read_tangents
from gradwire_service.wire.sources import Source, read_program

#: Fields that record a tape; queries of a tape do not repeat them.
RECORDED = frozenset(("program", "variables", "promotion", "exact"))
#: Fields about the results that stay with the service. Answers of tapes leave nothing there.
_KEPT = frozenset(("keep", "release"))
_SHARED = (*RECORDED, *_KEPT, "outputs", "batch", "encoding", "timeout_ms")
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
#: The fields of a query of a tape.
FIELDS_OF_TAPE = {kind: fields - RECORDED - _KEPT for kind, fields in FIELDS.items()}
#: The queries that are explained, and their fields: a graph is of one example, and nothing is kept.
EXPLAINED: tuple[Kind, ...] = ("gradient", "evaluate", "jacobian", "hessian")
FIELDS_EXPLAINED = {
    kind: (FIELDS[kind] - _KEPT - {"batch"}) | {"query", "time"} for kind in EXPLAINED
}
_explained = one_of(*EXPLAINED)
#: Values of ``sparse_gradients``.
_SLICES: dict[bool | str, Repeats | None] = {False: None, True: "listed", "summed": "summed"}
_slices = one_of(*_SLICES)
#: Fields of a query: the attribute of ``Query``, and the field's reader.
_QUERY_FIELDS: dict[str, tuple[str, Reader]] = {
    "outputs": ("outputs", names),
    "target": ("target", names),
    "sources": ("sources", names_or_null),
    "unconnected_gradients": ("unconnected", one_of("none", "zero")),
    "promotion": ("promotion", one_of("numpy", "strict")),
    "mode": ("mode", one_of("auto", "forward", "reverse")),
    "format": ("format", one_of("dense", "coo")),
    "sparse_gradients": ("slices", lambda value, field: _SLICES[_slices(value, field)]),
    "batch": ("batch", axes),
    "step": ("step", positive),
    "rtol": ("rtol", positive),
    "atol": ("atol", positive),
    "exact": ("exact", one_of(False, True)),
}
#: The same for the fields that a tape is recorded with.
_TAPE_FIELDS: dict[str, tuple[str, Reader]] = {
    "promotion": _QUERY_FIELDS["promotion"],
    "exact": _QUERY_FIELDS["exact"],
    "watch": ("watch", strings),
    "watch_accessed_variables": ("watch_accessed", one_of(False, True)),
    "persistent": ("persistent", one_of(False, True)),
}
_KEPT_FIELDS: dict[str, tuple[str, Reader]] = {
    "keep": ("keep", paths),
    "release": ("release", results),
}
#: Queries without further fields.
_DEFAULT_QUERIES: dict[Kind, Query] = {kind: Query(kind) for kind in FIELDS}
#: Fields with tangents.
_TANGENT_FIELDS: dict[Kind, str] = {"jvp": "tangents", "hvp": "vectors"}
_encoding = one_of("list", "base64")
_flag = one_of(False, True)
TAPE_FIELDS = RECORDED.union(
    ("encoding", "timeout_ms", "persistent", "watch", "watch_accessed_variables")
)


class Envelope(NamedTuple):
    """A parsed compute request: program, values, query, and the encoding of the answer."""

    program: Source
    variables: dict[str, Any]
    query: Query
    vectors: Any
    encoding: Encoding | None
    #: Members of the answer whose arrays stay with the service, and results to delete there.
    keep: Sequence[str] = ()
    release: Sequence[str] = ()


class TapeEnvelope(NamedTuple):
    """A parsed request for a tape: what to record, and which variables are watched."""

    program: Source
    variables: dict[str, Any]
    encoding: Encoding | None
    promotion: Literal["numpy", "strict"] = "numpy"
    exact: bool = False
    watch: Sequence[str] = ()
    watch_accessed: bool = True
    persistent: bool = False


#: A timeout in a header has fewer digits than this.
_MAX_DIGITS = 16


def read_timeout(document: Any) -> float | None:
    """The timeout in a request's document, whose other fields are not checked.

    Raises: ``RequestError`` (invalid_request).
    """
    value = document.get("timeout_ms") if type(document) is dict else None
    return None if value is None else positive(value, "timeout_ms")


def timeout_of_header(value: bytes) -> float:
    """The timeout in the header ``Gradwire-Timeout-Ms``: proxies do not read bodies.

    Raises: ``RequestError`` (invalid_request).
    """
    if not value.isdigit() or not 0 < len(value) < _MAX_DIGITS or not int(value):
        detail = "the header Gradwire-Timeout-Ms must be a positive integer of milliseconds"
        raise RequestError("invalid_request", detail)
    return float(value)


def read_envelope(
    document: Any, kind: Kind, references: References | None = None, *, of_tape: bool = False
) -> Envelope:
    """Check a request's document and read its values; a null field counts as absent.

    A query ``of_tape`` has neither program nor variables. Without ``references``, all are missing.

    Raises: ``RequestError`` (invalid_request, malformed_tensor or unknown_ref).
    """
    check_fields(document, FIELDS_OF_TAPE[kind] if of_tape else FIELDS[kind])
    return _envelope(document, kind, references or References(), of_tape=of_tape)


def read_explained(document: Any, references: References) -> tuple[Envelope, bool]:
    """Check the document of a query to be explained: it, and whether to time its instructions.

    Raises: ``RequestError`` (invalid_request, malformed_tensor or unknown_ref).
    """
    check_fields(document, frozenset().union(*FIELDS_EXPLAINED.values()))
    kind, timed = document.get("query"), document.get("time")
    kind = EXPLAINED[0] if kind is None else _explained(kind, "query")
    check_fields(document, FIELDS_EXPLAINED[kind])
    timed = timed is not None and _flag(timed, "time")
    return _envelope(document, kind, references, of_tape=False), timed


def _envelope(document: Any, kind: Kind, references: References, *, of_tape: bool) -> Envelope:
    program = "" if of_tape else read_program(document, references)
    variables = _variables(document, references)
    options = _options(document, _QUERY_FIELDS)
    vectors = document.get("output_gradients")
    if vectors is not None:
        vectors = read_seeds(vectors, options.get("target"), references)
    elif kind in _TANGENT_FIELDS:
        options["sources"], vectors = _tangents(document, _TANGENT_FIELDS[kind], references)
    references.check()
    query = Query(kind, **options) if options else _DEFAULT_QUERIES[kind]
    envelope = Envelope(program, variables, query, vectors, _encoding_of(document))
    kept = _options(document, _KEPT_FIELDS)
    return envelope._replace(**kept) if kept else envelope


def read_tape(document: Any, references: References | None = None) -> TapeEnvelope:
    """Check the document of a request for a tape, and read its values.

    Raises: ``RequestError`` (invalid_request, malformed_tensor or unknown_ref).
    """
    check_fields(document, TAPE_FIELDS)
    references = references or References()
    program = read_program(document, references)
    variables = _variables(document, references)
    references.check()
    options = _options(document, _TAPE_FIELDS)
    return TapeEnvelope(program, variables, _encoding_of(document), **options)


def _options(document: dict[str, Any], known: Mapping[str, tuple[str, Reader]]) -> dict[str, Any]:
    """The non-null ``known`` fields of ``document``, by attribute."""
    options: dict[str, Any] = {}
    for field, value in document.items():
        if value is not None and field in known:
            name, read = known[field]
            options[name] = read(value, field)
    return options


def _encoding_of(document: dict[str, Any]) -> Encoding | None:
    value = document.get("encoding")
    return None if value is None else _encoding(value, "encoding")


def _variables(document: dict[str, Any], references: References) -> dict[str, Any]:
    variables = document.get("variables")
    if variables is None:
        return {}
    if type(variables) is not dict:
        raise invalid(f"variables must be an object, got {describe(variables)}", "/variables")
    return read_variables(variables, references)


def _tangents(document: dict[str, Any], field: str, references: References) -> tuple[Any, Any]:
    """The paths of the variables with tangents, nested like the tangents, and the tangents."""
    given = document.get(field)
    if type(given) is not dict:
        raise invalid(f"{field} must be an object of names and values", f"/{field}")
    tangents = read_tangents(given, field, references)
    return {name: _paths(value, name) for name, value in tangents.items()}, tangents


def _paths(value: Any, path: str) -> Any:
    """The path of each array in a nested value."""
    if isinstance(value, dict):
        return {name: _paths(item, f"{path}.{name}") for name, item in value.items()}
    if isinstance(value, list):
        return [_paths(item, f"{path}.{i}") for i, item in enumerate(value)]
    return path
