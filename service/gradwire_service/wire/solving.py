"""Read requests for optimisations, and write their answers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from gradwire_engine import Leaf
from gradwire_engine.answer import Names, Promotion
from gradwire_solvers import (
    Bound,
    Constraint,
    Minibatch,
    Solution,
    SolveKind,
    Specification,
    default_method,
)

from gradwire_service.problems import RequestError
from gradwire_service.wire.arrays_in import Malformed, describe
from gradwire_service.wire.codec import Encoding
from gradwire_service.wire.fields import (
    check_fields,
    invalid,
    names,
    names_or_null,
    one_of,
    positive,
    strings,
)
from gradwire_service.wire.leaves import read_value, read_variables, refuse
from gradwire_service.wire.references import References
from gradwire_service.wire.replies import unconnected, warned
from gradwire_service.wire.sources import Source, read_program

_SHARED = (
    "program",
    "variables",
    "sources",
    "target",
    "method",
    "options",
    "tol",
    "promotion",
    "exact",
    "encoding",
    "background",
    "wait_ms",
    "max_seconds",
)
#: The fields of each kind of request.
FIELDS: Mapping[SolveKind, frozenset[str]] = {
    "minimize": frozenset((*_SHARED, "bounds", "constraints", "minibatch")),
    "least_squares": frozenset((*_SHARED, "bounds")),
    "root": frozenset(_SHARED),
}
CONSTRAINT_FIELDS = frozenset(("program", "target", "low", "high"))
MINIBATCH_FIELDS = frozenset(("size", "variables", "seed"))
#: Most constraints, each of which is a program that may be compiled.
MOST_CONSTRAINTS = 100
#: Seeds are smaller.
MOST_SEED = 1 << 63
#: The longest that an answer is waited for before it becomes a job, where nothing is given.
WAIT_MS = 5000.0
_promotion = one_of("numpy", "strict")
_encoding = one_of("list", "base64")
_flag = one_of(False, True)


class SolveEnvelope(NamedTuple):
    """A parsed request for an optimisation: what is optimised, how, and the answer's encoding."""

    program: Source
    variables: dict[str, Any]
    sources: Names
    target: Names
    specification: Specification
    promotion: Promotion
    exact: bool
    encoding: Encoding | None


class Waiting(NamedTuple):
    """The time that a client waits for an answer before it is a job: none in the background."""

    background: bool
    wait_ms: float


def read_waiting(document: Any) -> Waiting:
    """The fields about waiting of a request, whose other fields are not checked.

    Raises: ``RequestError`` (invalid_request).
    """
    found = document if type(document) is dict else {}
    background, wait = found.get("background"), found.get("wait_ms")
    return Waiting(
        background is not None and _flag(background, "background"),
        WAIT_MS if wait is None else _at_least_0(wait, "wait_ms"),
    )


def read_solve(
    document: Any, kind: SolveKind, references: References | None = None
) -> SolveEnvelope:
    """Check a request's document and read its values; a null field counts as absent.

    Raises: ``RequestError`` (invalid_request, malformed_tensor or unknown_ref); ``InputError`` for
    methods and options.
    """
    check_fields(document, FIELDS[kind])
    references = references or References()
    references.takes_chunked = True
    program = read_program(document, references)
    read_waiting(document)

    def field(name: str, read: Any, default: Any = None) -> Any:
        value = document.get(name)
        return default if value is None else read(value, name)

    variables = field("variables", _object, {})
    constraints = _constraints(document.get("constraints"), references)
    envelope = SolveEnvelope(
        program,
        read_variables(variables, references),
        field("sources", names_or_null),
        field("target", names),
        Specification(
            kind,
            field("method", _text, default_method(kind, bool(constraints))),
            field("options", _object, {}),
            field("tol", _at_least_0),
            _bounds(field("bounds", _object, {}), references),
            constraints,
            _minibatch(document.get("minibatch")),
            field("max_seconds", positive),
        ),
        field("promotion", _promotion, "numpy"),
        field("exact", _flag, False),
        field("encoding", _encoding),
    )
    references.check()
    return envelope


