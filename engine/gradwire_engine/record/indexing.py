"""``x[...]`` while recording: lists by static integers, arrays by NumPy's rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine import hints
from gradwire_engine.errors import BadArgument, UnknownName
from gradwire_engine.ops.arrays.indexing import GetItem, NonzeroIndices, SetItem
from gradwire_engine.ops.base import PRIMITIVES
from gradwire_engine.ops.builder import Var, describe
from gradwire_engine.ops.composites import Ragged
from gradwire_engine.ops.patterns import ARRAY, FULL, Pattern, Span, complete_pattern
from gradwire_engine.record import composites
from gradwire_engine.record.updates import At, Place

if TYPE_CHECKING:
    from gradwire_engine.record.recorder import Recorder


def read(r: Recorder, target: Any, items: list[Any]) -> Any:
    """``target[items]``; a tuple alone is its items, as in NumPy."""
    if len(items) == 1 and type(items[0]) is tuple and isinstance(target, Var | At):
        items = [*items[0]]
    if isinstance(target, At):
        return Place(target.array, *_pattern(r, target.array, items))
    if isinstance(target, Var):
        if not items:
            return target
        pattern, arrays = _pattern(r, target, items)
        return GetItem(pattern)(target, *arrays)
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
    pattern, arrays = _pattern(r, target, items)
    new = r.b.array(value)
    if target.type.weak or new.type.weak or not r.b.strict:
        new = r.b.cast(new, target.dtype)
    return SetItem(pattern)(target, new, *arrays)


def nonzero(r: Recorder, mask: Any) -> tuple[Var, ...]:
    """Indices of the true elements, an array for each axis; their count is decided now."""
    x = r.b.array(mask)
    if x.dtype.kind != "b":
        x = PRIMITIVES["not_equal"]()(x, r.b.scalar(0, x.dtype))
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


def _pattern(r: Recorder, x: Var, items: list[Any]) -> tuple[Pattern, list[Var]]:
    entries: list[Any] = []
    arrays: list[Var] = []
    for written in items:
        item = written
        if isinstance(item, list | tuple | range):
            item = r.b.array(item) if item else r.b.cast(r.b.array(item), _int64())
        if item is None or item is ...:
            entries.append(item)
        elif isinstance(item, slice):
            entries.append(Span(*[_bound(r, part) for part in (item.start, item.stop, item.step)]))
        elif isinstance(item, Var) and item.dtype.kind == "b":
            axis = sum(1 for e in entries if e is not None)
            if item.type.shape != x.shape[axis : axis + item.ndim]:
                raise BadArgument(f"a mask {item.type} does not fit an array of shape {x.shape}")
            found = nonzero(r, item)
            arrays += found
            entries += [ARRAY] * len(found)
        elif isinstance(item, Var) and item.dtype.kind in "iu":
            arrays.append(item)
            entries.append(ARRAY)
        elif isinstance(item, int) and not isinstance(item, bool):
            entries.append(item)
        elif isinstance(item, Var):
            r.integer(item)
        else:
            raise BadArgument(f"{describe(item)} cannot be an index")
    return complete_pattern(tuple(entries), x.ndim), arrays


def _bound(r: Recorder, part: Any) -> int | None:
    return None if part is None else r.integer(part)


def _int64() -> Any:
    from gradwire_engine.ops.promotion import DTYPES

    return DTYPES["int64"]
