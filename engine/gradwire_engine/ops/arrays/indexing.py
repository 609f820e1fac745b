"""Indexing by NumPy's rules, gathering and scattering: one static pattern, dynamic index arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument, DtypeMismatch, ShapeMismatch
from gradwire_engine.ops.base import FUNCTIONS, Cotangents, Op, Static, macro, register
from gradwire_engine.ops.batching import examples, transposed
from gradwire_engine.ops.elementwise import BOOL, broadcast_shapes
from gradwire_engine.ops.patterns import (
    ARRAY,
    FULL,
    Pattern,
    complete_pattern,
    from_each,
    from_shared,
    index_of,
    indexed_shape,
    into_each,
    shape_selected,
)
from gradwire_engine.ops.promotion import DTYPES
from gradwire_engine.tape import ArrayType, Shape, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var

_UINT64, _LARGEST = DTYPES["uint64"], 2**63 - 1


def _check_integers(kinds: tuple[ArrayType, ...]) -> None:
    for kind in kinds:
        if kind.dtype.kind not in "iu":
            raise DtypeMismatch(f"an index must be an integer, got {kind}", hint="astype('int64')")


class Indexed(Op):
    """An operation on the elements that ``pattern`` and index arrays select."""

    pattern: Pattern

    @property
    def selects_rows(self) -> bool:
        """True if one index array selects along the first axis, and all along the others."""
        return self.pattern[:1] == (ARRAY,) and {*self.pattern[1:]} <= {FULL}

    def index(self, xp: Any, arrays: Sequence[Any]) -> Any:
        """The index that NumPy is given, with ``arrays`` in the pattern's gaps."""
        return index_of(self.pattern, tuple([signed(xp, array) for array in arrays]))

    def flops(self, result: Type, *types: ArrayType) -> int:
        """One move an element."""
        return max(types[0].size, 1)


def signed(xp: Any, array: Any) -> Any:
    """``array`` as signed integers, where NumPy would take large unsigned ones for negative."""
    if array.dtype != _UINT64:
        return array
    return xp.asarray(xp.minimum(array, _LARGEST), dtype="int64")


@register("getitem", public=False)
class GetItem(Indexed):
    """Elements selected by NumPy's rules: ``z = x[pattern]``."""

    pattern: Pattern
    rounds = False
    linear = True
    views = True

    def infer(self, *types: ArrayType) -> ArrayType:
        """Shape by ``indexed_shape``."""
        x, *arrays = types
        _check_integers(tuple(arrays))
        shape = indexed_shape(x.shape, self.pattern, tuple([a.shape for a in arrays]))
        return ArrayType(x.dtype, shape, x.weak)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Index."""
        return xp.getitem(operands[0], self.index(xp, operands[1:]))

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar``: zeros to which ``z_bar`` is added at the selected elements."""
        x, *arrays = operands
        bar = ScatterAdd(self.pattern, x.shape)(z_bar, *arrays)
        return (bar, *[None] * len(arrays))

    def batch(self, operands: Sequence[Var], batched: Sequence[bool]) -> Var:
        """Index each example, or a shared array by the indices of all."""
        (x, *arrays), (own, *flags) = operands, batched
        shape = x.shape[1:] if own else x.shape
        ndim = len(shape_selected(shape, self.pattern, arrays, flags))
        chosen = (
            from_each(self.pattern, ndim, arrays, flags, x.shape[0])
            if own
            else from_shared(self.pattern, ndim, arrays, flags)
        )
        return transposed(GetItem(chosen.pattern)(x, *chosen.arrays), chosen.order)


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
        """Add unbuffered where an element may be selected twice, else assign: -0 stays -0."""
        z_bar, *arrays = operands
        if self.selects_rows:
            return xp.add_rows(self.shape, signed(xp, arrays[0]), z_bar)
        if arrays:
            return xp.add_at(self.shape, self.index(xp, arrays), z_bar)
        out = xp.zeros(self.shape, z_bar.dtype)
        out[self.index(xp, ())] = z_bar
        return out

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """Read back what was scattered."""
        _, *arrays = operands
        return (GetItem(self.pattern)(z_bar, *arrays), *[None] * len(arrays))

    def batch(self, operands: Sequence[Var], batched: Sequence[bool]) -> Var:
        """Add to the zeros of each example."""
        (v, *arrays), (own, *flags) = operands, batched
        size = examples(operands, batched)
        ndim = len(shape_selected(self.shape, self.pattern, arrays, flags))
        chosen = from_each(self.pattern, ndim, arrays, flags, size)
        value = into_each(v, own, chosen, size, ndim)
        return ScatterAdd(chosen.pattern, (size, *self.shape))(value, *chosen.arrays)


