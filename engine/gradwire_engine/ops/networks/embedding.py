"""Rows of a table by their indices, one by one and by the bag."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.errors import BadArgument, DtypeMismatch, ShapeMismatch
from gradwire_engine.ops.arrays.creation import arange
from gradwire_engine.ops.arrays.indexing import take
from gradwire_engine.ops.arrays.segments import SegmentMax, added_at_ids
from gradwire_engine.ops.arrays.shape import reshape, unsqueeze
from gradwire_engine.ops.arrays.slicing import sliced
from gradwire_engine.ops.axes import flag, integer
from gradwire_engine.ops.base import Static, macro
from gradwire_engine.ops.constants import StopGradient
from gradwire_engine.ops.linalg.coordinates import CooMatMul
from gradwire_engine.ops.pointwise.comparison import GreaterEqual, NotEqual
from gradwire_engine.ops.pointwise.selection import Maximum, Where, zero_unless
from gradwire_engine.ops.promotion import inexact_promoted
from gradwire_engine.ops.sequences.bins import SearchSorted
from gradwire_engine.tape import ArrayType

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


def _indices(b: Builder, ids: Any, weight: Var) -> Var:
    index = b.array(ids)
    if index.dtype.kind not in "iu":
        raise DtypeMismatch(f"an embedding needs integer indices, got {index.type}")
    if weight.ndim != 2:
        raise ShapeMismatch(f"an embedding needs a matrix of rows, got {weight.type}")
    return index


def _padding(padding_idx: Any, weight: Var) -> int:
    rows = weight.type.shape[0]
    place = integer(padding_idx, "padding_idx")
    if not -rows <= place < rows:
        raise BadArgument(f"padding_idx {place} is out of range for {rows} rows")
    return place % rows


@macro("embedding")
def embedding(b: Builder, ids: Any, weight: Any, padding_idx: Static = None) -> Any:
    """Rows of ``weight`` by their indices: ``z = weight[ids]``.

    The row ``padding_idx`` is read as others are, and has no gradient.
    """
    table = b.array(weight)
    index = _indices(b, ids, table)
    rows = take(b, table, index, 0)
    if padding_idx is None:
        return rows
    own = NotEqual()(index, b.scalar(_padding(padding_idx, table), index.dtype))
    return Where()(unsqueeze(own, (own.ndim,)), rows, StopGradient()(rows))


@macro("embedding_bag")
def embedding_bag(
    builder: Builder,
    ids: Any,
    weight: Any,
    offsets: Any = None,
    mode: Static = "mean",
    per_sample_weights: Any = None,
    include_last_offset: Static = False,
    padding_idx: Static = None,
) -> Any:
    """Sum, mean or largest of the rows of ``weight`` that each bag of indices names.

    Shapes: ``ids`` is a matrix with a bag in each row, or a vector with bags from each of the
    ``offsets`` to the next; with ``include_last_offset`` the last one is the end.  Rows
    ``padding_idx`` do not count; an empty bag gives 0.  A sum may be weighed by
    ``per_sample_weights`` of the shape of ``ids``.  No row is copied for sums and means, which cost
    two operations for each index and column.
    Convention: of equal largest elements each has an even share of the derivative.
    """
    given = [] if per_sample_weights is None else [per_sample_weights]
    table, *weights = builder.promote(weight, *given, rule=inexact_promoted)
    index = _indices(builder, ids, table)
    if weights and (mode != "sum" or weights[0].type.shape != index.type.shape):
        raise BadArgument("per_sample_weights go with mode 'sum', in the shape of the indices")
    bags, count = _bags(builder, index, offsets, flag(include_last_offset, "include_last_offset"))
    index = reshape(index, (index.type.size,))
    share = builder.full(1, ArrayType(table.dtype, index.type.shape))
    if padding_idx is not None:
        place = builder.scalar(_padding(padding_idx, table), index.dtype)
        share = builder.cast(NotEqual()(index, place), table.dtype)
    sizes = added_at_ids(share, bags, count)
    if mode in ("sum", "mean"):
        factors = share * reshape(weights[0], index.type.shape) if weights else share
        z = CooMatMul(count)(factors, bags, index, table)
        return z if mode == "sum" else z / unsqueeze(Maximum()(sizes, _one(sizes)), (1,))
    if mode != "max":
        raise BadArgument("mode must be 'sum', 'mean' or 'max'")
    rows = take(builder, table, index, 0)
    lowest = builder.scalar(-np.inf, rows.dtype)
    rows = Where()(unsqueeze(GreaterEqual()(share, _one(share)), (1,)), rows, lowest)
    some = unsqueeze(GreaterEqual()(sizes, _one(sizes)), (1,))
    return zero_unless(some, SegmentMax(count)(rows, bags))


def _one(x: Var) -> Var:
    return x.builder.scalar(1, x.dtype)


def _bags(b: Builder, index: Var, offsets: Any, include_last: bool) -> tuple[Var, int]:
    """The bag of each index, and how many bags there are."""
    if index.ndim == 2 and offsets is None:
        count, each = index.type.shape
        return b.table((count * each,), lambda place: place // max(each, 1)), count
    if index.ndim != 1 or offsets is None:
        raise ShapeMismatch(
            f"embedding_bag needs a matrix, or a vector and offsets, got {index.type}"
        )
    starts = b.array(offsets)
    if starts.dtype.kind not in "iu" or starts.ndim != 1:
        raise DtypeMismatch(f"embedding_bag needs a vector of integers as offsets, got {starts}")
    count = starts.type.shape[0] - include_last
    if count < 0:
        raise ShapeMismatch("include_last_offset needs at least one offset")
    starts = sliced(starts, 0, 0, count)
    numbers = b.cast(arange(b, index.type.size), starts.dtype)
    return SearchSorted("right")(starts, numbers) - 1, count
