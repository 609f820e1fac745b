"""Bessel functions of real order, differentiable in the argument and in the order."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from gradwire_engine.ops.base import Cotangents, register
from gradwire_engine.ops.constants import StopGradient
from gradwire_engine.ops.elementwise import SpecialBinary, SpecialUnary, conj
from gradwire_engine.ops.pointwise.selection import Sign
from gradwire_engine.ops.special.bessel_orders import (
    InOrder,
    IveInOrder,
    IvInOrder,
    JvInOrder,
    KveInOrder,
    KvInOrder,
    YvInOrder,
    slope,
)
from gradwire_engine.ops.special.tails import modified_bessel
from gradwire_engine.tape import ArrayType, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var


class OfOrder(SpecialBinary):
    """A Bessel function of real order ``v``, differentiable in it where ``x`` is positive.

    For complex ``x`` the order is real still, and held constant.
    """

    kinds = "fc"
    in_order: ClassVar[type[InOrder]]
    #: SciPy's name, if not the operation's.
    routine: ClassVar[str] = ""

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """SciPy's routine, which takes real orders only."""
        v, x = operands
        if x.dtype.kind == "c":
            v = xp.where(v.imag == 0, v.real, math.nan)
        return getattr(xp.special, self.routine or self.name)(v, x)

    def holds(self, result: Type) -> bool:
        """The order beside complex ``x``."""
        return isinstance(result, ArrayType) and result.dtype.kind == "c"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar`` by the neighbouring orders, ``v_bar`` by a contour integral."""
        v, x = operands
        if x.dtype.kind == "c":
            return None, z_bar * conj(slope(self, self.in_order, z, StopGradient()(v), x))
        return z_bar * self.in_order(1)(v, x), z_bar * slope(self, self.in_order, z, v, x)


@register("jv", "jn")
class Jv(OfOrder):
    """Bessel function of the first kind: ``z = J_v(x)``.

    NaN where ``x < 0`` and ``v`` is no integer.  Source: DLMF 10.2.2, 10.6.1, 10.9.18.
    """

    in_order = JvInOrder


@register("yv", "yn")
class Yv(OfOrder):
    """Bessel function of the second kind: ``z = Y_v(x)``.

    -inf at 0, its slope NaN there; NaN where ``x < 0``.  Source: DLMF 10.2.3, 10.6.1, 10.9.18.
    """

    in_order = YvInOrder


@register("iv")
class Iv(OfOrder):
    """Modified Bessel function of the first kind: ``z = I_v(x)``.

    NaN where ``x < 0`` and ``v`` is no integer.  Source: DLMF 10.25.2, 10.29.1, 10.32.12.
    """

    in_order = IvInOrder


@register("ive")
class Ive(OfOrder):
    """Scaled modified Bessel function: ``z = exp(-|x|) I_v(x)``.

    Convention: the kink at 0 counts as flat.  Source: DLMF 10.25.2, 10.29.1, 10.32.12.
    """

    kinds = "f"
    in_order = IveInOrder


@register("kv", "kn")
class Kv(OfOrder):
    """Modified Bessel function of the second kind: ``z = K_v(x)``.

    Infinite at 0, NaN where ``x < 0``.  Source: DLMF 10.25.3, 10.29.1, 10.32.9.
    """

    in_order = KvInOrder


@register("kve")
class Kve(OfOrder):
    """Scaled modified Bessel function: ``z = exp(x) K_v(x)``.

    Infinite at 0, NaN where ``x < 0``.  Source: DLMF 10.25.3, 10.29.1, 10.32.9.
    """

    in_order = KveInOrder


@register("hankel1_complex", public=False)
class Hankel1(OfOrder):
    """``z = J_v(x) + i Y_v(x)`` of complex ``x``, exact also where the two cancel."""

    kinds = "c"
    routine = "hankel1"
    in_order = JvInOrder


@register("hankel2_complex", public=False)
class Hankel2(OfOrder):
    """``z = J_v(x) - i Y_v(x)`` of complex ``x``, exact also where the two cancel."""

    kinds = "c"
    routine = "hankel2"
    in_order = JvInOrder


@register("j0")
class J0(SpecialUnary):
    """Bessel function of the first kind and order 0: ``z = J₀(x)``.  Source: DLMF 10.6.3."""

    ufunc = "special.j0"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = -J₁``."""
        return -J1()(x)


@register("j1")
class J1(SpecialUnary):
    """Bessel function of the first kind and order 1: ``z = J₁(x)``.  Source: DLMF 10.6.1."""

    ufunc = "special.j1"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = (J₀ - J₂) / 2``, finite also at 0."""
        return (J0()(x) - Jv()(x.constant(2), x)) * 0.5


@register("y0")
class Y0(SpecialUnary):
    """Bessel function of the second kind and order 0: ``z = Y₀(x)``; -inf at 0.

    Source: DLMF 10.6.3.
    """

    ufunc = "special.y0"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = -Y₁``."""
        return -Y1()(x)


@register("y1")
class Y1(SpecialUnary):
    """Bessel function of the second kind and order 1: ``z = Y₁(x)``.

    -inf at 0, its slope NaN there.  Source: DLMF 10.6.2.
    """

    ufunc = "special.y1"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = (Y₀ - z / x)``."""
        return Y0()(x) - z / x


@register("i0")
class I0(SpecialUnary):
    """Modified Bessel function of the first kind and order 0: ``z = I₀(x)``.

    Source: DLMF 10.29.3.
    """

    ufunc = "special.i0"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = I₁``."""
        return I1()(x)


@register("i1")
class I1(SpecialUnary):
    """Modified Bessel function of the first kind and order 1: ``z = I₁(x)``.

    Source: DLMF 10.29.1.
    """

    ufunc = "special.i1"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = (I₀ + I₂) / 2``, finite also at 0."""
        return (I0()(x) + Iv()(x.constant(2), x)) * 0.5


@register("i0e")
class I0e(SpecialUnary):
    """Scaled modified Bessel function of order 0: ``z = exp(-|x|) I₀(x)``.

    Convention: the kink at 0 counts as flat.  Source: DLMF 10.29.3.
    """

    ufunc = "special.i0e"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = (exp(-|x|) I₁ - sign(x) z)``."""
        near = I1e()(x) - Sign()(x) * z
        return modified_bessel(x.constant(0), x, z, near, -1)


@register("i1e")
class I1e(SpecialUnary):
    """Scaled modified Bessel function of order 1: ``z = exp(-|x|) I₁(x)``.

    Source: DLMF 10.29.1.
    """

    ufunc = "special.i1e"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = (exp(-|x|) (I₀ + I₂) / 2 - sign(x) z)``, finite also at 0."""
        near = (I0e()(x) + Ive()(x.constant(2), x)) * 0.5 - Sign()(x) * z
        return modified_bessel(x.constant(1), x, z, near, -1)


@register("k0")
class K0(SpecialUnary):
    """Modified Bessel function of the second kind and order 0: ``z = K₀(x)``; infinite at 0.

    Source: DLMF 10.29.3.
    """

    ufunc = "special.k0"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = -K₁``."""
        return -K1()(x)


@register("k1")
class K1(SpecialUnary):
    """Modified Bessel function of the second kind and order 1: ``z = K₁(x)``; infinite at 0.

    Source: DLMF 10.29.2.
    """

    ufunc = "special.k1"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = -(K₀ + z / x)``."""
        return -(K0()(x) + z / x)
