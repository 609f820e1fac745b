"""Choosing and limiting values: where, extrema of pairs, clipping, rounding, sign."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from gradwire_engine.errors import BadArgument, DtypeMismatch
from gradwire_engine.ops.axes import integer
from gradwire_engine.ops.base import Cotangents, Op, Static, macro, register
from gradwire_engine.ops.elementwise import (
    BOOL,
    Binary,
    Elementwise,
    InexactUnary,
    Unary,
    broadcast_shapes,
)
from gradwire_engine.ops.pointwise.comparison import (
    GreaterEqual,
    LessEqual,
    NotEqual,
)
from gradwire_engine.tape import ArrayType

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var

#: More have no meaning for a float64.
_MOST_DECIMALS = 308


@register("where")
class Where(Elementwise):
    """Choice: ``z = x`` where ``condition`` is nonzero, else ``y``, all broadcast together.

    Convention: what was not chosen gets exactly 0, whatever it computes.
    """

    rounds = False
    ufunc = "where"
    scalar = "{1} if {0} else {2}"

    @classmethod
    def record(cls, b: Builder, condition: Any, x: Any = None, y: Any = None) -> Any:
        """Record with the condition made boolean and the values promoted."""
        if x is None or y is None:
            raise BadArgument("where needs x and y", hint="nonzero gives the indices")
        chosen = b.array(condition)
        if chosen.dtype != BOOL:
            chosen = NotEqual()(chosen, chosen.constant(0))
        return cls()(chosen, *b.promote(x, y))

    def infer(self, *types: ArrayType) -> ArrayType:
        """Broadcast all three; the values' dtype."""
        condition, x, y = types
        if condition.dtype != BOOL:
            raise DtypeMismatch(f"where needs a boolean condition, got {condition}")
        chosen = super().infer(x, y)
        shape = broadcast_shapes(condition.shape, chosen.shape)
        return chosen if shape == chosen.shape else chosen._replace(shape=shape)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar`` where chosen, ``y_bar = z_bar`` elsewhere."""
        zero = z_bar.constant(0)
        return None, self(operands[0], z_bar, zero), self(operands[0], zero, z_bar)


def zero_unless(condition: Var, x: Var) -> Var:
    """``x`` where ``condition`` holds, else 0."""
    return Where()(condition, x, x.constant(0))


class Extremum(Binary):
    """The one of two that wins a comparison; NaN wins always.

    Convention: at a tie the derivative belongs to the first operand.
    """

    rounds = False
    wins: ClassVar[type[Op]]

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """All of ``z_bar`` to the winner, the first operand if equal."""
        return Where().vjp(z_bar, z, self.wins()(*operands))[1:]


@register("maximum")
class Maximum(Extremum):
    """Larger of two: ``z = max(x, y)``, NaN if either is.

    Convention: at a tie the derivative is 1 in ``x`` and 0 in ``y``.
    """

    ufunc = "maximum"
    scalar = "{0} if {0} > {1} or {0} != {0} else {1}"
    wins = GreaterEqual


@register("minimum")
class Minimum(Extremum):
    """Smaller of two: ``z = min(x, y)``, NaN if either is.

    Convention: at a tie the derivative is 1 in ``x`` and 0 in ``y``.
    """

    ufunc = "minimum"
    scalar = "{0} if {0} < {1} or {0} != {0} else {1}"
    wins = LessEqual


@macro("clip", "clip_by_value")
def clip(
    b: Builder, a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None
) -> Any:
    """Limit: ``z = min(max(a, a_min), a_max)``; a bound may be left out or be ``None``.

    Convention: derivative 1 on and inside the bounds; what was clipped goes to the bound.
    """
    if (a_min is not None and min is not None) or (a_max is not None and max is not None):
        raise BadArgument("clip got the same bound twice", hint="min is a_min and max is a_max")
    low = min if a_min is None else a_min
    high = max if a_max is None else a_max
    x, *bounds = b.promote(a, *[bound for bound in (low, high) if bound is not None])
    if low is not None:
        x = Maximum()(x, bounds[0])
    if high is not None:
        x = Minimum()(x, bounds[-1])
    return x


@register("sign")
class Sign(Unary):
    """Sign: ``z = x / |x|``, and 0 at 0.  Convention: derivative 0 everywhere for real ``x``."""

    rounds = False
    ufunc = "sign"
    scalar = "1.0 if {0} > 0.0 else -1.0 if {0} < 0.0 else {0} + 0.0"
    kinds = "iufc"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = (z_bar - z Re(z* z_bar)) / |x|`` for complex ``x``, 0 at 0."""
        from gradwire_engine.ops.pointwise.arithmetic import Absolute
        from gradwire_engine.ops.pointwise.complex import real_product

        (x,) = operands
        b = x.builder
        if x.dtype.kind != "c":
            return (b.full(0, z_bar.type),)
        size = b.cast(Absolute()(x), x.dtype)
        nonzero = Where()(size.equals(0), x.constant(1), size)
        tangential = z_bar - z * b.cast(real_product(z, z_bar), x.dtype)
        return (zero_unless(NotEqual()(z, z.constant(0)), tangential / nonzero),)


class Rounding(Unary):
    """A whole number near ``x``; piecewise constant, so no gradient.  Integers stay."""

    kinds = "biuf"
    differentiable = False


@register("floor")
class Floor(Rounding):
    """Largest whole number that is at most ``x``; piecewise constant, so no gradient."""

    rounds = False
    ufunc = "floor"
    scalar = "math.copysign(math.floor({0}), {0})"


@register("ceil")
class Ceil(Rounding):
    """Smallest whole number that is at least ``x``; piecewise constant, so no gradient."""

    rounds = False
    ufunc = "ceil"
    scalar = "math.copysign(math.ceil({0}), {0})"


@register("trunc", "fix")
class Trunc(Rounding):
    """Whole part of ``x``, rounded toward 0; piecewise constant, so no gradient."""

    rounds = False
    ufunc = "trunc"
    scalar = "math.copysign(math.trunc({0}), {0})"


@register("rint")
class Rint(InexactUnary):
    """Nearest whole number, halves to even, as a float; piecewise constant, so no gradient."""

    rounds = False
    ufunc = "rint"
    scalar = "math.copysign(round({0}), {0})"
    flops_per_element = 1
    differentiable = False


@register("round", "around")
class Round(Rounding):
    """Round to ``decimals`` places, halves to even; piecewise constant, so no gradient."""

    decimals: int = 0
    kinds = "iufc"

    @classmethod
    def record(cls, b: Builder, a: Any, decimals: Static = 0) -> Any:
        """Record with a static number of places; negative ones round to tens."""
        places = integer(decimals, "decimals")
        if abs(places) > _MOST_DECIMALS:
            raise BadArgument(f"round takes at most {_MOST_DECIMALS} decimals, got {places}")
        return cls(places)(b.array(a))

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """NumPy's own rounding."""
        return xp.round(operands[0], self.decimals)
