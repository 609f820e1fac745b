"""Draws that choose and count: integers, orders, classes.

What is chosen is piecewise constant in the parameters, so it carries no derivative to them; values
that are passed on (the rows of a shuffled array) carry their own.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument, DtypeMismatch, ShapeMismatch
from gradwire_engine.ops.arrays.creation import arange
from gradwire_engine.ops.arrays.indexing import take
from gradwire_engine.ops.arrays.shape import moveaxis, reshape
from gradwire_engine.ops.arrays.slicing import picked, sliced
from gradwire_engine.ops.axes import axis_of, flag, lengths
from gradwire_engine.ops.base import Static, macro, register
from gradwire_engine.ops.conversion import AsType
from gradwire_engine.ops.elementwise import Special
from gradwire_engine.ops.pointwise.arithmetic import Remainder
from gradwire_engine.ops.pointwise.comparison import Less
from gradwire_engine.ops.pointwise.exponential import Log, Log1p
from gradwire_engine.ops.pointwise.selection import Floor, Maximum, Minimum, NanToNum
from gradwire_engine.ops.promotion import DTYPES
from gradwire_engine.ops.random.draws import DOUBLE, drawn, gumbels
from gradwire_engine.ops.random.keys import Words, place_of, real_parameters, shape_for, uniforms
from gradwire_engine.ops.reductions.reductions import ArgMax
from gradwire_engine.ops.sequences.bins import SearchSorted
from gradwire_engine.ops.sequences.cumulative import CumSum
from gradwire_engine.ops.sequences.sorting import ArgSort, Permute

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


class Quantile(Special):
    """The least whole number that a distribution does not exceed with probability ``u``."""

    differentiable = False
    flops_per_element = 500

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Invert as if continuous, round up, and undo that where one less was enough."""
        u, *parameters = operands
        z = xp.ceil(self.inverse(xp, u, *parameters))
        less = xp.maximum(z - 1, 0)
        return xp.where(self.below(xp, less, *parameters) >= u, less, z)

    @abstractmethod
    def below(self, xp: Any, z: Any, *parameters: Any) -> Any:
        """The probability of at most ``z``."""

    @abstractmethod
    def inverse(self, xp: Any, u: Any, *parameters: Any) -> Any:
        """The continuous ``z`` that is not exceeded with probability ``u``."""


@register("poisson_quantile", public=False)
class PoissonQuantile(Quantile):
    """Quantile of Poisson's distribution, of ``u`` and the mean."""

    workspace = 1.0

    def below(self, xp: Any, z: Any, *parameters: Any) -> Any:
        """Source: DLMF 8.4.10."""
        return xp.special.pdtr(z, *parameters)

    def inverse(self, xp: Any, u: Any, *parameters: Any) -> Any:
        """Search."""
        return xp.special.pdtrik(u, *parameters)


@register("binomial_quantile", public=False)
class BinomialQuantile(Quantile):
    """Quantile of the binomial distribution, of ``u``, the number of trials and the chance."""

    workspace = 1.5

    def below(self, xp: Any, z: Any, *parameters: Any) -> Any:
        """Whole numbers of trials only."""
        count, chance = parameters
        return xp.special.bdtr(z, count.astype("int64"), chance)

    def inverse(self, xp: Any, u: Any, *parameters: Any) -> Any:
        """Search, unless the outcome is certain."""
        count, chance = parameters
        certain = (count == 0) | (chance == 0) | (chance == 1)
        return xp.where(certain, count * chance, xp.special.bdtrik(u, *parameters))


def _counted(b: Builder, z: Var, dtype: Any) -> Any:
    """Counts as integers, -1 where parameters are outside their domain."""
    return AsType.record(b, NanToNum(-1.0)(z), dtype)


@macro("random.bernoulli", differentiable=False)
def bernoulli(b: Builder, key: Any, p: Any = 0.5, shape: Static = None) -> Any:
    """True with probability ``p``: ``z = u < p``; piecewise constant, so no gradient."""
    (chance,) = real_parameters(b, "bernoulli", p)
    full = shape_for(shape, [chance.type.shape], "bernoulli")
    return Less()(uniforms(b, key, full, DOUBLE), b.cast(chance, DOUBLE))


@macro("random.rademacher", differentiable=False)
def rademacher(b: Builder, key: Any, shape: Static = (), dtype: Static = "int64") -> Any:
    """1 or -1, both alike."""
    return randint(b, key, shape, 0, 2, dtype) * 2 - 1


@macro("random.randint", differentiable=False)
def randint(
    b: Builder, key: Any, shape: Static, minval: Any, maxval: Any, dtype: Static = "int64"
) -> Any:
    """Integers from ``minval`` to before ``maxval``, all alike; ``minval`` if there are none.

    Shapes: ``shape``, or for None that of the bounds.  Some come more often than others by as
    little as ``maxval - minval`` in 2⁶⁴.
    """
    low, high = (b.array(bound) for bound in (minval, maxval))
    for bound in (low, high):
        if bound.dtype.kind not in "iu":
            raise DtypeMismatch(f"randint needs integer bounds, got {bound.type}")
    low, high = (b.cast(bound, DTYPES["int64"]) for bound in (low, high))
    full = shape_for(shape, [low.type.shape, high.type.shape], "randint")
    count = Maximum()(high - low, b.scalar(1, low.dtype))
    words = Words(full)(place_of(b, key))
    below = Remainder()(words, b.cast(count, words.dtype))
    return AsType.record(b, low + b.cast(below, low.dtype), dtype)


