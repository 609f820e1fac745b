"""Order statistics, and the places of quantiles among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.ops.arrays.shape import unsqueeze
from gradwire_engine.ops.base import Cotangents, Op, register
from gradwire_engine.ops.batching import raised
from gradwire_engine.ops.elementwise import RealBinary, broadcast_shapes
from gradwire_engine.ops.pointwise.comparison import (
    Equal,
)
from gradwire_engine.ops.reductions.reductions import Sum
from gradwire_engine.tape import ArrayType, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var

#: Methods whose place moves with ``q``: the ``alpha`` and ``beta`` of Hyndman and Fan.
_CONTINUOUS = {
    "interpolated_inverted_cdf": (0.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "linear": (1.0, 1.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}
QUANTILE_METHODS = [
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


def known_place(method: str, q: float, n: int) -> float:
    """The place of quantile ``q`` of ``n`` numbers, while recording."""
    return float(QuantilePlace(method).place(np, q, n))
