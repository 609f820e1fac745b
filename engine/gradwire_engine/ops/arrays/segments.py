"""Reductions of rows by segment: each row belongs to the segment that its integer names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from gradwire_engine.errors import DtypeMismatch, ShapeMismatch
from gradwire_engine.ops.arrays.indexing import GetItem, ScatterAdd, signed
from gradwire_engine.ops.arrays.rearranging import Flip
from gradwire_engine.ops.arrays.shape import reshape
from gradwire_engine.ops.arrays.slicing import Pad, sliced
from gradwire_engine.ops.base import Cotangents, Op, register
from gradwire_engine.ops.batching import everywhere
from gradwire_engine.ops.elementwise import conj
from gradwire_engine.ops.patterns import ARRAY, FULL
from gradwire_engine.ops.pointwise.comparison import Equal
from gradwire_engine.ops.pointwise.selection import Maximum
from gradwire_engine.ops.sequences.cumulative import LinearRecurrence, shifted
from gradwire_engine.ops.sequences.sorting import ArgSort
from gradwire_engine.tape import FLOATING, ArrayType, DType, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var


class SegmentReduction(Op):
    """Rows with equal ids become one; an id without rows gets the value of no elements."""

    count: int
    reduce: ClassVar[str]

    def infer(self, *types: ArrayType) -> ArrayType:
        """``count`` rows."""
        x, ids = types
        check_ids(x, ids)
        self.of_none(x.dtype)
        return ArrayType(x.dtype, (self.count, *x.shape[1:]), x.weak)

    def of_none(self, dtype: DType) -> Any:
        """The reduction of no elements."""
        return 1

    def batch(self, operands: Sequence[Var], batched: Sequence[bool]) -> Var:
        """Number the segments of all examples on, and see their rows as one array's."""
        x, ids = everywhere(operands, batched)
        size, rows, *rest = x.shape
        b = x.builder
        # Read out of all ids, so that one out of range is no other example's.
        own = at_ids(b.numbers(self.count), ids)
        first = b.table((size, 1), lambda example, _: example * self.count)
        numbered = reshape(own + first, (size * rows,))
        z = type(self)(size * self.count)(reshape(x, (size * rows, *rest)), numbered)
        return reshape(z, (size, self.count, *rest))

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Reduce unbuffered, as ids repeat."""
        x, ids = operands
        z = xp.full((self.count, *x.shape[1:]), self.of_none(x.dtype), x.dtype)
        return xp.combine_rows(getattr(xp, self.reduce), z, signed(xp, ids), x)

    def flops(self, result: Type, *types: ArrayType) -> int:
        """One operation per element."""
        return types[0].size


def check_ids(x: ArrayType, ids: ArrayType) -> None:
    """Refuse ids that are no integers, or not one for each row."""
    if ids.dtype.kind not in "iu":
        raise DtypeMismatch(f"segment ids must be integers, got {ids}")
    if ids.shape != x.shape[:1] or not x.ndim:
        raise ShapeMismatch(f"segments need an id for each row, got {ids.shape} for {x.shape}")


def at_ids(x: Var, ids: Var) -> Var:
    """The row of ``x`` that each id names."""
    return GetItem((ARRAY, *(FULL,) * (x.ndim - 1)))(x, ids)


def added_at_ids(x: Var, ids: Var, count: int) -> Var:
    """``count`` rows of zeros, to which the rows of ``x`` are added where their ids say."""
    return ScatterAdd((ARRAY, *(FULL,) * (x.ndim - 1)), (count, *x.shape[1:]))(x, ids)


class SegmentExtreme(SegmentReduction):
    """The outermost of each segment."""

    rounds = False

    sign: ClassVar[int]

    def of_none(self, dtype: DType) -> Any:
        """The least of the dtype for a maximum, the largest for a minimum."""
        if dtype.kind in FLOATING:
            return -self.sign * math.inf
        if dtype.kind not in "iu":
            raise DtypeMismatch(f"{self.name} does not take {dtype.name}")
        bits = 8 * dtype.itemsize - (dtype.kind == "i")
        least = -(2**bits) if dtype.kind == "i" else 0
        return least if self.sign > 0 else 2**bits - 1

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar / n`` at the ``n`` elements of a segment equal to ``z``, else 0."""
        x, ids = operands
        equal = x.builder.cast(Equal()(x, at_ids(z, ids)), x.dtype)
        shares = Maximum()(added_at_ids(equal, ids, self.count), x.constant(1))
        return equal * at_ids(z_bar / shares, ids), None


@register("segment_max_rows", public=False)
class SegmentMax(SegmentExtreme):
    """Largest of each segment."""

    count: int
    reduce = "maximum"
    sign = 1


@register("segment_min_rows", public=False)
class SegmentMin(SegmentExtreme):
    """Smallest of each segment."""

    count: int
    reduce = "minimum"
    sign = -1


@register("segment_prod_rows", public=False)
class SegmentProd(SegmentReduction):
    """Product of each segment, with derivatives that are right to all orders where some are 0."""

    count: int
    reduce = "multiply"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar_i = z_bar (product of the others)*``: those before times those after."""
        x, ids = operands
        if not ids.type.size:
            return x, None
        order = ArgSort(0)(ids)
        rows, sorted_ids = at_ids(x, order), at_ids(ids, order)
        others = _before(rows, sorted_ids) * _before(rows, sorted_ids, flip=Flip((0,)))
        return at_ids(z_bar, ids) * conj(at_ids(others, ArgSort(0)(order))), None


def _before(x: Var, ids: Var, *, flip: Flip | None = None) -> Var:
    """Product of the rows before each in its run of equal ids; with ``flip``, of those after."""
    if flip is not None:
        x, ids = flip(x), flip(ids)
    b, n = x.builder, ids.type.size
    same = Equal()(sliced(ids, 0, 1, n), sliced(ids, 0, 0, n - 1))
    linked = b.cast(Pad((1,), (0,))(same), x.dtype)
    linked = b.broadcast(reshape(linked, (n,) + (1,) * (x.ndim - 1)), x.shape)
    z = LinearRecurrence(0)(linked * shifted(x, 0, 1), 1 - linked)
    return z if flip is None else flip(z)
