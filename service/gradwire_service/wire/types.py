"""Types of variables in query strings: ``x:float64[10,3]``."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gradwire_engine.tape import ArrayType

from gradwire_service.problems import RequestError
from gradwire_service.wire.arrays_in import FLOAT64, MAX_DEPTH, Malformed, dtype_named

_TYPE = re.compile(r"(?P<name>.+?):(?P<dtype>\w*)(?:\[(?P<lengths>[\d, ]*)\])?", re.ASCII)
_LENGTH = re.compile(r" *\d{1,18} *", re.ASCII)


def read_types(texts: Iterable[str]) -> dict[str, ArrayType]:
    """Types of variables by their dotted paths.

    The dtype defaults to float64, the shape to a scalar.

    Raises: ``RequestError`` (invalid_request).
    """
    types: dict[str, ArrayType] = {}
    for text in texts:
        found = _TYPE.fullmatch(text)
        if found is None:
            raise _invalid_type(text, "expected a name, a colon, and a dtype with lengths")
        lengths = found["lengths"].split(",") if (found["lengths"] or "").strip() else []
        if len(lengths) > MAX_DEPTH or not all(map(_LENGTH.fullmatch, lengths)):
            raise _invalid_type(text, f"the shape is a list of at most {MAX_DEPTH} lengths")
        try:
            dtype = dtype_named(found["dtype"] or None) or FLOAT64
        except Malformed as error:
            raise _invalid_type(text, error.detail) from None
        path = found["name"].replace("[", ".").replace("]", "")
        if path in types:
            raise _invalid_type(text, "the variable already has a type")
        types[path] = ArrayType(dtype, tuple(map(int, lengths)))
    return types


def _invalid_type(text: str, why: str) -> RequestError:
    hint = "write x:float64[10,3], x:[3], or layers.0.w:float32[3,4]"
    return RequestError("invalid_request", f"type {text[:60]}: {why}", hint=hint)
