"""Derivatives of Bessel functions in the order, to all orders, for positive ``x``.

Source: DLMF 10.9.18, 10.32.9, 10.32.12, 10.15, 10.38.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from gradwire_engine.ops.base import PRIMITIVES, Cotangents, register
from gradwire_engine.ops.elementwise import SpecialBinary
from gradwire_engine.ops.pointwise.arithmetic import Absolute, Sqrt
from gradwire_engine.ops.pointwise.selection import Sign, Where
from gradwire_engine.ops.special.bessel_contours import (
    LEADING,
    by_place,
    by_rays,
    first_modified,
    hankel,
    power_series,
    second_modified,
)
from gradwire_engine.ops.special.tails import FAR, derivatives_in_order, is_far, modified_bessel

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var

#: Below, slopes by the order less 1 have fewer than 14 digits.
_SMALL = 1e-2


class InOrder(SpecialBinary, ABC):
    """Derivative number ``n > 0`` of a Bessel function in its order ``v``, for ``x > 0``.

    At 0 it is 0 where the function is 0 for all orders nearby, else NaN; NaN for ``x < 0``.
    """

    n: int
    #: ``∂f_v/∂x = outer (f_(v-1) + sign f_(v+1)) + scale f_v``, with ``scale sign(x)`` if it is -1.
    outer: ClassVar[float] = 0.5
    sign: ClassVar[int] = -1
    scale: ClassVar[int] = 0
    vanishes: ClassVar[bool] = True
    flops_per_element = 100_000

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """By contours, in double precision."""
        v, x = xp.broadcast_arrays(*[a.astype("float64") for a in operands])
        valid = (x > 0) & (x < math.inf) & xp.isfinite(v)
        found = self.at(xp, xp.where(valid, v, 1), xp.where(valid, x, 1))
        outside = xp.where((x == 0) & (v > 0) & self.vanishes, 0, math.nan)
        return xp.where(valid, found, outside).astype(operands[0].dtype)

    @abstractmethod
    def at(self, xp: Any, v: Any, x: Any) -> Any:
        """The derivative at finite ``v`` and positive ``x``."""

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``v_bar`` by the next derivative, ``x_bar`` by the neighbouring orders'."""
        rule, (v, x) = type(self), operands
        base = PRIMITIVES[rule.name.removesuffix("_in_order")]
        fewer = (rule(self.n - 1) if self.n > 1 else base())(v, x)
        in_x = slope(self, rule, z, v, x, fewer * self.n)
        return z_bar * rule(self.n + 1)(v, x), z_bar * in_x


def slope(
    op: SpecialBinary, rule: type[InOrder], z: Var, v: Var, x: Var, fewer: Var | None = None
) -> Var:
    """Derivative in ``x`` of ``z = op(v, x)``, a Bessel function that ``rule`` is about.

    ``fewer`` is, of a derivative of order ``n`` in ``v``, ``n`` times that of ``n - 1``.
    """
    below, above = op(v - 1, x), op(v + 1, x)
    result = (below + above if rule.sign > 0 else below - above) * rule.outer
    order = v.builder.number(v)
    if x.dtype.kind == "f" and (order is None or 0 < abs(order) < _SMALL):
        # Of small orders v - 1 has lost digits.
        near = v / x * z + above * (2 * rule.outer * rule.sign)
        near = near if fewer is None else near + fewer / x
        large = Absolute()(v).exceeds(_SMALL)
        at_zero = v.equals(0) | x.equals(0)
        result = Where()((large | at_zero), result, near)
    if not rule.scale:
        return result
    result = result + (z if rule.scale > 0 else -(Sign()(x) * z))
    if x.dtype.kind == "c":
        return result
    if fewer is None:
        return modified_bessel(v, x, z, result, rule.scale)
    assert isinstance(op, InOrder)
    far = is_far(v, x)
    safe = Where()(far, x, x.constant(FAR))
    _, falls = derivatives_in_order(op.n, v, safe, rule.scale)
    return Where()(far, falls / (safe * Sqrt()(safe)) * LEADING[rule.scale], result)


@register("jv_in_order", public=False)
class JvInOrder(InOrder):
    """Derivative number ``n > 0`` of ``J_v(x)`` in ``v``."""

    n: int

    def at(self, xp: Any, v: Any, x: Any) -> Any:
        """The real part of Hankel's function; of large orders by a series."""
        series = (v >= 0) & (v > x) & (x * x < 14 * (v + 1))
        return by_place(
            xp,
            v,
            x,
            lambda v, x: hankel(xp, self.n, v, x, second=False),
            (series, lambda v, x: power_series(xp, self.n, v, x, 0, -1)),
            (v > x, lambda v, x: by_rays(xp, self.n, v, x, alone=True).real),
        )


@register("yv_in_order", public=False)
class YvInOrder(InOrder):
    """Derivative number ``n > 0`` of ``Y_v(x)`` in ``v``."""

    n: int
    vanishes = False

    def at(self, xp: Any, v: Any, x: Any) -> Any:
        """The imaginary part of Hankel's function; where that overflows, its derivatives do."""
        found = hankel(xp, self.n, v, x, second=True)
        return xp.where(xp.isfinite(found), found, xp.where(v > 0, -math.inf, math.nan))


@register("iv_in_order", public=False)
class IvInOrder(InOrder):
    """Derivative number ``n > 0`` of ``I_v(x)`` in ``v``, exact to the rounding of ``I_v``."""

    n: int
    sign = 1

    def at(self, xp: Any, v: Any, x: Any) -> Any:
        """From the saddle point upwards, or by a series."""
        return first_modified(xp, self.n, v, x, scaled=self.scale != 0)


@register("ive_in_order", public=False)
class IveInOrder(IvInOrder):
    """Derivative number ``n > 0`` of ``exp(-x) I_v(x)`` in ``v``."""

    n: int
    scale = -1


@register("kv_in_order", public=False)
class KvInOrder(InOrder):
    """Derivative number ``n > 0`` of ``K_v(x)`` in ``v``, exact to the rounding of ``K_v``."""

    n: int
    sign, outer, vanishes = 1, -0.5, False

    def at(self, xp: Any, v: Any, x: Any) -> Any:
        """Along the real line."""
        return second_modified(xp, self.n, v, x, x * self.scale)


@register("kve_in_order", public=False)
class KveInOrder(KvInOrder):
    """Derivative number ``n > 0`` of ``exp(x) K_v(x)`` in ``v``."""

    n: int
    scale = 1
