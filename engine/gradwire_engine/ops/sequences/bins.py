"""Bins: the places of values among rising numbers, and the number of values in each bin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument, DtypeMismatch, ShapeMismatch
from gradwire_engine.ops.arrays.creation import linspace
from gradwire_engine.ops.arrays.indexing import GetItem, ScatterAdd
from gradwire_engine.ops.arrays.shape import reshape
from gradwire_engine.ops.arrays.slicing import sliced
from gradwire_engine.ops.axes import flag
from gradwire_engine.ops.base import Op, Static, macro, register
from gradwire_engine.ops.batching import everywhere
from gradwire_engine.ops.constants import StopGradient
from gradwire_engine.ops.conversion import floating
from gradwire_engine.ops.patterns import ARRAY
from gradwire_engine.ops.pointwise.comparison import (
    Equal,
    GreaterEqual,
    IsFinite,
    Less,
    LessEqual,
)
from gradwire_engine.ops.pointwise.selection import clip, zero_unless
from gradwire_engine.ops.promotion import DTYPES
from gradwire_engine.ops.reductions.reductions import Max, Min, Sum
from gradwire_engine.ops.requirements import Required
from gradwire_engine.ops.sequences.cumulative import diff
from gradwire_engine.tape import ArrayType, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


def element(x: Var, index: int) -> Var:
    """``x[index]`` of a vector."""
    return GetItem((index,))(x)


@register("searchsorted", "bisect")
class SearchSorted(Op):
    """Index before which ``v`` goes into the rising vector ``a``, to the left or right of equals.

    An integer, so without gradient.
    """

    side: str
    differentiable = False

    @classmethod
    def record(cls, b: Builder, a: Any, v: Any, side: Static = "left") -> Any:
        """Record on two arrays, promoted."""
        if side not in ("left", "right"):
            raise BadArgument("searchsorted takes side='left' or side='right'")
        return cls(side)(*b.promote(a, v))

    def infer(self, *types: ArrayType) -> ArrayType:
        """An integer for each of ``v``."""
        a, v = types
        if a.ndim != 1:
            raise ShapeMismatch(f"searchsorted needs a vector to search in, got {a}")
        return ArrayType(DTYPES["int64"], v.shape)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Search by halves."""
        return xp.searchsorted(*operands, side=self.side)

    def batch(self, operands: Sequence[Var], batched: Sequence[bool]) -> Var:
        """Search in one shared vector, or count what goes before in each example's own."""
        (a, v), (own, _) = operands, batched
        if not own:
            return self(a, v)
        a, v = everywhere(operands, batched)
        bounds = reshape(a, (a.shape[0], *(1,) * (v.ndim - 1), a.shape[1]))
        sought = reshape(v, (*v.shape, 1))
        before = (Less() if self.side == "left" else LessEqual())(bounds, sought)
        return Sum((v.ndim,))(before)

    def flops(self, result: Type, *types: ArrayType) -> int:
        """One comparison for each halving."""
        return types[1].size * max(1, types[0].size.bit_length())


def rising(edges: Var) -> Var:
    """The edges of bins, if each is no less than the one before."""
    n = edges.type.size
    before, after = sliced(edges, 0, 0, n - 1), sliced(edges, 0, 1, n)
    rises = LessEqual()(before, after)
    return Required("edges of bins must rise monotonically", "sort them")(edges, rises)


@macro("bincount")
def bincount(b: Builder, x: Any, weights: Any = None, minlength: Static = 0) -> Any:
    """The count of each of ``0 … minlength - 1`` in ``x``, or the sum of its ``weights``.

    The length of the result must be known, so ``x`` is to be below ``minlength``.
    """
    index = b.array(x)
    if index.dtype.kind not in "iu" or index.ndim != 1:
        raise DtypeMismatch(f"bincount needs a vector of integers, got {index.type}")
    if isinstance(minlength, bool) or not isinstance(minlength, int) or minlength < 1:
        raise BadArgument("bincount needs minlength, the length of its result")
    kind = ArrayType(DTYPES["int64"], index.shape)
    each = b.full(1, kind) if weights is None else floating(b, weights)
    if each.shape != index.shape:
        raise ShapeMismatch(f"{each.shape} weights for {index.shape} elements")
    if index.dtype.kind == "i":
        counted = GreaterEqual()(index, index.constant(0))
        index = Required("bincount needs integers of at least 0", "take out others")(index, counted)
    return ScatterAdd((ARRAY,), (minlength,))(each, index)


@macro("histogram")
def histogram(
    b: Builder,
    a: Any,
    bins: Any = 10,
    range: Any = None,
    density: Any = None,
    weights: Any = None,
) -> Any:
    """A list of how many elements, or what sum of ``weights``, is in each bin, and of its edges.

    ``bins`` is a number of equal bins over ``range`` (by default from the least to the largest
    element, or from 0 to 1 of none), or the rising vector of edges.  A range of one number goes
    from 1/2 less to 1/2 more.  The last bin has its right edge.  A ``density`` is
    divided by the widths and the whole.  Convention: counts have derivative 0 in ``a`` and the
    edges.
    """
    x = reshape(floating(b, a), (b.array(a).type.size,))
    if isinstance(bins, int) and not isinstance(bins, bool):
        if bins < 1:
            raise BadArgument(f"histogram needs at least 1 bin, got {bins}")
        if range is not None and not (isinstance(range, list | tuple) and len(range) == 2):
            raise BadArgument("the range of a histogram is a pair of numbers")
        if range is None:
            range = (Min((0,))(x), Max((0,))(x)) if x.type.size else (0, 1)
        _, low, high = b.promote(x, *range)
        finite = IsFinite()(high - low) & LessEqual()(low, high)
        low = Required(
            "the range of a histogram goes from a finite number to one that is no less",
            "exchange the ends, or give a range of numbers",
        )(low, finite)
        apart = b.cast(Equal()(low, high), low.dtype) * 0.5
        edges = linspace(b, low - apart, high + apart, bins + 1)
    else:
        edges = b.array(bins)
        if edges.ndim == 1 and edges.type.size > 1:
            edges = rising(edges)
    if edges.ndim != 1 or edges.type.size < 2:
        raise ShapeMismatch(f"histogram needs a vector of at least 2 edges, got {edges.type}")
    among, between = b.promote(StopGradient()(x), StopGradient()(edges))
    counts = _counted(b, among, between, weights)
    if density is None or not flag(density, "density"):
        return [counts, edges]
    counts, widths = b.promote(counts, b.cast(diff(b, edges), DTYPES["float64"]))
    return [counts / widths / Sum((0,))(counts), edges]


def _counted(b: Builder, x: Var, edges: Var, weights: Any) -> Var:
    count = edges.type.size - 1
    index = clip(b, SearchSorted("right")(edges, x) - 1, 0, count - 1)
    inside = GreaterEqual()(x, element(edges, 0)) & LessEqual()(x, element(edges, count))
    if weights is None:
        each = b.cast(inside, DTYPES["int64"])
    else:
        each = zero_unless(inside, reshape(floating(b, weights), x.shape))
    return ScatterAdd((ARRAY,), (count,))(each, index)
