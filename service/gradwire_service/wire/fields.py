"""Readers of request fields: each checks a value and converts it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any, TypeAlias

from gradwire_engine import hints

from gradwire_service.problems import RequestError
from gradwire_service.wire.arrays_in import MAX_DEPTH, describe
from gradwire_service.wire.references import is_result

#: Maximum names in one field.
MOST_NAMES = 100_000
#: Maximum paths of members of an answer, which is walked through for each.
MOST_PATHS = 32
#: Takes a non-null value and the name of its field; raises ``RequestError``.
Reader: TypeAlias = Callable[[Any, str], Any]


def one_of(*choices: Any) -> Reader:
    """A reader that accepts one of ``choices``."""

    def read(value: Any, field: str) -> Any:
        if type(value) in map(type, choices) and value in choices:
            return value
        allowed = " or ".join(json.dumps(choice) for choice in choices)
        raise invalid(f"{field} must be {allowed}", f"/{field}")

    return read


def positive(value: Any, field: str) -> float:
    """A positive number."""
    if type(value) in (int, float) and 0 < value < math.inf:
        return float(value)
    raise invalid(f"{field} must be a positive number", f"/{field}")


def strings(value: Any, field: str) -> list[str]:
    """A list of names."""
    if type(value) is list and all(type(name) is str for name in value):
        return value
    raise invalid(f"{field} must be a list of names", f"/{field}")


def paths(value: Any, field: str) -> list[str]:
    """A short list of paths of members."""
    found = strings(value, field)
    if len(found) > MOST_PATHS:
        raise invalid(f"{field} has more than {MOST_PATHS} paths", f"/{field}")
    return found


def results(value: Any, field: str) -> list[str]:
    """A list of ids of results."""
    if type(value) is not list or not all(type(ref) is str and is_result(ref) for ref in value):
        raise invalid(f"{field} must be a list of results, which begin with result:", f"/{field}")
    if len(value) > MOST_NAMES:
        raise invalid(f"{field} has more than {MOST_NAMES} results", f"/{field}")
    return value


def names(value: Any, field: str) -> Any:
    """A name, or names nested in lists and objects."""
    return _names(value, f"/{field}", null_allowed=False)


def names_or_null(value: Any, field: str) -> Any:
    """Names where some places may be null."""
    return _names(value, f"/{field}", null_allowed=True)


def axes(value: Any, field: str) -> dict[str, int]:
    """The batch axis of each name: 0 unless given."""
    if type(value) is list and value and all(type(name) is str for name in value):
        return dict.fromkeys(value, 0)
    if type(value) is dict and value and all(type(axis) is int for axis in value.values()):
        return value
    raise invalid(f"{field} must be a list of names, or an object of names and axes", f"/{field}")


def check_fields(document: Any, known: frozenset[str]) -> None:
    """Refuse anything but an object, and fields that are not ``known``."""
    if type(document) is not dict:
        raise invalid(f"expected a JSON object, got {describe(document)}", "")
    if not document.keys() <= known:
        unknown = min(document.keys() - known)
        escaped = unknown.replace("~", "~0").replace("/", "~1")
        raise RequestError(
            "invalid_request",
            "unknown field",
            pointer=f"/{escaped}",
            hint=hints.for_parameter(unknown, known) or f"known fields: {', '.join(sorted(known))}",
        )


def invalid(detail: str, pointer: str) -> RequestError:
    """The error for an invalid field or request."""
    return RequestError("invalid_request", detail, pointer=pointer)


def _names(value: Any, pointer: str, *, null_allowed: bool) -> Any:
    if type(value) is str:
        return value
    if type(value) is not list and type(value) is not dict:
        raise invalid(
            f"names are strings, or nested lists and objects of them, got {describe(value)}",
            pointer,
        )
    pending: list[tuple[Any, str, int]] = [(value, pointer, 1)]
    count = 0
    while pending:
        outer, place, depth = pending.pop()
        if depth > MAX_DEPTH:
            raise invalid(f"names nest deeper than {MAX_DEPTH} levels", pointer)
        count += len(outer)
        if count > MOST_NAMES:
            raise invalid(f"there are more than {MOST_NAMES} names", pointer)
        for key, item in outer.items() if type(outer) is dict else enumerate(outer):
            if type(item) is str or (item is None and null_allowed):
                continue
            inner = f"{place}/{str(key).replace('~', '~0').replace('/', '~1')}"
            if type(item) is not list and type(item) is not dict:
                raise invalid(f"a name is a string, got {describe(item)}", inner)
            pending.append((item, inner, depth + 1))
    return value
