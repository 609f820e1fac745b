"""Indexing by NumPy's rules, gathering and scattering: one static pattern, dynamic index arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from gradwire_engine.errors import BadArgument, DtypeMismatch, ShapeMismatch
from gradwire_engine.ops.axes import few_axes
from gradwire_engine.ops.base import FUNCTIONS, Cotangents, Op, Static, macro, register
from gradwire_engine.ops.elementwise import BOOL, broadcast_shapes
from gradwire_engine.ops.promotion import DTYPES
from gradwire_engine.tape import ArrayType, Shape, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


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


def _index(pattern: Pattern, arrays: tuple[Any, ...]) -> tuple[Any, ...]:
    following = iter(arrays)
    return tuple(
        slice(*p) if isinstance(p, Span) else next(following) if p == ARRAY else p for p in pattern
    )


def _check_integers(kinds: tuple[ArrayType, ...]) -> None:
    for kind in kinds:
        if kind.dtype.kind not in "iu":
            raise DtypeMismatch(f"an index must be an integer, got {kind}", hint="astype('int64')")


class Indexed(Op):
    """An operation on the elements that ``pattern`` and index arrays select."""

    pattern: Pattern

    def flops(self, result: Type, *types: ArrayType) -> int:
        """One move an element."""
        return max(types[0].size, 1)


@register("getitem", public=False)
class GetItem(Indexed):
    """Elements selected by NumPy's rules: ``z = x[pattern]``."""

    pattern: Pattern
    linear = True

    def infer(self, *types: ArrayType) -> ArrayType:
        """Shape by ``indexed_shape``."""
        x, *arrays = types
        _check_integers(tuple(arrays))
        shape = indexed_shape(x.shape, self.pattern, tuple([a.shape for a in arrays]))
        return ArrayType(x.dtype, shape, x.weak)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Index."""
        return operands[0][_index(self.pattern, operands[1:])]

    def bind(self, xp: Any) -> Callable[..., Any]:
        """A fixed index is made once."""
        if ARRAY in self.pattern:
            return super().bind(xp)
        return itemgetter(_index(self.pattern, ()))

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar``: zeros to which ``z_bar`` is added at the selected elements."""
        x, *arrays = operands
        bar = ScatterAdd(self.pattern, x.shape)(z_bar, *arrays)
        return (bar, *[None] * len(arrays))


