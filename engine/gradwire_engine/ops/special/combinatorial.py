"""Rising factorials and binomial coefficients of real numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gradwire_engine.ops.base import Cotangents, register
from gradwire_engine.ops.elementwise import SpecialBinary
from gradwire_engine.ops.pointwise.arithmetic import Absolute
from gradwire_engine.ops.pointwise.comparison import Less, LessEqual
from gradwire_engine.ops.pointwise.selection import Floor, Round, Where
from gradwire_engine.ops.pointwise.trigonometric import Sin
from gradwire_engine.ops.special.gamma import Digamma, DigammaRise, Gamma, RGamma, rgamma_slope

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var


#: Beyond, reciprocals of gamma functions beside poles overflow.
_LEFTMOST = -150.0


def _is_pole(x: Var) -> Var:
    """True where ``x`` is 0, -1, -2, …"""
    return LessEqual()(x, x.constant(0)) & Floor()(x).equals(x)


def _beside_pole(x: Var) -> Var:
    """True where a pole is nearer to ``x < 1/2`` than 1/4, and gamma functions do not overflow."""
    half = x.constant(0.5)
    near = Less()(Absolute()(x - Round()(x)), half * 0.5)
    inside = x.exceeds(_LEFTMOST) & Less()(x, half)
    return _is_pole(x) | (inside & near)


def _rise(z: Var, x: Var, m: Var, factor: Var | None = None) -> Var:
    """Derivative in ``x`` of ``z = (x)ₘ``, times ``factor`` if there is one.

    At poles of ``Γ(x)`` and beside them it is that of ``Γ(x + m) 1 / Γ(x)``; for whole ``m``, where
    ``Γ(x + m)`` may have one, too, that of the reflected quotient.
    """
    half, end = x.constant(0.5), x + m
    smooth = Gamma()(end) * rgamma_slope(x)
    smooth = (smooth if factor is None else smooth * factor) + z * Digamma()(end)
    reflected = Less()(x, half) & Less()(end, half) & Floor()(m).equals(m)
    rise = DigammaRise()(Where()(reflected, 1 - end, x), m)
    # Of whole m the cotangents' difference is 0, but for its slope in m.
    turn = Where()(_is_pole(x), x * 0, _sine(m) / (_sine(x) * _sine(end)) * math.pi)
    return Where()(reflected, z * (turn - rise), Where()(_beside_pole(x), smooth, z * rise))


def _sine(x: Var) -> Var:
    """``sin πx``, 0 for whole ``x``."""
    nearest = Round()(x)
    odd = Absolute()(nearest - Round()(nearest * 0.5) * 2)
    return Sin()((x - nearest) * math.pi) * (1 - odd * 2)


@register("poch")
class Poch(SpecialBinary):
    """Rising factorial: ``z = (x)ₘ = Γ(x + m) / Γ(x)``, for real ``m``.

    Convention: the derivative in ``m`` is NaN where ``x + m`` is 0, -1, -2, ….  Source: DLMF 5.2.5,
    5.5.3.
    """

    ufunc = "special.poch"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar z (ψ(x + m) - ψ(x))``, ``m_bar = z_bar z ψ(x + m)``."""
        x, m = operands
        return z_bar * _rise(z, x, m), z_bar * z * Digamma()(x + m)


@register("binom")
class Binom(SpecialBinary):
    """Binomial coefficient of real numbers: ``z = Γ(n + 1) / (Γ(k + 1) Γ(n - k + 1))``.

    NaN where ``n`` is -1, -2, ….  Source: DLMF 1.2.6, 5.5.3.
    """

    ufunc = "special.binom"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``n_bar = z_bar z (ψ(n + 1) - ψ(n - k + 1))``, ``k_bar`` with ``ψ(k + 1)``, negative.

        Beside a pole of a gamma function below the line, by the slope of its reciprocal.
        """
        n, k = operands
        top, below, rest = Gamma()(n + 1), k + 1, n - k + 1
        in_k = z * DigammaRise()(below, n - k * 2)
        of_rest = z * Digamma()(below) + top * RGamma()(below) * rgamma_slope(rest)
        of_below = z * Digamma()(rest) + top * RGamma()(rest) * rgamma_slope(below)
        in_k = Where()(_beside_pole(below), of_below, in_k)
        in_k = Where()(_beside_pole(rest), -of_rest, in_k)
        return z_bar * _rise(z, rest, k, RGamma()(below)), z_bar * in_k
