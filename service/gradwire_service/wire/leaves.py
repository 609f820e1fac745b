"""Read the ``variables`` of a request as leaves, which contain arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np
from gradwire_engine import Leaf, Ragged, Sparse

from gradwire_service.problems import RequestError
from gradwire_service.wire.arrays_in import (
    FLOAT64,
    MAX_DEPTH,
    WORDS,
    Array,
    Dtype,
    Malformed,
    array_or_none,
    complex_array,
    dtype_named,
    list_array,
    raw_array,
    scalar_array,
)
from gradwire_service.wire.chunked import read_chunked
from gradwire_service.wire.composites import read_ragged, read_sparse
from gradwire_service.wire.references import FORMS, References

#: An object with one of the first members, or with both of the second, is a leaf.
MARKS = frozenset(("value", "base64", "data", "ref", "indices", "row_splits"))
COMPLEX = frozenset(("re", "im"))
#: Members that give an array's bytes; such a leaf may be the value of another leaf.
HELD = frozenset(("base64", "data", "ref"))
_UNKNOWN = np.zeros(())
_SPLIT_HINT = "to nest variables under such a name, use dotted paths as keys"


def read_variables(document: Mapping[str, Any], references: References) -> dict[str, Any]:
    """The leaves of ``variables``, nested like it; ``variables`` itself is never a leaf.

    A missing reference gives a placeholder.

    Raises: ``RequestError`` (malformed_tensor), with a pointer to the leaf or the element.
    """
    variables: dict[str, Any] = {}
    name = ""
    references.count(len(document))
    try:
        for name, value in document.items():
            if type(value) is list and (array := array_or_none(value)) is not None:
                variables[name] = Leaf(array)
            else:
                variables[name] = read_value(value, references)
    except Malformed as error:
        error.prepend_path(name)
        error.prepend_path("variables")
        refuse(error)
    return variables


def read_tensor(document: Any) -> Array:
    """The array of a single leaf; an array is returned as it is.

    Raises: ``RequestError`` (malformed_tensor), with a pointer into the leaf.
    """
    if isinstance(document, np.ndarray):
        return document
    try:
        if type(document) is dict and "ref" in document:
            raise Malformed("a tensor is stored by its values, not by reference")
        read = read_value(document, References())
        if not isinstance(read, Leaf) or isinstance(read.value, str):
            raise Malformed(
                "a tensor is one array", hint="store each array of a nested value separately"
            )
    except Malformed as error:
        refuse(error)
    return read.value


def refuse(error: Malformed) -> NoReturn:
    """Raise the request's error for a malformed value."""
    raise RequestError(error.code, error.detail, pointer=error.pointer, hint=error.hint) from None


def read_value(value: Any, references: References, depth: int = 1) -> Any:
    """One member of ``variables``: a leaf, or leaves nested in lists and dicts.

    Where ``references`` take them, also references to chunked variables.

    Raises: ``Malformed``.
    """
    kind = type(value)
    if kind is float or kind is int:
        return Leaf(np.array(value, FLOAT64))
    if kind is list:
        array = array_or_none(value)
        if array is not None:
            return Leaf(array)
    elif kind is bool:
        return Leaf(np.array(value))
    elif kind is str:
        return Leaf(np.array(WORDS[value]) if value in WORDS else value)
    elif kind is dict:
        if not MARKS.isdisjoint(value) or value.keys() >= COMPLEX:
            return _read_object(value, references)
        if references.takes_chunked and (chunked := read_chunked(value)) is not None:
            return chunked
    elif kind is memoryview:
        hint = 'send {"dtype": "float64", "shape": [2, 3], "data": …}'
        raise Malformed("raw bytes have no dtype and shape of their own", hint=hint)
    else:
        raise Malformed("null is not a value", hint="leave the variable out, or give it a number")
    if depth > MAX_DEPTH:
        raise Malformed(f"values nest deeper than {MAX_DEPTH} levels")
    references.count(len(value))
    if kind is list:
        return [_read_member(i, item, references, depth) for i, item in enumerate(value)]
    return {name: _read_member(name, item, references, depth) for name, item in value.items()}


def _read_member(name: str | int, value: Any, references: References, depth: int) -> Any:
    try:
        return read_value(value, references, depth + 1)
    except Malformed as error:
        error.prepend_path(name)
        raise


