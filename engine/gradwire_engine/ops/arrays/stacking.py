"""Axes that arrays have at least, and pieces put together or taken apart along a known axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.errors import BadArgument
from gradwire_engine.ops.arrays.indexing import take
from gradwire_engine.ops.arrays.joining import Concatenate
from gradwire_engine.ops.arrays.shape import moveaxis, reshape, unsqueeze
from gradwire_engine.ops.axes import axis_of, flag, integers
from gradwire_engine.ops.base import Static, macro
from gradwire_engine.ops.builder import check_nesting
from gradwire_engine.ops.promotion import DTYPES
from gradwire_engine.tape import ArrayType

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwire_engine.ops.builder import Builder, Var


def _for_each(b: Builder, arys: tuple[Any, ...], change: Callable[[Var], Var]) -> Any:
    changed = [change(b.array(x)) for x in arys]
    return changed[0] if len(changed) == 1 else changed


def _planar(x: Var) -> Var:
    return unsqueeze(x, tuple(range(2 - x.ndim))) if x.ndim < 2 else x


def _solid(x: Var) -> Var:
    x = unsqueeze(x, (0,)) if x.ndim < 2 else x
    x = unsqueeze(x, (0,)) if x.ndim < 2 else x
    return unsqueeze(x, (2,)) if x.ndim < 3 else x


@macro("atleast_1d")
def atleast_1d(b: Builder, *arys: Any) -> Any:
    """The array, a number as one of length 1; a list for several."""
    return _for_each(b, arys, lambda x: x if x.ndim else reshape(x, (1,)))


@macro("atleast_2d")
def atleast_2d(b: Builder, *arys: Any) -> Any:
    """The array, a vector as a row; a list for several."""
    return _for_each(b, arys, _planar)


@macro("atleast_3d")
def atleast_3d(b: Builder, *arys: Any) -> Any:
    """The array, a vector as ``(1, n, 1)``, a matrix as ``(m, n, 1)``; a list for several."""
    return _for_each(b, arys, _solid)


@macro("dstack")
def dstack(b: Builder, tup: Any) -> Any:
    """Arrays behind each other: along the third axis, vectors as ``(1, n, 1)``."""
    if not isinstance(tup, list | tuple):
        raise BadArgument("dstack needs a list of arrays")
    return Concatenate.record(b, [_solid(b.array(x)) for x in tup], 2)


@macro("block")
def block(b: Builder, arrays: Any) -> Any:
    """An array from nested lists of blocks, the innermost side by side, the next below each other.

    Blocks of fewer axes than the deepest nesting have axes of length 1 in front.
    """
    check_nesting(arrays)
    depth, level = 0, arrays
    while isinstance(level, list | tuple):
        depth, level = depth + 1, level[0] if level else None
    blocks = _mapped(arrays, depth, b.array)
    ndim = max([depth, *[x.ndim for x in _flat(blocks, depth)]])
    raised = _mapped(blocks, depth, lambda x: unsqueeze(x, tuple(range(ndim - x.ndim))))
    return _joined(b, raised, depth)


def _mapped(nested: Any, depth: int, change: Callable[[Any], Var]) -> Any:
    if depth and not (isinstance(nested, list | tuple) and nested):
        raise BadArgument("block needs lists that are nested equally deep, none of them empty")
    return [_mapped(x, depth - 1, change) for x in nested] if depth else change(nested)


def _flat(nested: Any, depth: int) -> list[Var]:
    return [x for part in nested for x in _flat(part, depth - 1)] if depth else [nested]


def _joined(b: Builder, nested: Any, depth: int) -> Any:
    if not depth:
        return nested
    return Concatenate.record(b, [_joined(b, part, depth - 1) for part in nested], -depth)


@macro("insert")
def insert(b: Builder, arr: Any, obj: Static, values: Any, axis: Static = None) -> Any:
    """``arr`` with ``values`` before the places ``obj`` along ``axis``, or among all its elements.

    One place takes all ``values``, of several each takes one. Booleans are a mask of places.
    """
    x, v = b.promote(arr, values)
    if axis is None:
        x, axis = reshape(x, (x.type.size,)), 0
    place, several = axis_of(axis, x.ndim, "insert"), isinstance(obj, list | tuple)
    length = x.shape[place]
    before = _places(obj, length)
    for index in before:
        if not -length <= index <= length:
            raise BadArgument(f"insert has no place {index} among {length}")
    if v.ndim < x.ndim:
        v = unsqueeze(v, tuple(range(x.ndim - v.ndim)))
    if not several:
        v = moveaxis(b, v, 0, place)
    count = len(before) if several else v.shape[place]
    v = b.broadcast(v, (*x.shape[:place], count, *x.shape[place + 1 :]))
    b.afford(ArrayType(DTYPES["int64"], (4, count)))
    where = np.array(before, np.int64) + np.zeros(count, np.int64)
    where += length * (where < 0)
    turn = np.argsort(where, kind="stable")
    new = where[turn] + np.arange(count)  # where the new ones are then, in rising order

    def source(at: Any) -> Any:
        ahead, upto = (np.searchsorted(new, at, side) for side in ("left", "right"))
        return np.where(ahead < upto, length + turn[upto - 1] if count else at, at - ahead)

    order = b.table((length + count,), source)
    return take(b, Concatenate.record(b, [x, v], place), order, place)


@macro("delete")
def delete(b: Builder, arr: Any, obj: Static, axis: Static = None) -> Any:
    """``arr`` without the places ``obj`` along ``axis``, or among all its elements.

    Booleans are a mask of places.
    """
    x = b.array(arr)
    if axis is None:
        x, axis = reshape(x, (x.type.size,)), 0
    place = axis_of(axis, x.ndim, "delete")
    length = x.shape[place]
    places = _places(obj, length)
    for index in places:
        if not -length <= index < length:
            raise BadArgument(f"delete has no place {index} among {length}")
    gone = np.array(sorted({index % length for index in places}), np.int64)
    ahead = gone - np.arange(gone.size)  # so many stay before each that goes
    kept = b.table((length - gone.size,), lambda i: i + np.searchsorted(ahead, i, "right"))
    return take(b, x, kept, place)


def _places(obj: Any, length: int) -> tuple[int, ...]:
    """Integers, or the places where a mask is true."""
    given = obj if isinstance(obj, list | tuple) else [obj]
    if not any(isinstance(item, bool) for item in given):
        return integers(obj, "obj")
    mask = [flag(item, "obj") for item in given]
    if given is not obj or len(mask) != length:
        raise BadArgument(f"a mask needs a boolean for each of {length} places, got {len(mask)}")
    return tuple([i for i, chosen in enumerate(mask) if chosen])
