"""``x[...]`` while recording: lists by static integers, arrays by NumPy's rules, and ``x.at``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from gradwire_engine import hints
from gradwire_engine.errors import BadArgument, UnknownName, UnknownOperation
from gradwire_engine.ops.arrays.indexing import GetItem, NonzeroIndices, SetItem
from gradwire_engine.ops.arrays.shape import reshape, unsqueeze
from gradwire_engine.ops.base import FUNCTIONS, PRIMITIVES
from gradwire_engine.ops.builder import Builder, Var, describe
from gradwire_engine.ops.composites import Ragged
from gradwire_engine.ops.elementwise import broadcast_shapes
from gradwire_engine.ops.patterns import ARRAY, FULL, Pattern, Span, complete_pattern
from gradwire_engine.ops.pointwise.selection import Where
from gradwire_engine.record import composites
from gradwire_engine.record.recorder import Recorder

#: The combination of elements with updates, all of them where a place is repeated, and the same of
#: two arrays.
_SCATTERS = {
    "set": ("update", ""),
    "add": ("add", "add"),
    "subtract": ("sub", "subtract"),
    "multiply": ("multiply", "multiply"),
    "mul": ("multiply", "multiply"),
    "min": ("min", "minimum"),
    "max": ("max", "maximum"),
}
#: The combination with the product of the updates at a place.
_OF_PRODUCTS = {"divide": "divide", "power": "power"}
_METHODS = ("get", *_SCATTERS, *_OF_PRODUCTS)


@dataclass(frozen=True, slots=True, eq=False)
class At:
    """``x.at``, to be indexed."""

    array: Var


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """``x.at[...]``: a ``mask`` alone, or what ``select`` gives.

    That is ``x`` with further axes, a pattern and index arrays.
    """

    array: Var
    mask: Var | None
    select: Callable[[], tuple[Var, Pattern, Sequence[Var]]]


def update(
    b: Builder, place: Place, name: str, args: Sequence[Any], named: Mapping[str, Any]
) -> Any:
    """``x.at[...].name(value)``: ``x`` with the selected elements updated, or just these."""
    x = place.array
    if name not in _METHODS:
        raise UnknownOperation(f"at[...] has no method '{name[:40]}'", hint=", ".join(_METHODS))
    if named or len(args) != (name != "get"):
        takes = "nothing" if name == "get" else "one value"
        raise BadArgument(f"at[...].{name} takes {takes}")
    if name == "get":
        selected, pattern, indices = place.select()
        return GetItem(pattern)(selected, *indices)
    value = b.cast(b.array(args[0]), x.dtype)
    if place.mask is not None and suits_all(value, place.mask, x):
        combined = _OF_PRODUCTS[name] if name in _OF_PRODUCTS else _SCATTERS[name][1]
        new = FUNCTIONS[combined].record(b, x, value) if combined else value
        return where(place.mask, b.cast(new, x.dtype), x)
    selected, pattern, indices = place.select()
    if name not in _OF_PRODUCTS:
        return reshape(_scattered(b, selected, pattern, indices, name, value), x.type.shape)
    ones = b.full(1, selected.type)
    product = _scattered(b, ones, pattern, indices, "multiply", value)
    return FUNCTIONS[_OF_PRODUCTS[name]].record(b, x, reshape(product, x.type.shape))


def suits_all(value: Var, mask: Var, x: Var) -> bool:
    """True if all that a mask selects of ``x`` gets the same: then its number decides nothing."""
    rest = x.shape[mask.ndim :]
    return value.ndim <= len(rest) and broadcast_shapes(rest, value.type.shape) == rest


def where(mask: Var, value: Var, x: Var) -> Var:
    """``x`` with ``value`` where a mask of its first axes is true."""
    return Where()(unsqueeze(mask, tuple(range(mask.ndim, x.ndim))), value, x)


def _scattered(
    b: Builder, x: Var, pattern: Pattern, indices: Sequence[Var], name: str, value: Var
) -> Var:
    """``x`` with the selected elements updated."""
    # Numbered in a row, elements selected in any way are like those at the places of a vector.
    numbers = reshape(FUNCTIONS["arange"].record(b, x.type.size), x.shape)
    chosen = GetItem(pattern)(numbers, *indices)
    scatter = FUNCTIONS[f"tensor_scatter_nd_{_SCATTERS[name][0]}"].record
    new = scatter(b, reshape(x, (x.type.size,)), unsqueeze(chosen, (chosen.ndim,)), value)
    return reshape(new, x.shape)


def read(r: Recorder, target: Any, items: list[Any]) -> Any:
    """``target[items]``; a tuple alone is its items, as in NumPy."""
    if len(items) == 1 and type(items[0]) is tuple and isinstance(target, Var | At):
        items = [*items[0]]
    if isinstance(target, At):
        x, items = target.array, [_index(r, item) for item in items]
        mask = _fitting(items[0], x, 0) if len(items) == 1 and _is_mask(items[0]) else None
        return Place(x, mask, partial(_selection, r, x, items))
    if isinstance(target, Var):
        if not items:
            return target
        x, pattern, arrays = _selection(r, target, items)
        return GetItem(pattern)(x, *arrays)
    if len(items) != 1:
        raise BadArgument(f"{describe(target)} takes one index")
    (item,) = items
    if isinstance(target, Ragged):
        return composites.row(r, target, item)
    if isinstance(target, dict):
        return _member(target, item)
    if not isinstance(target, list | tuple | range):
        raise BadArgument(f"{describe(target)} cannot be indexed")
    if isinstance(item, slice):
        bounds = [_bound(r, part) for part in (item.start, item.stop, item.step)]
        if bounds[2] == 0:
            raise BadArgument("the step of a slice cannot be 0")
        return target[slice(*bounds)]
    index = r.integer(item)
    if not -len(target) <= index < len(target):
        raise BadArgument(f"index {index} is out of range for a list of length {len(target)}")
    return target[index]


def write(r: Recorder, target: Any, items: list[Any], value: Any) -> Any:
    """``target`` with ``target[items]`` replaced by ``value``, as a new value."""
    if len(items) == 1 and type(items[0]) is tuple and isinstance(target, Var):
        items = [*items[0]]
    if isinstance(target, list):
        if len(items) != 1:
            raise BadArgument(f"a list takes one index, got {len(items)}")
        copied = list(target)
        index = r.integer(items[0])
        if not -len(target) <= index < len(target):
            raise BadArgument(f"index {index} is out of range for a list of length {len(target)}")
        copied[index] = value
        return copied
    if type(target) is dict:
        if len(items) != 1 or not isinstance(items[0], int | str):
            raise BadArgument("members of a nested variable have names")
        return {**target, str(items[0]): value}
    if not isinstance(target, Var):
        raise BadArgument(f"{describe(target)} has no elements to assign to")
    new = r.b.array(value)
    if target.type.weak or new.type.weak or not r.b.strict:
        new = r.b.cast(new, target.dtype)
    items = [_index(r, item) for item in items]
    if len(items) == 1 and _is_mask(items[0]) and new.dtype == target.dtype:
        mask = _fitting(items[0], target, 0)
        if suits_all(new, mask, target):
            return where(mask, new, target)
    x, pattern, arrays = _selection(r, target, items)
    return reshape(SetItem(pattern)(x, new, *arrays), target.shape)


def nonzero(r: Recorder, mask: Any) -> tuple[Var, ...]:
    """Indices of the true elements, an array for each axis; their count is decided now.

    What has no axes is taken for one element.
    """
    x = r.b.array(mask)
    if x.dtype.kind != "b":
        x = PRIMITIVES["not_equal"]()(x, r.b.scalar(0, x.dtype))
    if not x.ndim:
        x = reshape(x, (1,))
    true = PRIMITIVES["sum"](tuple(range(x.ndim)))(r.b.cast(x, _int64()))
    count = r.concrete.integer(true)
    found = NonzeroIndices(count)(x)
    return tuple([GetItem((axis, FULL))(found) for axis in range(x.ndim)])


def _member(target: dict[str, Any], item: Any) -> Any:
    if not isinstance(item, int | str):
        raise BadArgument(f"members of a nested variable have names, got {describe(item)}")
    key = str(item)
    if key not in target:
        message = f"the nested variable has no member '{key[:40]}'"
        raise UnknownName(message, hint=hints.like(key, target))
    return target[key]


def _selection(r: Recorder, x: Var, items: list[Any]) -> tuple[Var, Pattern, list[Var]]:
    """The selection ``x[items]``: a pattern and index arrays, of ``x`` with further axes.

    A mask without axes selects along an axis of length 1 that ``x`` has there, as in NumPy.
    """
    items = [_index(r, item) for item in items]
    used = [
        0 if item is None or item is ... else item.ndim if _is_mask(item) else 1 for item in items
    ]
    entries: list[Any] = []
    arrays: list[Var] = []
    further: list[Any] = []
    for item, axes in zip(items, used, strict=True):
        if item is None:
            entries.append(item)
        elif item is ...:
            entries.append(item)
            further += [FULL] * max(x.ndim - sum(used), 0)
        elif isinstance(item, slice):
            entries.append(Span(*[_bound(r, part) for part in (item.start, item.stop, item.step)]))
        elif _is_mask(item):
            found = nonzero(r, _fitting(item, x, sum(entry is FULL for entry in further)))
            arrays += found
            entries += [ARRAY] * len(found)
        elif isinstance(item, Var) and item.dtype.kind in "iu":
            arrays.append(item)
            entries.append(ARRAY)
        elif isinstance(item, int):
            entries.append(item)
        elif isinstance(item, Var):
            r.integer(item)
        else:
            raise BadArgument(f"{describe(item)} cannot be an index")
        further += [None] if _is_mask(item) and not axes else [FULL] * axes
    if None in further:
        x = GetItem(complete_pattern(tuple(further), x.ndim))(x)
    return x, complete_pattern(tuple(entries), x.ndim), arrays


def _index(r: Recorder, item: Any) -> Any:
    """An index that is written as a list or as true or false, as an array."""
    if isinstance(item, list | tuple | range):
        return r.b.array(item) if item else r.b.cast(r.b.array(item), _int64())
    return r.b.array(item) if isinstance(item, bool) else item


def _is_mask(item: Any) -> bool:
    return isinstance(item, Var) and item.dtype.kind == "b"


def _fitting(mask: Var, x: Var, axis: int) -> Var:
    """``mask``, if it has the shape of ``x`` from ``axis`` on."""
    if mask.type.shape != x.shape[axis : axis + mask.ndim]:
        raise BadArgument(f"a mask {mask.type} does not fit an array of shape {x.shape}")
    return mask


def _bound(r: Recorder, part: Any) -> int | None:
    return None if part is None else r.integer(part)


def _int64() -> Any:
    from gradwire_engine.ops.promotion import DTYPES

    return DTYPES["int64"]
