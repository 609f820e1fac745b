"""Digests of requests for optimisations: equal where the requests ask the same."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from gradwire_service.problems import RequestError
from gradwire_service.wire.arrays_in import WORDS
from gradwire_service.wire.chunked import KINDS
from gradwire_service.wire.codec import Codec
from gradwire_service.wire.leaves import COMPLEX, MARKS

#: Longer bodies are read elsewhere: an event loop would wait for them for a millisecond or more.
SMALL_BYTES = 1 << 12
#: Fields that are numbers, and those that have numbers by name.
_NUMBERS = frozenset(("tol", "wait_ms", "max_seconds"))
_NUMBERS_BY_NAME = frozenset(("variables", "bounds"))
#: The member of raw bytes in what is hashed: no document has it, since it is not Unicode.
_RAW = "\ud800"


def digest_of(kind: str, reply_type: str, reader: Codec, body: bytes | bytearray) -> str:
    """The digest of a request of a ``kind`` that is answered in ``reply_type``.

    Documents are equal that differ in their format, in white space, in how a number or a string is
    written, and in the order of members where that means nothing. Numbers are equal by value and
    type, but 1 is 1.0 where it is read as that: in ``variables`` and ``bounds``, unless a dtype is
    given, and in times and ``tol``. A null field is an absent one. A body that cannot be read is
    equal to itself.
    """
    found = sha256(json.dumps([kind, reply_type]).encode())
    try:
        document = reader.read(body)
        texts = [_text(_plain(document)), _text(_orders(document))]
    except (RequestError, RecursionError, OverflowError):
        found.update(body)
    else:
        for text in texts:
            found.update(b"%d %s" % (len(text), text))
    return found.hexdigest()


def _text(document: Any) -> bytes:
    """A document as text, its members in the order of their names."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), default=_raw).encode()


def _raw(data: Any) -> dict[str, str]:
    return {_RAW: sha256(data).hexdigest()}


def _plain(document: Any) -> Any:
    """A request without null fields, in which integers are floats where they are read as such."""
    if type(document) is not dict:
        return document
    fields = {name: value for name, value in document.items() if value is not None}
    for name in _NUMBERS & fields.keys():
        fields[name] = _floats(fields[name])
    for name in _NUMBERS_BY_NAME & fields.keys():
        if type(named := fields[name]) is dict:  # which is no leaf, whatever its names are
            fields[name] = {path: _floats(each) for path, each in named.items()}
    return fields


def _floats(value: Any) -> Any:
    kind = type(value)
    if kind is int:
        return float(value)
    if kind is list:
        return [_floats(item) for item in value]
    if kind is not dict:
        return value
    if not _is_leaf(value):
        return {name: _floats(item) for name, item in value.items()}
    if "value" in value and value.get("dtype") is None and type(value["value"]) is not dict:
        return value | {"value": _floats(value["value"])}
    return value


def _orders(document: Any) -> Any:
    """The orders of members that a request's answer depends on.

    Sources are laid out as one vector in the order of ``sources``, or without these in that of
    ``variables``; residuals in that of ``target`` or of a graph's ``outputs``. Programs may go
    through the members of a nested variable.
    """
    if type(document) is not dict:
        return None
    variables = document.get("variables")
    levels, moved = {}, []
    if type(variables) is dict:
        levels = {name: _order(value) for name, value in variables.items()}
        if document.get("sources") is None:
            moved = [name for name, value in variables.items() if _moves(value)]
    constraints = document.get("constraints")
    programs = [document, *(constraints if type(constraints) is list else ())]
    return [
        moved,
        levels,
        _order(document.get("sources")),
        _order(document.get("target")),
        [_outputs(each.get("program")) for each in programs if type(each) is dict],
    ]


def _order(value: Any) -> Any:
    """The names of members at each level of a nested value, in their order; None without any."""
    if type(value) is list:
        return [_order(item) for item in value if type(item) in (list, dict)] or None
    if type(value) is not dict or _is_leaf(value):
        return None
    return [(name, _order(item)) for name, item in value.items()]


def _outputs(program: Any) -> Any:
    """The orders of outputs of a graph, and of those in its attributes."""
    if type(program) is list:
        return [_outputs(item) for item in program]
    if type(program) is not dict:
        return None
    return {
        name: _order(value) if name == "outputs" else _outputs(value)
        for name, value in program.items()
    }


def _moves(value: Any) -> bool:
    """True if a variable may have elements that move where no sources are named."""
    if type(value) is list:
        return any(map(_moves, value))
    if type(value) is not dict:
        return type(value) in (int, float) or (type(value) is str and value in WORDS)
    if _is_leaf(value):
        dtype = value.get("dtype")
        is_whole = type(dtype) is str and dtype.startswith(("int", "uint", "bool"))
        return value.get("trainable") is not False and not is_whole
    return any(map(_moves, value.values()))


def _is_leaf(value: Mapping[str, Any]) -> bool:
    """True of an object that is one array, or refers to one."""
    if any(type(value.get(kind)) is str for kind in KINDS):
        return True
    return not MARKS.isdisjoint(value) or value.keys() >= COMPLEX
