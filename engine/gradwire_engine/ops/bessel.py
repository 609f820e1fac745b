"""Bessel functions of real order, differentiable in the argument; the order is held constant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradwire_engine.ops.base import Cotangents, register
from gradwire_engine.ops.elementwise import SpecialBinary, SpecialUnary
from gradwire_engine.ops.selection import Sign

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var


def _at(v: float, x: Var) -> tuple[Var, Var]:
    """A constant order beside ``x``."""
    return x.builder.scalar(v, x.dtype), x


def _neighbours(op: SpecialBinary, v: Var, x: Var) -> tuple[Var, Var]:
    """The function at the orders ``v - 1`` and ``v + 1``."""
    return op(v - 1, x), op(v + 1, x)


@register("jv", "jn")
class Jv(SpecialBinary):
    """Bessel function of the first kind: ``z = J_v(x)``, no derivative in ``v``.

    NaN where ``x < 0`` and ``v`` is no integer.  Source: DLMF 10.2.2, 10.6.1.
    """

    ufunc = "special.jv"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar (J_(v-1) - J_(v+1)) / 2``."""
        below, above = _neighbours(self, *operands)
        return None, z_bar * ((below - above) * 0.5)


@register("yv", "yn")
class Yv(SpecialBinary):
    """Bessel function of the second kind: ``z = Y_v(x)``, no derivative in ``v``.

    -inf at 0, its slope NaN there; NaN where ``x < 0``.  Source: DLMF 10.2.3, 10.6.1.
    """

    ufunc = "special.yv"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar (Y_(v-1) - Y_(v+1)) / 2``."""
        below, above = _neighbours(self, *operands)
        return None, z_bar * ((below - above) * 0.5)


@register("iv")
class Iv(SpecialBinary):
    """Modified Bessel function of the first kind: ``z = I_v(x)``, no derivative in ``v``.

    NaN where ``x < 0`` and ``v`` is no integer.  Source: DLMF 10.25.2, 10.29.1.
    """

    ufunc = "special.iv"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar (I_(v-1) + I_(v+1)) / 2``."""
        below, above = _neighbours(self, *operands)
        return None, z_bar * ((below + above) * 0.5)


@register("ive")
class Ive(SpecialBinary):
    """Scaled modified Bessel function: ``z = exp(-|x|) I_v(x)``, no derivative in ``v``.

    Convention: the kink at 0 counts as flat.  Source: DLMF 10.25.2, 10.29.1.
    """

    ufunc = "special.ive"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar ((z_(v-1) + z_(v+1)) / 2 - sign(x) z)``."""
        below, above = _neighbours(self, *operands)
        return None, z_bar * ((below + above) * 0.5 - Sign()(operands[1]) * z)


@register("kv", "kn")
class Kv(SpecialBinary):
    """Modified Bessel function of the second kind: ``z = K_v(x)``, no derivative in ``v``.

    Infinite at 0, NaN where ``x < 0``.  Source: DLMF 10.25.3, 10.29.1.
    """

    ufunc = "special.kv"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = -z_bar (K_(v-1) + K_(v+1)) / 2``."""
        below, above = _neighbours(self, *operands)
        return None, z_bar * ((below + above) * -0.5)


@register("kve")
class Kve(SpecialBinary):
    """Scaled modified Bessel function: ``z = exp(x) K_v(x)``, no derivative in ``v``.

    Infinite at 0, NaN where ``x < 0``.  Source: DLMF 10.25.3, 10.29.1.
    """

    ufunc = "special.kve"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar (z - (z_(v-1) + z_(v+1)) / 2)``."""
        below, above = _neighbours(self, *operands)
        return None, z_bar * (z - (below + above) * 0.5)


@register("j0")
class J0(SpecialUnary):
    """Bessel function of the first kind and order 0: ``z = J₀(x)``.  Source: DLMF 10.6.3."""

    ufunc = "special.j0"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = -z_bar J₁``."""
        return (-(z_bar * J1()(operands[0])),)


@register("j1")
class J1(SpecialUnary):
    """Bessel function of the first kind and order 1: ``z = J₁(x)``.  Source: DLMF 10.6.1."""

    ufunc = "special.j1"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar (J₀ - J₂) / 2``, finite also at 0."""
        (x,) = operands
        return (z_bar * ((J0()(x) - Jv()(*_at(2, x))) * 0.5),)


@register("y0")
class Y0(SpecialUnary):
    """Bessel function of the second kind and order 0: ``z = Y₀(x)``; -inf at 0.

    Source: DLMF 10.6.3.
    """

    ufunc = "special.y0"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = -z_bar Y₁``."""
        return (-(z_bar * Y1()(operands[0])),)


@register("y1")
class Y1(SpecialUnary):
    """Bessel function of the second kind and order 1: ``z = Y₁(x)``.

    -inf at 0, its slope NaN there.  Source: DLMF 10.6.2.
    """

    ufunc = "special.y1"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar (Y₀ - z / x)``."""
        (x,) = operands
        return (z_bar * (Y0()(x) - z / x),)


@register("i0")
class I0(SpecialUnary):
    """Modified Bessel function of the first kind and order 0: ``z = I₀(x)``.

    Source: DLMF 10.29.3.
    """

    ufunc = "special.i0"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar I₁``."""
        return (z_bar * I1()(operands[0]),)


@register("i1")
class I1(SpecialUnary):
    """Modified Bessel function of the first kind and order 1: ``z = I₁(x)``.

    Source: DLMF 10.29.1.
    """

    ufunc = "special.i1"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar (I₀ + I₂) / 2``, finite also at 0."""
        (x,) = operands
        return (z_bar * ((I0()(x) + Iv()(*_at(2, x))) * 0.5),)


@register("i0e")
class I0e(SpecialUnary):
    """Scaled modified Bessel function of order 0: ``z = exp(-|x|) I₀(x)``.

    Convention: the kink at 0 counts as flat.  Source: DLMF 10.29.3.
    """

    ufunc = "special.i0e"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar (exp(-|x|) I₁ - sign(x) z)``."""
        (x,) = operands
        return (z_bar * (I1e()(x) - Sign()(x) * z),)


@register("i1e")
class I1e(SpecialUnary):
    """Scaled modified Bessel function of order 1: ``z = exp(-|x|) I₁(x)``.

    Source: DLMF 10.29.1.
    """

    ufunc = "special.i1e"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar (exp(-|x|) (I₀ + I₂) / 2 - sign(x) z)``, finite also at 0."""
        (x,) = operands
        slope = (I0e()(x) + Ive()(*_at(2, x))) * 0.5
        return (z_bar * (slope - Sign()(x) * z),)


@register("k0")
class K0(SpecialUnary):
    """Modified Bessel function of the second kind and order 0: ``z = K₀(x)``; infinite at 0.

    Source: DLMF 10.29.3.
    """

    ufunc = "special.k0"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = -z_bar K₁``."""
        return (-(z_bar * K1()(operands[0])),)


@register("k1")
class K1(SpecialUnary):
    """Modified Bessel function of the second kind and order 1: ``z = K₁(x)``; infinite at 0.

    Source: DLMF 10.29.2.
    """

    ufunc = "special.k1"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = -z_bar (K₀ + z / x)``."""
        (x,) = operands
        return (-(z_bar * (K0()(x) + z / x)),)
