"""Order statistics: quantiles between them, medians, and those of what is not NaN."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.errors import BadArgument, DtypeMismatch, ShapeMismatch
from gradwire_engine.ops.arrays.shape import reshape, transpose, unsqueeze
from gradwire_engine.ops.axes import axes_of, choice, flag, with_ones
from gradwire_engine.ops.base import Cotangents, Op, Static, macro, register
from gradwire_engine.ops.batching import raised
from gradwire_engine.ops.builder import describe
from gradwire_engine.ops.conversion import floating
from gradwire_engine.ops.elementwise import RealBinary, broadcast_shapes
from gradwire_engine.ops.pointwise.comparison import (
    Equal,
    GreaterEqual,
    IsFinite,
    IsNan,
    LessEqual,
    LogicalNot,
    NotEqual,
)
from gradwire_engine.ops.pointwise.selection import Floor, Maximum, Minimum, Where, zero_unless
from gradwire_engine.ops.promotion import DTYPES
from gradwire_engine.ops.reductions.reductions import Sum
from gradwire_engine.tape import ArrayType, Shape, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var

#: Methods whose place moves with ``q``: the ``alpha`` and ``beta`` of Hyndman and Fan.
_CONTINUOUS = {
    "interpolated_inverted_cdf": (0.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "linear": (1.0, 1.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}
_METHODS = [
    *_CONTINUOUS,
    *"inverted_cdf averaged_inverted_cdf closest_observation".split(),
    *"lower higher midpoint nearest".split(),
]


@register("quantile_place", public=False)
class QuantilePlace(RealBinary):
    """The place of quantile ``q`` of ``n`` sorted numbers: 0 is the first, 0.5 halfway to the next.

    Source: Hyndman and Fan, Sample Quantiles in Statistical Packages (1996); "lower", "higher",
    "midpoint" and "nearest" are of ``(n - 1) q``.
    """

    workspace = 4.2
    method: str
    flops_per_element = 8

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """The method's rule."""
        return self.place(xp, *operands)

    def place(self, xp: Any, q: Any, n: Any) -> Any:
        """The same of arrays or of numbers."""
        place, ranked = (n - 1) * q, n * q - 1
        if self.method == "averaged_inverted_cdf":
            return xp.where(ranked == xp.floor(ranked), ranked + 0.5, xp.ceil(ranked))
        if self.method == "closest_observation":
            # Halfway between two, the one with an even number counted from 1.
            below = xp.floor(ranked - 0.5)
            return xp.where((ranked - 0.5 == below) & (below % 2 == 1), below, below + 1)
        if self.method == "midpoint":
            return 0.5 * (xp.floor(place) + xp.ceil(place))
        stepping = {"inverted_cdf": (xp.ceil, ranked), "nearest": (xp.rint, place)}
        stepping |= {"lower": (xp.floor, place), "higher": (xp.ceil, place)}
        if self.method in stepping:
            rounding, unrounded = stepping[self.method]
            return rounding(unrounded)
        # Adding 1 - 1 to the default's would round once more.
        alpha, beta = _CONTINUOUS[self.method]
        return place if alpha == beta == 1 else ranked + (alpha + q * (1 - alpha - beta))

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``q_bar = z_bar (n + 1 - alpha - beta)``; 0 where the rule goes by steps."""
        if self.method not in _CONTINUOUS:
            return None, None
        return z_bar * (operands[1] + (1 - sum(_CONTINUOUS[self.method]))), None


@register("order_statistic", public=False)
class OrderStatistic(Op):
    """Element number ``index`` in rising order along the last axis of ``x``; NaN if there is one.

    Shapes: ``index`` broadcasts with the rows.  Convention: elements equal to it share the
    derivative evenly.
    """

    rounds = False
    workspace = 1.5

    def infer(self, *types: ArrayType) -> ArrayType:
        """One element for each row."""
        x, index = types
        return ArrayType(x.dtype, broadcast_shapes(x.shape[:-1], index.shape), x.weak)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Sort; NaNs come last, so the last element shows whether there are any."""
        x, index = operands
        rows = xp.sort(x, axis=-1)
        shape = xp.broadcast_shapes(rows.shape[:-1], xp.shape(index))
        places = xp.broadcast_to(index, shape)[..., None]
        found = xp.take_along_axis(xp.broadcast_to(rows, (*shape, x.shape[-1])), places, axis=-1)
        largest = rows[..., -1]
        return xp.where(xp.isnan(largest), largest, found[..., 0])

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar / n`` at the ``n`` elements equal to ``z``, else 0."""
        x, _ = operands
        equal = x.builder.cast(Equal()(x, unsqueeze(z, (z.ndim,))), x.dtype)
        share = z_bar / Sum((z.ndim,))(equal)
        return equal * unsqueeze(share, (z.ndim,)), None

    def batch(self, operands: Sequence[Var], batched: Sequence[bool]) -> Var:
        """The examples' axis goes in front of what is broadcast."""
        x, index = operands
        ndim = max(x.ndim - 1 - batched[0], index.ndim - batched[1])
        x = raised(x, ndim + 1) if batched[0] else x
        index = raised(index, ndim) if batched[1] else index
        return self(x, index)

    def flops(self, result: Type, *types: ArrayType) -> int:
        """``n log n`` comparisons for each row."""
        return types[0].size * max(1, types[0].shape[-1].bit_length())


