"""The one door for arrays of callers: what is computed with is an array that machine code can read.

NumPy has subclasses, dtypes and byte orders that no program knows. They are converted here where
that says the same, or refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gradwire_engine.answer import Array, Leaf
from gradwire_engine.errors import InputError, Place
from gradwire_engine.nesting import rebuild
from gradwire_engine.ops.composites import Composite
from gradwire_engine.ops.promotion import DTYPES

#: The dtypes of programs by NumPy's characters: of those that are equal, NumPy has one for each.
_CHARS = frozenset(dtype.char for dtype in DTYPES.values())


def received(variables: Mapping[str, Any]) -> Mapping[str, Any]:
    """Variables whose values are arrays that can be computed with.

    Raises: ``InputError``.
    """
    for leaf in variables.values():
        if type(leaf) is not Leaf or not _is_plain(leaf.value):
            return {name: _received(name, value) for name, value in variables.items()}
    return variables


def received_vectors(vectors: Any, field: str) -> Any:
    """The same of what derivatives are multiplied by, sent in a ``field`` of the request.

    Raises: ``InputError``.
    """
    if vectors is None or _is_plain(vectors):
        return vectors
    return rebuild(vectors, lambda v: v if v is None else plain(v, Place(pointer=field)))


def plain(value: Any, at: Place) -> Array:
    """``value`` as an array of no subclass, in a dtype of programs and this machine's byte order.

    Nothing is copied but to swap bytes.

    Raises: ``InputError`` for a dtype that programs do not know, and for values that are masked.
    """
    if _is_plain(value):
        array: Array = value
        return array
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        hint = "fill them, or send the mask as an array of its own"
        raise InputError("no program can leave out masked values", at=at, hint=hint)
    array = np.asarray(value)
    known = DTYPES.get(array.dtype.name)
    if known is None:
        name = str(array.dtype)[:40]
        hint = f"one of {', '.join(DTYPES)}"
        raise InputError(f"no program computes with the dtype {name}", at=at, hint=hint)
    return array.astype(known, copy=False).view(known)


def _is_plain(value: Any) -> bool:
    if type(value) is not np.ndarray:
        return False
    dtype = value.dtype
    return dtype.char in _CHARS and dtype.isnative


def _received(path: str, value: Any) -> Any:
    if isinstance(value, Leaf):
        if isinstance(value.value, str):
            return value
        at = Place(id=path[:80], pointer="/variables")
        return value._replace(value=plain(value.value, at))
    if isinstance(value, Composite):
        return value.of(**{key: _received(f"{path}.{key}", item) for key, item in value.items()})
    if isinstance(value, Mapping):
        return {key: _received(f"{path}.{key}", item) for key, item in value.items()}
    return [_received(f"{path}.{i}", item) for i, item in enumerate(value)]