def solved(program_id: str, solution: Solution) -> dict[str, Any]:
    """The document of an answer."""
    document: dict[str, Any] = {
        "program": program_id,
        "solution": solution.solution,
        "value": solution.value,
        "gradient_norm": solution.gradient_norm,
        "iterations": solution.iterations,
        "evaluations": dict(vars(solution.evaluations)),
        "success": solution.success,
        "message": solution.message,
        "history": {name: column.tolist() for name, column in solution.history.items()},
    }
    if solution.unconnected:
        document["unconnected"] = unconnected(solution.unconnected)
    if solution.warnings:
        document["warnings"] = warned(solution.warnings)
    return document


def _bounds(given: Mapping[str, Any], references: References) -> dict[str, tuple[Bound, Bound]]:
    bounds: dict[str, tuple[Bound, Bound]] = {}
    for path, pair in given.items():
        if type(pair) is not list or len(pair) != 2:
            raise invalid("bounds are a list [low, high]", f"/bounds/{_escaped(path)}")
        low, high = [_bound(each, ("bounds", path, i), references) for i, each in enumerate(pair)]
        bounds[path] = low, high
    return bounds


def _constraints(given: Any, references: References) -> list[Constraint]:
    if given is None:
        return []
    if type(given) is not list or len(given) > MOST_CONSTRAINTS:
        detail = f"constraints are a list of at most {MOST_CONSTRAINTS} objects"
        raise invalid(detail, "/constraints")
    return [_constraint(each, i, references) for i, each in enumerate(given)]


def _constraint(given: Any, number: int, references: References) -> Constraint:
    at = f"/constraints/{number}"
    try:
        check_fields(given, CONSTRAINT_FIELDS)
        present = [name for name in ("program", "target") if given.get(name) is not None]
        if len(present) != 1:
            raise invalid("a constraint has a program, or a target of the objective's", "")
        program = read_program(given, references) if "program" in present else None
        target = names(given["target"], "target") if "target" in present else None
    except RequestError as error:
        error.pointer = f"{at}{error.pointer}"
        raise
    low, high = [
        _bound(given.get(name), ("constraints", number, name), references)
        for name in ("low", "high")
    ]
    return Constraint(program, target, low, high)


def _bound(given: Any, path: tuple[str | int, ...], references: References) -> Bound:
    """A number or an array; null stands for no bound."""
    if given is None:
        return None
    try:
        read = read_value(given, references)
        if not isinstance(read, Leaf) or isinstance(read.value, str):
            raise Malformed("a bound is a number or an array of them")
    except Malformed as error:
        for name in reversed(path):
            error.prepend_path(name)
        refuse(error)
    return read.value


def _minibatch(given: Any) -> Minibatch | None:
    if given is None:
        return None
    at = "minibatch"
    try:
        check_fields(given, MINIBATCH_FIELDS)
    except RequestError as error:
        error.pointer = f"/{at}{error.pointer}"
        raise
    size, seed = given.get("size"), given.get("seed")
    if type(size) is not int or size < 1:
        raise invalid("size must be a positive integer", f"/{at}/size")
    if seed is not None and (type(seed) is not int or not 0 <= seed < MOST_SEED):
        raise invalid("seed must be an integer of at least 0, below 2⁶³", f"/{at}/seed")
    variables = strings(given.get("variables"), f"{at}/variables")
    if not variables:
        raise invalid("variables must name at least one", f"/{at}/variables")
    return Minibatch(size, variables, seed or 0)


def _object(value: Any, field: str) -> dict[str, Any]:
    if type(value) is not dict:
        raise invalid(f"{field} must be an object, got {describe(value)}", f"/{field}")
    return value


def _text(value: Any, field: str) -> str:
    if type(value) is not str:
        raise invalid(f"{field} must be a string, got {describe(value)}", f"/{field}")
    return value


def _at_least_0(value: Any, field: str) -> float:
    if type(value) in (int, float) and 0 <= value < math.inf:
        return float(value)
    raise invalid(f"{field} must be a number of at least 0", f"/{field}")


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
