"""What derivatives are multiplied by: cotangents, tangents and vectors, as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradwire_engine import Leaf, Ragged, Sparse

from gradwire_service.wire.leaves import read_value, refuse
from gradwire_service.wire.numbers import ArrayMismatch, Malformed
from gradwire_service.wire.references import References


def read_seeds(value: Any, target: Any, references: References) -> Any:
    """``output_gradients`` as arrays, nested as ``target`` is; null stands for ones.

    Raises: ``Refusal`` (malformed_tensor, invalid_request), with a pointer.
    """
    try:
        return _seeds(value, target, references)
    except Malformed as error:
        error.prepend_path("output_gradients")
        refuse(error)


def read_tangents(
    document: Mapping[str, Any], field: str, references: References
) -> dict[str, Any]:
    """``tangents`` or ``vectors``: arrays by name, nested as the variables of these names are.

    Raises: ``Refusal`` (malformed_tensor), with a pointer.
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
            raise ArrayMismatch(f"the target is a list of {len(target)}, so must this be")
        pairs = zip(value, target, strict=True)
        return [_seed(i, *pair, references) for i, pair in enumerate(pairs)]
    if isinstance(target, dict):
        if type(value) is not dict or value.keys() != target.keys():
            raise ArrayMismatch(
                "the target is an object, so this must be one with the same members"
            )
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
            f"a direction in {value} is the array of its values", hint='send the "values" alone'
        )
    if isinstance(value, Leaf):
        if isinstance(value.value, str):
            raise Malformed("a string is no direction in which to differentiate")
        return value.value
    if isinstance(value, list):
        return [_bare(item) for item in value]
    return {name: _bare(item) for name, item in value.items()}