@register("setitem", public=False)
class SetItem(Indexed):
    """``x`` with the selected elements replaced by ``v``; of repeated ones the last stays."""

    pattern: Pattern
    rounds = False
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
        return xp.setitem(x, self.index(xp, arrays), v)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar`` is ``z_bar`` with zeros there; ``v_bar`` what is there, of repeats the last."""
        x, _, *arrays = operands
        zero = z_bar.constant(0)
        v_bar = GetItem(self.pattern)(z_bar, *arrays)
        if arrays:
            from gradwire_engine.ops.pointwise.selection import Where

            last = LastWriter(self.pattern, x.shape)(*arrays)
            v_bar = Where()(last, v_bar, zero)
        return (SetItem(self.pattern)(z_bar, zero, *arrays), v_bar, *[None] * len(arrays))

    def batch(self, operands: Sequence[Var], batched: Sequence[bool]) -> Var:
        """Replace in each example."""
        (x, v, *arrays), (changed, own, *flags) = operands, batched
        size = examples(operands, batched)
        base = x if changed else x.builder.broadcast(x, (size, *x.shape))
        ndim = len(shape_selected(base.shape[1:], self.pattern, arrays, flags))
        chosen = from_each(self.pattern, ndim, arrays, flags, size)
        value = into_each(v, own, chosen, size, ndim)
        return SetItem(chosen.pattern)(base, value, *chosen.arrays)


@register("last_writer", public=False)
class LastWriter(Indexed):
    """The selected elements that are not selected again later."""

    pattern: Pattern
    shape: Shape
    differentiable = False

    def infer(self, *types: ArrayType) -> ArrayType:
        """Booleans of the selection's shape."""
        arrays = tuple([kind.shape for kind in types])
        return ArrayType(BOOL, indexed_shape(self.shape, self.pattern, arrays))

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Let each write its number, and see whose stayed."""
        return xp.last_writer(self.shape, self.index(xp, operands))

    def batch(self, operands: Sequence[Var], batched: Sequence[bool]) -> Var:
        """Look at the indices of each example."""
        size = examples(operands, batched)
        ndim = len(shape_selected(self.shape, self.pattern, operands, batched))
        chosen = from_each(self.pattern, ndim, operands, batched, size)
        last = LastWriter(chosen.pattern, (size, *self.shape))(*chosen.arrays)
        return transposed(last, chosen.order)


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

    def batch(self, operands: Sequence[Var], batched: Sequence[bool]) -> Var:
        """Refused: the examples' counts may differ."""
        raise BadArgument(
            "a mask that differs between the examples of a batch selects different counts",
            hint="where keeps the shape",
        )

    def flops(self, result: Type, *types: ArrayType) -> int:
        """One look an element."""
        return types[0].size


def normalized_axis(axis: Any, ndim: int) -> int:
    """A non-negative axis of an array with ``ndim`` axes."""
    if type(axis) is not int or not -ndim <= axis < ndim:
        raise BadArgument(f"axis must be an integer in [-{ndim}, {ndim}), as the array has {ndim}")
    return axis % ndim


@macro("take")
def take(b: Builder, a: Any, indices: Any, axis: Static = None, mode: Static = "raise") -> Var:
    """Elements along an axis: ``z = a[..., indices, ...]``; of the flattened array without axis.

    ``mode`` "wrap" counts on from the other end, "clip" takes the last or the first element.
    """
    x, index = b.array(a), b.array(indices)
    if index.dtype == bool:  # not a mask here
        index = b.cast(index, DTYPES["int64"])
    if axis is None:
        x, axis = FUNCTIONS["ravel"].record(b, x), 0
    place = normalized_axis(axis, x.ndim)
    if mode == "wrap":
        index = FUNCTIONS["remainder"].record(b, index, x.shape[place])
    elif mode == "clip":
        index = FUNCTIONS["clip"].record(b, index, 0, x.shape[place] - 1)
    elif mode != "raise":
        raise BadArgument("take knows the modes 'raise', 'wrap' and 'clip'")
    before = (FULL,) * place
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
        index if i == along else b.numbers(length, i, x.ndim) for i, length in enumerate(x.shape)
    ]
    return GetItem((ARRAY,) * x.ndim)(x, *arrays)
