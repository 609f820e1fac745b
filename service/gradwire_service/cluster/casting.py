"""Casts of rows to the dtype that a reference names, as far as values survive them."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwire_service.problems import RequestError
from gradwire_service.wire.arrays_in import DTYPES, Array, Dtype

#: NumPy's ``same_kind``: each kind is cast to itself and to those after it. bfloat16 is of kind V.
_RANKS = {"b": 0, "u": 1, "i": 2, "f": 3, "V": 3, "c": 4}
#: Bits of a significand: integers of at most so many are exact.
_SIGNIFICANDS = {
    "float16": 11,
    "bfloat16": 8,
    "float32": 24,
    "float64": 53,
    "complex64": 24,
    "complex128": 53,
}


def target_dtype(stored: Dtype, named: str | None, pointer: str) -> Dtype:
    """The dtype that rows are cast to: the ``named`` one, or the ``stored`` one.

    Raises: ``RequestError`` (dtype_mismatch) for a cast that loses a kind: of floats to integers,
    complex numbers to real ones, numbers to booleans.
    """
    wanted = stored if named is None else DTYPES[named]
    if _RANKS[stored.kind] > _RANKS[wanted.kind]:
        raise RequestError(
            "dtype_mismatch",
            f"the values are of {stored}, which is not cast to {wanted}",
            pointer=pointer,
            hint="name a dtype of the same kind or of a wider one, or leave it out",
        )
    return wanted


def cast(rows: Array, wanted: Dtype) -> Array:
    """``rows`` in another dtype. Floats are rounded; integers stay what they are.

    Raises: ``RequestError`` (dtype_mismatch) for an integer that is not exact in the dtype, and for
    a finite number that is too large.
    """
    if rows.dtype == wanted:
        return rows
    with np.errstate(over="ignore"):
        made = rows.astype(wanted)
    lost = _lost(rows, made)
    if lost is not None and lost.any():
        value = rows[lost].flat[0]
        raise RequestError(
            "dtype_mismatch",
            f"the value {value} of {rows.dtype} does not survive a cast to {wanted}",
            hint="name a wider dtype, or store the values in the dtype that is wanted",
        )
    return made


def _lost(rows: Array, made: Array) -> Array | None:
    """Where values have not survived; ``None`` if all do."""
    old, new = rows.dtype, made.dtype
    if old.kind == "b" or not rows.size:
        return None
    if old.kind in "iu" and new.kind in "iu":
        return None if np.can_cast(old, new, "safe") else np.asarray(made != rows)
    if old.kind in "iu":
        bits = _SIGNIFICANDS[new.name]
        if max(abs(int(rows.min())), int(rows.max())) <= 1 << bits:
            return None
        return _needs_more_bits(rows, bits) | ~np.isfinite(made)
    if _SIGNIFICANDS[old.name] <= _SIGNIFICANDS[new.name] and new.name != "float16":
        return None
    return np.asarray(np.isfinite(rows) & ~np.isfinite(made))


def _needs_more_bits(integers: Array, bits: int) -> Array:
    """Where the digits between the first and the last 1 of a binary number are more than these."""
    signed = integers.dtype.kind == "i"  # the least one has a size as an unsigned integer only
    size: Any = (np.abs(integers.astype(np.int64)) if signed else integers).astype(np.uint64)
    last = np.maximum(size & (~size + np.uint64(1)), np.uint64(1))
    return np.asarray(size // last >= np.uint64(1 << bits))
