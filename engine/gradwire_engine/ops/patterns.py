"""Patterns of indices: what NumPy's rules make of slices, integers, new axes and index arrays."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from gradwire_engine.errors import BadArgument
from gradwire_engine.ops.axes import few_axes
from gradwire_engine.ops.batching import aligned, raised, transposed
from gradwire_engine.ops.elementwise import broadcast_shapes
from gradwire_engine.tape import Shape

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var


class Span(NamedTuple):
    """A slice, hashable."""

    start: int | None
    stop: int | None
    step: int | None


#: Stands in a pattern for the next index array.
ARRAY = "array"
FULL = Span(None, None, None)
#: One entry an axis: an integer, a ``Span``, ``None`` for a new axis, or ``ARRAY``.
Pattern = tuple[Any, ...]


def complete_pattern(items: Pattern, ndim: int) -> Pattern:
    """``items`` with the ellipsis written out and trailing axes taken whole."""
    used = sum(1 for item in items if item is not None and item is not ...)
    if used > ndim:
        raise BadArgument(f"{used} indices for an array of {ndim} axes")
    if items.count(...) > 1:
        raise BadArgument("an index has at most one ellipsis")
    missing = (FULL,) * (ndim - used)
    if ... in items:
        at = items.index(...)
        return (*items[:at], *missing, *items[at + 1 :])
    return (*items, *missing)


@lru_cache(maxsize=4096)
def indexed_shape(shape: Shape, pattern: Pattern, arrays: tuple[Shape, ...]) -> Shape:
    """The shape of ``x[pattern]`` where index arrays of these shapes fill the pattern's gaps."""
    advanced = [i for i, p in enumerate(pattern) if p == ARRAY or (arrays and type(p) is int)]
    front: list[int] = []
    axis = 0
    places: list[list[int]] = []
    for item in pattern:
        if item is None:
            places.append([1])
            continue
        length = shape[axis]
        if isinstance(item, Span):
            if item.step == 0:
                raise BadArgument("the step of a slice cannot be 0")
            places.append([len(range(*slice(*item).indices(length)))])
        else:
            if type(item) is int and not -length <= item < length:
                raise BadArgument(f"index {item} is out of range for an axis of length {length}")
            places.append([])
        axis += 1
    if arrays:
        gathered = list(broadcast_shapes(*arrays))
        if advanced[-1] - advanced[0] + 1 == len(advanced):
            places[advanced[0]] = gathered
        else:
            front = gathered
    return few_axes((*front, *[length for place in places for length in place]))


def index_of(pattern: Pattern, arrays: tuple[Any, ...]) -> tuple[Any, ...]:
    """The index that NumPy is given, with ``arrays`` in the pattern's gaps."""
    following = iter(arrays)
    return tuple(
        slice(*p) if isinstance(p, Span) else next(following) if p == ARRAY else p for p in pattern
    )


class Selection(NamedTuple):
    """The pattern that indexes all examples at once as this one indexes one."""

    pattern: Pattern
    arrays: list[Var]
    #: The axes of what is selected: the batch axis, then those of an example's selection.
    order: Shape


def shape_selected(
    shape: Shape, pattern: Pattern, arrays: Sequence[Var], batched: Sequence[bool]
) -> Shape:
    """The shape of the selection from an example of ``shape``."""
    shapes = [a.type.shape[own:] for a, own in zip(arrays, batched, strict=True)]
    return indexed_shape(shape, pattern, tuple(shapes))


def from_each(
    pattern: Pattern, ndim: int, arrays: Sequence[Var], batched: Sequence[bool], size: int
) -> Selection:
    """Select from ``size`` examples, from each what has ``ndim`` axes."""
    gathered = max([a.ndim - own for a, own in zip(arrays, batched, strict=True)], default=0)
    ahead = axes_ahead(pattern) if arrays else 0
    if not any(batched):
        place = gathered if arrays and ahead == 0 and are_apart(pattern) else 0
        return Selection((FULL, *pattern), [*arrays], brought_first(place, ndim + 1))
    counter = arrays[0].builder.numbers(size, 0, 1 + gathered)
    beside = range(1 + gathered, 1 + gathered + ahead)
    order = (0, *beside, *range(1, 1 + gathered), *range(1 + gathered + ahead, ndim + 1))
    return Selection((ARRAY, *pattern), [counter, *aligned(arrays, batched)], order)


def from_shared(
    pattern: Pattern, ndim: int, arrays: Sequence[Var], batched: Sequence[bool]
) -> Selection:
    """Select from an array that the examples share, each by its own index arrays."""
    order = brought_first(axes_ahead(pattern), ndim + 1)
    return Selection(pattern, aligned(arrays, batched), order)


def into_each(value: Var, own: bool, selected: Selection, size: int, ndim: int) -> Var:
    """``value`` so that it broadcasts to what is selected from all examples."""
    order = selected.order
    if order == tuple(range(ndim + 1)):
        return raised(value, ndim) if own else value
    if not own:
        value = value.builder.broadcast(value, (size, *value.type.shape))
    inverse = tuple([order.index(axis) for axis in range(ndim + 1)])
    return transposed(raised(value, ndim), inverse)


def brought_first(place: int, ndim: int) -> Shape:
    """The order of ``ndim`` axes that brings the one at ``place`` to the front."""
    return (place, *[axis for axis in range(ndim) if axis != place])


def axes_ahead(pattern: Pattern) -> int:
    """The number of the selection's axes before those of the index arrays."""
    return 0 if are_apart(pattern) else _advanced(pattern)[0]


def _advanced(pattern: Pattern) -> list[int]:
    return [i for i, item in enumerate(pattern) if item == ARRAY or type(item) is int]


def are_apart(pattern: Pattern) -> bool:
    """True if the advanced indices do not stand together: NumPy puts their axes first then."""
    places = _advanced(pattern)
    return places[-1] - places[0] + 1 > len(places)