@macro("random.poisson", differentiable=False)
def poisson(b: Builder, key: Any, lam: Any, shape: Static = None, dtype: Static = "int64") -> Any:
    """Counts of mean ``lam``, by inversion, so no gradient; -1 if it is negative or not finite."""
    z = drawn(b, "poisson", key, shape, DOUBLE, (lam,), PoissonQuantile())
    return _counted(b, z, dtype)


@macro("random.binomial", differentiable=False)
def binomial(
    b: Builder, key: Any, n: Any, p: Any, shape: Static = None, dtype: Static = "int64"
) -> Any:
    """How many of ``n`` trials of chance ``p`` succeed, by inversion; no gradient."""
    z = drawn(b, "binomial", key, shape, DOUBLE, (n, p), BinomialQuantile())
    return _counted(b, z, dtype)


@macro("random.geometric", differentiable=False)
def geometric(b: Builder, key: Any, p: Any, shape: Static = None, dtype: Static = "int64") -> Any:
    """Trials of chance ``p`` up to the first success: ``z = 1 + floor(ln u / ln(1 - p))``."""

    def formula(u: Var, chance: Var) -> Var:
        return Floor()(Log()(u) / Log1p()(-chance)) + 1

    return _counted(b, drawn(b, "geometric", key, shape, DOUBLE, (p,), formula), dtype)


@macro("random.categorical", differentiable=False)
def categorical(b: Builder, key: Any, logits: Any, axis: Static = -1, shape: Static = None) -> Any:
    """Classes with probabilities ``softmax(logits)`` along ``axis``: ``argmax(logits + gumbel)``.

    Shapes: that of ``logits`` without the axis, or a ``shape`` to which this broadcasts.
    """
    (x,) = real_parameters(b, "categorical", logits)
    place = axis_of(axis, x.ndim, "categorical")
    x = moveaxis(b, b.cast(x, DOUBLE), place, -1)
    *rest, classes = x.type.shape
    full = shape_for(shape, [tuple(rest)], "categorical")
    return ArgMax(len(full))(x + gumbels(uniforms(b, key, (*full, classes), DOUBLE)))


def _order(b: Builder, key: Any, shape: tuple[int, ...], axis: int) -> Var:
    """A random order along ``axis``, of each row its own."""
    return ArgSort(axis)(Words(shape)(place_of(b, key)))


@macro("random.permutation", "random.shuffle")
def permutation(b: Builder, key: Any, x: Any, axis: Static = 0, independent: Static = False) -> Any:
    """``x`` in random order along ``axis``, all rows alike or, if ``independent``, each by itself.

    A literal integer stands for the numbers up to before it.  Gradients return to where the
    elements came from.
    """
    x = arange(b, x) if isinstance(x, int) else b.array(x)
    place = axis_of(axis, x.ndim, "permutation")
    if flag(independent, "independent"):
        return Permute(place)(x, _order(b, key, x.type.shape, place))
    return take(b, x, _order(b, key, (x.type.shape[place],), 0), place)


@macro("random.choice")
def choice(
    b: Builder,
    key: Any,
    a: Any,
    shape: Static = (),
    replace: Static = True,
    p: Any = None,
    axis: Static = 0,
) -> Any:
    """Elements of ``a`` along ``axis``, all alike or with the probabilities ``p``.

    A literal integer stands for the numbers up to before it.  Without ``replace`` none comes twice.
    Gradients return to the elements chosen, none go to ``p``.
    """
    a = arange(b, a) if isinstance(a, int) else b.array(a)
    place = axis_of(axis, a.ndim, "choice")
    full, count = lengths(shape), a.type.shape[place]
    size = math.prod(full)
    if size and (not count or (size > count and not flag(replace, "replace"))):
        raise BadArgument(f"choice cannot take {size} of {count} elements")
    if p is None and replace:
        index = randint(b, key, full, 0, count)
    elif p is None:
        index = reshape(sliced(_order(b, key, (count,), 0), 0, 0, size), full)
    else:
        index = _weighted(b, key, full, count, p, replace=replace)
    return take(b, a, index, place)


def _weighted(
    b: Builder, key: Any, shape: tuple[int, ...], count: int, p: Any, *, replace: bool
) -> Var:
    """Places among ``count``, by inversion, or without replacement in perturbed order.

    Source of the latter: Efraimidis and Spirakis, "Weighted random sampling with a reservoir"
    (2006).
    """
    (chances,) = real_parameters(b, "choice", p)
    if chances.type.shape != (count,):
        raise ShapeMismatch(f"choice needs {count} probabilities, got {chances.type}")
    chances = b.cast(chances, DOUBLE)
    if not replace:
        order = ArgSort(0)(-(Log()(chances) + gumbels(uniforms(b, key, (count,), DOUBLE))))
        return reshape(sliced(order, 0, 0, math.prod(shape)), shape)
    ends = CumSum(0)(chances)
    u = uniforms(b, key, shape, DOUBLE) * picked(ends, 0, count - 1)
    index: Var = SearchSorted("right")(ends, u)
    return Minimum()(index, b.scalar(count - 1, index.dtype))
