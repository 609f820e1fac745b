"""Read the seeds of derivatives as arrays: cotangents, tangents and vectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradwire_engine import Leaf, Ragged, Sparse

from gradwire_service.wire.arrays_in import ArrayMismatch, Malformed
from gradwire_service.wire.leaves import read_value, refuse
from gradwire_service.wire.references import References


def read_seeds(value: Any, target: Any, references: References) -> Any:
    """``output_gradients`` as arrays, nested like ``target``; null means ones.

    Raises: ``RequestError`` (malformed_tensor, invalid_request), with a pointer.
    """
    try:
        return _seeds(value, target, references)
    except Malformed as error:
        error.prepend_path("output_gradients")
        refuse(error)


def read_tangents(
    document: Mapping[str, Any], field: str, references: References
) -> dict[str, Any]:
    """``tangents`` or ``vectors``: arrays by name, nested like the variables of these names.

    Raises: ``RequestError`` (malformed_tensor), with a pointer.
    """
    tangents: dict[str, Any] = {}
    name = ""
    try:
        for name, value in document.items():
            tangents[name] = _bare(read_value(value, references))
    except Malformed as error:
        error.prepend_path(name)
        error.prepend_path(field)
        refuse(error)
    return tangents


def _seeds(value: Any, target: Any, references: References) -> Any:
    if value is None:
        return None
    if isinstance(target, list):
        if type(value) is not list or len(value) != len(target):
            raise ArrayMismatch(f"expected a list of {len(target)}, like the target")
        pairs = zip(value, target, strict=True)
        return [_seed(i, *pair, references) for i, pair in enumerate(pairs)]
    if isinstance(target, dict):
        if type(value) is not dict or value.keys() != target.keys():
            raise ArrayMismatch("expected an object with the members of the target")
        return {name: _seed(name, value[name], of, references) for name, of in target.items()}
    return _bare(read_value(value, references))


def _seed(name: str | int, value: Any, target: Any, references: References) -> Any:
    try:
        return _seeds(value, target, references)
    except Malformed as error:
        error.prepend_path(name)
        raise


def _bare(value: Any) -> Any:
    if isinstance(value, Sparse | Ragged):
        raise Malformed(
            f"the seed of {value} is the array of its values", hint='send the "values" alone'
        )
    if isinstance(value, Leaf):
        if isinstance(value.value, str):
            raise Malformed("a string cannot be a tangent or cotangent")
        return value.value
    if isinstance(value, list):
        return [_bare(item) for item in value]
    return {name: _bare(item) for name, item in value.items()}