@register("scatter_add", public=False)
class ScatterAdd(Indexed):
    """Zeros of ``shape`` to which the operand is added at the selected elements, repeats summed."""

    pattern: Pattern
    shape: Shape
    linear = True

    def infer(self, *types: ArrayType) -> ArrayType:
        """An array of ``shape``."""
        return ArrayType(types[0].dtype, self.shape)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Add unbuffered where an element may be selected twice."""
        z_bar, *arrays = operands
        out = xp.zeros(self.shape, z_bar.dtype)
        xp.add.at(out, _index(self.pattern, tuple(arrays)), z_bar)
        return out

    def bind(self, xp: Any) -> Callable[..., Any]:
        """A fixed index is made once, and selects nothing twice."""
        if ARRAY in self.pattern:
            return super().bind(xp)
        index, shape, zeros = _index(self.pattern, ()), self.shape, xp.zeros

        def scatter(z_bar: Any) -> Any:
            out = zeros(shape, z_bar.dtype)
            out[index] = z_bar
            return out

        return scatter

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """Read back what was scattered."""
        _, *arrays = operands
        return (GetItem(self.pattern)(z_bar, *arrays), *[None] * len(arrays))


@register("setitem", public=False)
class SetItem(Indexed):
    """``x`` with the selected elements replaced by ``v``; of repeated ones the last stays."""

    pattern: Pattern
    linear = True

    def infer(self, *types: ArrayType) -> ArrayType:
        """The type of ``x``; ``v`` must broadcast to what is selected."""
        x, v, *arrays = types
        _check_integers(tuple(arrays))
        region = indexed_shape(x.shape, self.pattern, tuple([a.shape for a in arrays]))
        if v.dtype != x.dtype:
            raise DtypeMismatch(f"cannot assign {v} into {x}", hint="convert it with astype")
        if broadcast_shapes(region, v.shape) != region:
            raise ShapeMismatch(f"cannot assign shape {v.shape} to elements of shape {region}")
        return ArrayType(x.dtype, x.shape)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Copy and assign."""
        x, v, *arrays = operands
        out = xp.array(x)
        out[_index(self.pattern, tuple(arrays))] = v
        return out

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar`` is ``z_bar`` with zeros there; ``v_bar`` what is there, of repeats the last."""
        x, _, *arrays = operands
        zero = z_bar.builder.scalar(0, z_bar.dtype)
        v_bar = GetItem(self.pattern)(z_bar, *arrays)
        if arrays:
            from gradwire_engine.ops.selection import Where

            last = LastWriter(self.pattern, x.shape)(*arrays)
            v_bar = Where()(last, v_bar, zero)
        return (SetItem(self.pattern)(z_bar, zero, *arrays), v_bar, *[None] * len(arrays))


@register("last_writer", public=False)
class LastWriter(Indexed):
    """Which of the selected elements are not selected again later."""

    pattern: Pattern
    shape: Shape
    differentiable = False

    def infer(self, *types: ArrayType) -> ArrayType:
        """Booleans of the selection's shape."""
        arrays = tuple([kind.shape for kind in types])
        return ArrayType(BOOL, indexed_shape(self.shape, self.pattern, arrays))

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Let each write its number, and see whose stayed."""
        index = _index(self.pattern, operands)
        writer = xp.zeros(self.shape, "int64")
        region = writer[index]
        numbers = xp.arange(region.size).reshape(region.shape)
        writer[index] = numbers
        return writer[index] == numbers


@register("nonzero_indices", public=False)
class NonzeroIndices(Op):
    """Indices of the ``count`` true elements, an array of shape (axes, count)."""

    count: int
    differentiable = False

    def infer(self, *types: ArrayType) -> ArrayType:
        """Integers."""
        return ArrayType(DTYPES["int64"], (types[0].ndim, self.count))

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """NumPy's nonzero, stacked."""
        return xp.stack(xp.nonzero(operands[0]))

    def flops(self, result: Type, *types: ArrayType) -> int:
        """One look an element."""
        return types[0].size


def normalized_axis(axis: Any, ndim: int) -> int:
    """A non-negative axis of an array with ``ndim`` axes."""
    if type(axis) is not int or not -ndim <= axis < ndim:
        raise BadArgument(f"axis must be an integer in [-{ndim}, {ndim}), as the array has {ndim}")
    return axis % ndim


@macro("take")
def take(b: Builder, a: Any, indices: Any, axis: Static = None) -> Var:
    """Elements along an axis: ``z = a[..., indices, ...]``; of the flattened array without axis."""
    x, index = b.array(a), b.array(indices)
    if axis is None:
        x, axis = FUNCTIONS["ravel"].record(b, x), 0
    before = (FULL,) * normalized_axis(axis, x.ndim)
    return GetItem(complete_pattern((*before, ARRAY), x.ndim))(x, index)


@macro("gather")
def gather(b: Builder, params: Any, indices: Any, axis: Static = 0) -> Var:
    """Slices along ``axis``: ``z = params[indices]`` for ``axis = 0``, repeats allowed."""
    return take(b, params, indices, axis)


@macro("take_along_axis")
def take_along_axis(b: Builder, arr: Any, indices: Any, axis: Static = -1) -> Var:
    """Elements by index along an axis: ``z[i, j] = arr[i, indices[i, j]]`` for the last axis."""
    x, index = b.array(arr), b.array(indices)
    if index.ndim != x.ndim:
        raise ShapeMismatch(f"indices need {x.ndim} axes as the array has, got {index.ndim}")
    along = normalized_axis(axis, x.ndim)
    arrays = [
        index if i == along else b.constant(_counter(length, i, x.ndim))
        for i, length in enumerate(x.shape)
    ]
    return GetItem((ARRAY,) * x.ndim)(x, *arrays)


def _counter(length: int, axis: int, ndim: int) -> Any:
    import numpy as np

    return np.arange(length).reshape([-1 if i == axis else 1 for i in range(ndim)])