def _read_object(leaf: dict[str, Any], references: References) -> Leaf | Sparse | Ragged:
    """A leaf object: one of the forms below, each with an optional ``trainable``."""
    trainable = leaf.get("trainable", True)
    if type(trainable) is not bool:
        raise Malformed("trainable must be true or false", "trainable")
    if "value" in leaf:
        if leaf.get("shape") is not None:
            raise Malformed("a value has its own shape; null lets assignments change it", "shape")
        if type(leaf["value"]) is dict and not HELD.isdisjoint(leaf["value"]):
            _check_fields(leaf, {"value", "shape"})
            held = _read_part("value", leaf["value"], references)
            return held._replace(trainable=held.trainable and trainable, any_shape="shape" in leaf)
        _check_fields(leaf, {"value", "dtype", "shape"})
        return Leaf(_value_form(leaf), trainable, "shape" in leaf)
    if "base64" in leaf or "data" in leaf:
        field = "base64" if "base64" in leaf else "data"
        _check_fields(leaf, {"dtype", "shape", field})
        return Leaf(_raw_form(leaf, field), trainable)
    if "ref" in leaf:
        _check_fields(leaf, {"ref"})
        return _resident(leaf["ref"], references, trainable=trainable)
    if "indices" in leaf or "row_splits" in leaf:
        return _composite(leaf, references, trainable=trainable)
    _check_fields(leaf, {"re", "im", "dtype"})
    dtype = dtype_named(leaf.get("dtype"))
    return Leaf(complex_array(leaf["re"], leaf["im"], dtype), trainable)


def _check_fields(leaf: dict[str, Any], known: set[str]) -> None:
    if not leaf.keys() <= known and leaf.keys() - known != {"trainable"}:
        fields = ", ".join(sorted(known | {"trainable"}))
        raise Malformed(f"this form of a leaf has only the fields {fields}", hint=_SPLIT_HINT)


def _composite(
    leaf: dict[str, Any], references: References, *, trainable: bool
) -> Leaf | Sparse | Ragged:
    """A sparse or ragged tensor; its parts are lists, or leaves of their own."""
    sparse = "indices" in leaf
    further = {"indices", "shape"} if sparse else {"row_splits"}
    _check_fields(leaf, {"values", "dtype"} | further)
    leaves = {
        name: _read_part(name, value, references)
        for name, value in leaf.items()
        if type(value) is dict
    }
    if any(part.value is _UNKNOWN for part in leaves.values()):
        return Leaf(_UNKNOWN)
    if "values" in leaves:
        trainable &= leaves["values"].trainable

    def part(name: str, dtype: Dtype | None) -> Array:
        if name in leaves:
            return leaves[name].value  # type: ignore[return-value]  # never a string
        value = leaf.get(name)
        try:
            if type(value) is list:
                return list_array(value, dtype)
            raise _no_part(leaf, name)
        except Malformed as error:
            error.prepend_path(name)
            raise

    read = read_sparse if sparse else read_ragged
    return read(leaf, part, trainable=trainable)


def _no_part(leaf: dict[str, Any], name: str) -> Malformed:
    if leaf.get(name) is None:
        return Malformed(f"a sparse or ragged tensor needs {name}")
    return Malformed("expected a list or a leaf")


def _read_part(name: str, value: dict[str, Any], references: References) -> Leaf:
    try:
        read = read_value(value, references)
        if not isinstance(read, Leaf) or isinstance(read.value, str):
            raise Malformed("expected a list or a leaf")
    except Malformed as error:
        error.prepend_path(name)
        raise
    return read


def _value_form(leaf: dict[str, Any]) -> Any:
    value, dtype = leaf["value"], dtype_named(leaf.get("dtype"))
    try:
        if type(value) is list:
            return list_array(value, dtype)
        if type(value) is dict and value.keys() == COMPLEX:
            return complex_array(value["re"], value["im"], dtype)
        if type(value) is str and value not in WORDS and dtype is None:
            return value
        return scalar_array(value, dtype)
    except Malformed as error:
        error.prepend_path("value")
        raise


def _raw_form(leaf: dict[str, Any], field: str) -> Array:
    dtype = dtype_named(leaf.get("dtype"))
    if dtype is None:
        raise Malformed("raw bytes need a dtype and a shape")
    return raw_array(leaf[field], field, dtype, leaf.get("shape"))


def _resident(ref: Any, references: References, *, trainable: bool) -> Leaf:
    is_reference, form = FORMS["tensors"]
    if type(ref) is not str or not is_reference(ref):
        raise Malformed(f"a ref is {form}", "ref")
    array = references.find("tensors", ref)
    return Leaf(_UNKNOWN if array is None else array, trainable, resident=references.resident(ref))