def _rows(b: Builder, a: Any, q: Any, axis: Any, op: str) -> tuple[Var, Any, tuple[int, ...]]:
    """``a`` with the elements of ``axis`` last, ``q`` of its dtype, and ``axis`` as axes."""
    x = floating(b, a)
    if isinstance(q, bool) or (isinstance(q, int | float) and not 0 <= q <= 1):
        raise BadArgument(f"{op} needs q from 0 to 1, got {describe(q)}")
    if not isinstance(q, int | float):
        x, q = b.promote(x, floating(b, q))
    if x.dtype.kind == "c":
        raise DtypeMismatch("complex numbers have no quantiles")
    axes, shape = axes_of(axis, x.ndim, op), x.shape
    kept = tuple([i for i in range(x.ndim) if i not in axes])
    count = math.prod([shape[i] for i in axes])
    if count == 0:
        raise ShapeMismatch(f"no elements have no quantiles, got shape {shape}")
    return reshape(transpose(x, kept + axes), (*[shape[i] for i in kept], count)), q, axes


def _between(b: Builder, rows: Var, count: Any, q: Any, method: Any) -> Var:
    """Quantiles of the first ``count`` elements of each of ``rows``, when sorted."""
    place = QuantilePlace(choice(method, _METHODS, "method"))
    whole, at = DTYPES["int64"], OrderStatistic()
    if isinstance(q, int | float) and isinstance(count, int):
        index = min(max(float(place.place(np, q, count)), 0), count - 1)
        low, part = math.floor(index), index - math.floor(index)
        below = at(rows, b.scalar(low, whole))
        if not part:
            return below
        return below * (1 - part) + at(rows, b.scalar(low + 1, whole)) * part
    wanted, n = (b.cast(b.array(v), DTYPES["float64"]) for v in (q, count))
    wanted = reshape(wanted, (*wanted.shape, *[1] * (rows.ndim - 1)))
    one, zero = wanted.constant(1), wanted.constant(0)
    valid = GreaterEqual()(wanted, zero) & LessEqual()(wanted, one)
    position = Maximum()(Minimum()(place(zero_unless(valid, wanted), n), n - 1), zero)
    first = Floor()(position)
    second = Maximum()(Minimum()(first + 1, n - 1), zero)
    weight = b.cast(position - first, rows.dtype)
    below, above = (at(rows, b.cast(v, whole)) for v in (first, second))
    z = _share(below, 1 - weight) + _share(above, weight)
    return Where()(valid, z, z.constant(math.nan))


def _share(x: Var, weight: Var) -> Var:
    """``x weight``, where nothing of an infinite ``x`` is 0."""
    some = NotEqual()(weight, weight.constant(0)) | IsFinite()(x)
    return zero_unless(some, x * weight)


def _finished(z: Var, x_shape: Shape, axes: tuple[int, ...], keepdims: Any) -> Var:
    """``z``, whose last axes are those kept, with the reduced ones as 1 where asked for."""
    front = z.shape[: z.ndim - (len(x_shape) - len(axes))]
    return reshape(z, (*front, *with_ones(x_shape, axes))) if flag(keepdims, "keepdims") else z


@macro("quantile")
def quantile(
    b: Builder,
    a: Any,
    q: Any,
    axis: Static = None,
    method: Static = "linear",
    keepdims: Static = False,
) -> Any:
    """Quantile ``q``, from 0 to 1, over ``axis``: between the two nearest in rising order.

    ``method`` is one of NumPy's.  Shapes: the axes of ``q`` come first.  NaN where ``q`` is out of
    range.  Convention: elements equal to an order statistic share its derivative evenly; in ``q``
    the slope to the right, 0 of a method that goes by steps.
    """
    x = b.array(a)
    rows, order, axes = _rows(b, x, q, axis, "quantile")
    z = _between(b, rows, rows.shape[-1], order, method)
    return _finished(z, x.shape, axes, keepdims)


@macro("nanquantile")
def nanquantile(
    b: Builder,
    a: Any,
    q: Any,
    axis: Static = None,
    method: Static = "linear",
    keepdims: Static = False,
) -> Any:
    """Quantile ``q`` over ``axis`` of what is not NaN; NaN where all are.

    Convention: that of ``quantile``; derivative 0 at NaN.
    """
    x = b.array(a)
    rows, order, axes = _rows(b, x, q, axis, "nanquantile")
    nan, last = IsNan()(rows), (rows.ndim - 1,)
    count = b.cast(Sum(last)(LogicalNot()(nan)), DTYPES["float64"])
    # Infinities sort behind all that is looked at, or are equal to it.
    filled = Where()(nan, rows.constant(math.inf), rows)
    z = _between(b, filled, count, order, method)
    z = Where()(count.equals(0), z.constant(math.nan), z)
    return _finished(z, x.shape, axes, keepdims)
