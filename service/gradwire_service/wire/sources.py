"""Read the field ``program``, and requests to register a program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

from gradwire_engine import Program

from gradwire_service.problems import RequestError
from gradwire_service.wire.arrays_in import describe
from gradwire_service.wire.fields import check_fields, invalid
from gradwire_service.wire.references import FORMS, ReferenceKind, References

#: Input of ``Engine.parse``: source text, a graph, or a stored program.
Source: TypeAlias = str | Mapping[str, Any] | Program
#: The longest source text, in characters: its syntax tree takes some 200 bytes for each.
MOST_TEXT = 4_000_000
_REGISTRATION = frozenset(("program", "name", "ref"))


class Registration(NamedTuple):
    """A request to register a program, with its name and the id that is expected."""

    program: Source
    name: str | None
    ref: str | None


def read_program(document: dict[str, Any], references: References) -> Source:
    """The program that a request contains or refers to; a placeholder if that is missing.

    Raises: ``RequestError`` (invalid_request, over_budget).
    """
    program = document.get("program")
    if type(program) is str:
        if len(program) > MOST_TEXT:
            detail = f"a program has at most {MOST_TEXT} characters"
            raise RequestError("over_budget", detail, pointer="/program")
        return program
    if type(program) is dict:
        if "nodes" not in program:
            if "ref" in program:
                return _referred(program, "ref", references)
            if "name" in program:
                return _referred(program, "name", references)
        return program
    if "program" not in document:
        raise invalid("a request needs a program", "/program")
    raise invalid(f"a program is source text or an object, got {describe(program)}", "/program")


def read_registration(document: Any, references: References) -> Registration:
    """Check the document of a request to register a program.

    Raises: ``RequestError`` (invalid_request or unknown_ref).
    """
    check_fields(document, _REGISTRATION)
    program = read_program(document, references)
    references.check()
    name, ref = document.get("name"), document.get("ref")
    return Registration(
        program,
        None if name is None else _reference(name, "names", "/name"),
        None if ref is None else _reference(ref, "programs", "/ref"),
    )


def _referred(program: dict[str, Any], field: str, references: References) -> Source:
    if len(program) > 1:
        raise invalid(f"a reference has {field} and no other field", "/program")
    kind: ReferenceKind = "programs" if field == "ref" else "names"
    reference = _reference(program[field], kind, f"/program/{field}")
    return references.find(kind, reference) or ""


def _reference(value: Any, kind: ReferenceKind, pointer: str) -> str:
    well_formed, form = FORMS[kind]
    if type(value) is str and well_formed(value):
        return value
    raise invalid(f"a {pointer.rpartition('/')[2]} is {form}", pointer)
