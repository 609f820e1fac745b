"""Documents with arrays as readable JSON, in the protocol's notation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradwire.bfloat16 import BFLOAT16, name_of, shortest


def spelled(part: Any) -> Any:
    """A part of a document with its arrays as leaves that are lists."""
    if isinstance(part, np.ndarray):
        return leaf(part)
    if isinstance(part, Mapping):
        value = part.get("value")
        rest = {name: spelled(item) for name, item in part.items()}
        return rest | leaf(value, always=True) if isinstance(value, np.ndarray) else rest
    return [spelled(item) for item in part] if isinstance(part, list) else part


def leaf(array: NDArray[Any], always: bool = False) -> Any:
    """An array as numbers with the same bits; an object if needed, or ``always``."""
    dtype = name_of(array.dtype)
    if array.size == 0 and array.ndim > 1:  # lists would lose the shape
        return {"dtype": dtype, "shape": list(array.shape), "base64": ""}
    if array.dtype.kind == "c":
        return {"re": _listed(array.real), "im": _listed(array.imag), "dtype": dtype}
    plain = not always and (dtype == "float64" or (dtype == "bool" and array.size > 0))
    return _listed(array) if plain else {"value": _listed(array), "dtype": dtype}


def _listed(array: NDArray[Any]) -> Any:
    """An array as nested lists, each number in the fewest digits that give the same bits."""
    if array.dtype == BFLOAT16:
        listed = shortest(array)
    elif array.dtype.kind != "f":
        return array.tolist()
    else:
        wide = array.astype(str).astype(np.float64)
        exact = np.array_equal(wide.astype(array.dtype), array, equal_nan=True)
        listed = wide if exact else array.astype(np.float64)
    if np.isfinite(listed).all():
        return listed.tolist()
    words = np.where(np.isnan(listed), "NaN", np.where(listed > 0, "Infinity", "-Infinity"))
    return np.where(np.isfinite(listed), listed.astype(object), words.astype(object)).tolist()


def json_text(part: Any) -> str:
    """JSON in one line."""
    return json.dumps(part, ensure_ascii=False, allow_nan=False)


def answered(part: Any) -> Any:
    """A part of an answer as the service writes it in JSON: its arrays as lists, without dtypes."""
    if isinstance(part, np.ndarray):
        if part.dtype.kind == "c":
            return {"re": _listed(part.real), "im": _listed(part.imag)}
        return _listed(part)
    if isinstance(part, Mapping):
        return {name: answered(item) for name, item in part.items()}
    return [answered(item) for item in part] if isinstance(part, list) else part
