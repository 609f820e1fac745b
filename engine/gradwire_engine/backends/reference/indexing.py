"""Gathers and scatters of the array namespace with NumPy."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse

from gradwire_engine.tape import Shape

__all__ = ["add_at", "add_rows", "combine_rows", "getitem", "last_writer", "setitem"]

#: Elements of rows, and of each, from which a sparse matrix adds them in less time than ``add.at``.
_MANY, _FEWEST_WIDE = 4096, 2
#: Sparse matrices convert other integers, of 64 bits for more.
_INT32 = 2**31 - 1

#: The selected elements; raises ``IndexError``.
getitem: Callable[[Any, Any], Any] = operator.getitem


def setitem(x: Any, index: Any, value: Any) -> Any:
    """``x`` with ``value`` at the selected elements; of repeated ones the last stays.

    Raises: ``IndexError``.
    """
    out = np.array(x)
    out[_in_order(index)] = np.asarray(value, order="C")
    return out


def _in_order(index: Any) -> Any:
    """The index with arrays laid out so that NumPy, which goes by memory, keeps to their order."""
    parts = index if isinstance(index, tuple) else (index,)
    return tuple([np.asarray(p, order="C") if isinstance(p, np.ndarray) else p for p in parts])


def last_writer(shape: Shape, index: Any) -> Any:
    """Where the selected elements are the last of their place in an array of ``shape``.

    Each writes its number, and it is seen whose stayed.  Raises: ``IndexError``.
    """
    writer = np.zeros(shape, np.int64)
    region = writer[index]
    numbers = np.arange(region.size).reshape(region.shape)
    writer[_in_order(index)] = numbers
    return writer[index] == numbers


def combine_rows(ufunc: Any, z: Any, ids: Any, rows: Any) -> Any:
    """``z`` with each of its rows combined by ``ufunc`` with those of ``rows`` that have its id.

    Raises: ``IndexError``.
    """
    ufunc.at(z, ids, rows)
    return z


def add_at(shape: Shape, index: Any, rows: Any) -> Any:
    """Zeros of ``shape`` to which ``rows`` are added at the selected elements, in turn.

    Raises: ``IndexError``.
    """
    added = np.zeros(shape, rows.dtype)
    np.add.at(added, index, rows)
    return added


def add_rows(shape: Shape, index: Any, rows: Any) -> Any:
    """Zeros of ``shape`` to which ``rows`` are added where ``index`` says, one after the other."""
    added = _added_by_product(shape, index, rows) if rows.size >= _MANY else None
    return add_at(shape, index, rows) if added is None else added


def _added_by_product(shape: Shape, index: Any, rows: Any) -> Any | None:
    """The same by a sparse matrix, in the same order; None where ``add.at`` is as quick."""
    count, width = index.size, math.prod(shape[1:])
    if rows.dtype.char in "FD":  # a complex number times 1 is not itself where it is infinite
        parts = np.ascontiguousarray(rows).view(rows.real.dtype)
        added = _added_by_product((*shape[:-1], 2 * shape[-1]), index, parts)
        return None if added is None else added.view(rows.dtype)
    if width < _FEWEST_WIDE or rows.dtype.char not in "fd":
        return None
    places = row_numbers(index, shape[0])
    ones, starts = np.ones(count, rows.dtype), np.arange(count + 1, dtype=places.dtype)
    chosen = scipy.sparse.csc_matrix((ones, places, starts), shape=(shape[0], count))
    return (chosen @ rows.reshape(count, width)).reshape(shape)


def row_numbers(index: Any, count: int) -> Any:
    """The rows of ``count`` that indices select, as integers that sparse matrices take as they are.

    Raises: ``IndexError``.
    """
    rows = index.ravel()
    least, most = (rows.min(), rows.max()) if rows.size else (0, 0)
    if rows.size and (least < -count or most >= count):
        raise IndexError
    if least < 0:
        rows = np.where(rows < 0, np.add(rows, count, dtype=np.int64), rows)
    return rows.astype(np.int32) if max(count, rows.size) < _INT32 else rows
