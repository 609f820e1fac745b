"""Integrals and series for derivatives of Bessel functions in the order, of positive arguments.

A derivative in the order is a factor of the integrand. Of large orders or arguments the integrals
are along rays from saddle points, on which the integrand falls at once: nothing cancels.
Source: DLMF 10.9.18, 10.32.9, 10.32.12; of the contours: Temme, "Steepest descent paths for
integrals defining the modified Bessel functions of imaginary order" (1994), and DLMF 2.4(iv).
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from gradwire_engine.ops.special.incomplete import falling_slopes, next_slopes
from gradwire_engine.ops.special.quadratures import bell, pieces, segment
from gradwire_engine.ops.special.tails import FAR, derivatives_in_order

#: Exponent beyond which a tail is nothing.
_NEGLIGIBLE = 45.0
#: Up to here peaks of integrands of ``K_v`` overflow.
_TINY = 1e-290
#: The largest order and argument, summed, of series and of Schläfli's integrals; the least share
#: of a term.
_LONGEST, _LEAST = 200.0, 1e-17
#: Up to here a slope in the order is in proportion to it, but for that of what is odd; of such x.
_EVEN, _GROWN = 3e-5, 700.0
#: Nodes of rays from saddles, and of a part of an interval, of which the last is so long.
_STEEP, _STRAIGHT, _HALF, _STEEP_END = 48, 40, 64, 12.0
#: Terms of a series far out.
_MANY = 40

#: Of the first and of the second kind's scaled function, by the sign of its series.
LEADING = {-1: 1 / math.sqrt(2 * math.pi), 1: math.sqrt(math.pi / 2)}

Rule = Callable[[Any, Any], Any]


def by_place(xp: Any, v: Any, x: Any, otherwise: Rule, *rules: tuple[Any, Rule]) -> Any:
    """By the first of the rules whose condition holds; elements of like size together."""
    shape = x.shape
    v, x = v.reshape(-1), x.reshape(-1)
    found, rest = xp.zeros(x.shape), xp.ones(x.shape, bool)
    for condition, rule in (*rules, (xp.ones(x.shape, bool), otherwise)):
        mine = rest & condition.reshape(-1)
        rest = rest & ~mine
        for piece in pieces(xp, mine, abs(v) + x):
            found[piece] = rule(v[piece], x[piece])
    return found.reshape(shape)


def first_modified(xp: Any, n: int, v: Any, x: Any, *, scaled: bool) -> Any:
    """By that of ``-v``, and for negative ``v`` with ``K_v``.  Source: DLMF 10.27.2."""

    def series(v: Any, x: Any) -> Any:
        return power_series(xp, n, v, x, x if scaled else 0, 1)

    def large(v: Any, x: Any) -> Any:
        return _by_ray(xp, n, v, x, x if scaled else 0)

    def beyond(v: Any, x: Any) -> Any:
        return _grown(xp, _far(xp, n, v, x, -1), x, scaled=scaled)

    def turned(v: Any, x: Any) -> Any:
        """That of ``2 sin(πv) K_v / π``."""
        found: Any = 0
        for m in range(n + 1):
            wave = xp.sin(math.pi * v + (n - m) * math.pi / 2)
            weight = math.comb(n, m) * math.pi ** (n - m) * 2 / math.pi
            more = wave * second_modified(xp, m, v, x, 0)
            found = found + weight * (more * xp.exp(-x if scaled else 0 * x))
        return found

    def mirrored(v: Any, x: Any) -> Any:
        found: Any = (-1) ** n * first_modified(xp, n, -v, x, scaled=scaled) - turned(v, x)
        return found

    def beside_0(v: Any, x: Any) -> Any:
        """Of a function that is even, all but that of what is odd."""
        even: Any = v * first_modified(xp, n + 1, 0 * v, x, scaled=scaled)
        return even - turned(v, x) / 2

    is_far = (x > xp.maximum(v * v, FAR)) | _is_far(xp, v, x)
    beside = (abs(v) < _EVEN) & (x > 1) & (x < _GROWN) & (n % 2 == 1)
    rules = (beside, beside_0), (is_far, beyond), (v < 0, mirrored), (x < _LONGEST, series)
    return by_place(xp, v, x, large, *rules)


def _far(xp: Any, n: int, v: Any, x: Any, sign: int) -> Any:
    """Of a scaled function far out, by its series."""
    return derivatives_in_order(n, v, x, sign, _MANY)[0] / xp.sqrt(x) * LEADING[sign]


def _is_far(xp: Any, v: Any, x: Any) -> Any:
    """Where so many terms have all digits."""
    return x > xp.maximum(v * v / 8, _LONGEST)


def _far_hankel(xp: Any, n: int, v: Any, x: Any) -> Any:
    """Derivative of ``H_v`` far out: ``sqrt(2 / πx) exp(i (x - vπ/2 - π/4)) Σ a_k(v) (i / x)^k``.

    Source: DLMF 10.17.5.
    """
    total: Any = 0
    for m in range(n + 1):
        share = derivatives_in_order(m, v, x, 1j, _MANY)[0]
        total = total + share * math.comb(n, m) * (-0.5j * math.pi) ** (n - m)
    turn = xp.exp(-0.5j * math.pi * (xp.remainder(v, 4) + 0.5))
    return total * turn * xp.exp(1j * x) * xp.sqrt(2 / (math.pi * x))


def _grown(xp: Any, z: Any, x: Any, *, scaled: bool) -> Any:
    """``z exp(x)``, infinite where it overflows."""
    half = xp.exp(0 if scaled else x / 2)
    return xp.where(z == 0, z, z * half * half)


def power_series(xp: Any, n: int, v: Any, x: Any, shift: Any, sign: int) -> Any:
    """``∂ⁿ/∂vⁿ exp(-shift) Σ signᵏ (x/2)²ᵏ⁺ᵛ / (k! Γ(v + k + 1))`` for ``v ≥ 0``.

    Source: DLMF 10.15.1, 10.38.1.
    """
    log, square = xp.log(x / 2), x * x * 0.25
    slopes = falling_slopes(xp, n, v, log)
    term, value, total, k = xp.ones(x.shape), xp.ones(x.shape), bell(n, slopes), 0
    while k % 8 or float(xp.max(term / value, initial=0.0)) > _LEAST:
        k += 1
        term = term * (square / k * next_slopes(slopes, v + k))
        value = value + term
        more = term * bell(n, slopes)
        total = total + (more if sign > 0 or k % 2 == 0 else -more)
    return total * xp.exp(v * log - xp.special.gammaln(v + 1) - shift)


def hankel(xp: Any, n: int, v: Any, x: Any, *, second: bool) -> Any:
    """Derivative of the real part of ``H_v``, or of the imaginary one."""
    u = xp.abs(v)

    def part(rule: Callable[..., Any], **how: bool) -> Rule:
        def chosen(v: Any, x: Any) -> Any:
            found = rule(xp, n, v, x, **how)
            return found.imag if second else found.real

        return chosen

    return by_place(
        xp,
        v,
        x,
        part(by_rays),
        (_is_far(xp, v, x), part(_far_hankel)),
        (u + x < _LONGEST, lambda v, x: _by_schlaefli(xp, n, v, x, second=second)),
    )


def _by_schlaefli(xp: Any, n: int, v: Any, x: Any, *, second: bool) -> Any:
    """The same by Schläfli's integrals, over angles and along a half line.

    Source: DLMF 10.9.6, 10.9.7.
    """
    count = 16 * math.ceil((0.8 * float(xp.max(abs(v) + x)) + 24) / 16)
    total = xp.zeros(x.shape)
    for node, weight in zip(*_legendre(count), strict=True):
        theta = math.pi / 2 * (node + 1)
        phase = x * math.sin(theta) - v * theta - n * math.pi / 2
        wave = xp.sin(phase) if second else xp.cos(phase)
        total = total + wave * (theta**n * weight * math.pi / 2)
    for m, moment in enumerate(_falling(xp, n, -v, x)):
        turn = math.pi * v + (n - m + 1) * math.pi / 2
        wave = -xp.sin(turn) if second else xp.cos(turn)
        total = total + wave * moment * (math.comb(n, m) * math.pi ** (n - m) * (-1) ** m)
    if second:
        total = total - _falling(xp, n, v, x)[n]
    return total / math.pi


def _falling(xp: Any, n: int, u: Any, x: Any) -> list[Any]:
    """``∫ tᵐ exp(u t - x sinh t) dt`` over positive ``t`` for ``m`` up to ``n``."""
    rise = xp.maximum(u, 0)
    end = xp.arcsinh((_NEGLIGIBLE + 40 * rise) / x)
    for _ in range(6):
        end = xp.arcsinh((_NEGLIGIBLE + rise * end) / x)
    end = xp.where(u < 0, xp.minimum(end, _NEGLIGIBLE / xp.maximum(-u, 1e-300)), end)
    peak = xp.arccosh(xp.maximum(rise / x, 1))
    width = _NEGLIGIBLE / rise + xp.sqrt(2 * _NEGLIGIBLE / (rise * xp.tanh(peak)))
    start = xp.where(peak > width, peak - width, 0)
    # Of small x the last factor falls at the end of a long interval.
    cut = xp.where(end - start > 2 * _STEEP_END, end - _STEEP_END, (start + end) / 2)
    moments = [xp.zeros(x.shape) for _ in range(n + 1)]
    for low, high in ((start, cut), (cut, end)):
        half = (high - low) / 2
        for node, weight in zip(*_legendre(_HALF), strict=True):
            t = low + half * (node + 1)
            value = xp.exp(u * t - x * xp.sinh(t)) * (half * weight)
            for m in range(n + 1):
                moments[m] = moments[m] + value
                value = value * t
    return moments


@lru_cache(maxsize=64)
def _legendre(count: int) -> tuple[list[float], list[float]]:
    """Nodes and weights of Gauss's and Legendre's formula on [-1, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return nodes.tolist(), weights.tolist()


def by_rays(xp: Any, n: int, v: Any, x: Any, *, alone: bool = False) -> Any:
    """Derivative of ``H_v = ∫ exp(x sinh t - u t) dt / πi`` from ``-∞`` to ``∞ + πi``, ``u = |v|``.

    On straight rays from saddles, in directions in which all terms of the exponent fall: for
    ``u < x`` to both sides of ``iβ``, ``cos β = u / x``; else along the real line to ``α``,
    ``cosh α = u / x``, and upwards, or ``alone`` that, of which is the real part.
    The order is mirrored by ``t → πi - t``.
    """
    u = xp.abs(v)
    oscillates = u < x
    ratio = u / x
    curvature = xp.maximum(xp.sqrt(xp.abs(u - x) * (u + x)), _TINY)
    reach = xp.minimum(11 / xp.sqrt(curvature), (456 / xp.maximum(u, _TINY)) ** (1 / 3))

    def ray(start: Any, direction: Any, length: Any) -> Any:
        def integrand(s: Any) -> Any:
            t = start + s * direction
            return xp.where(v < 0, t - 1j * math.pi, -t) ** n * xp.exp(x * xp.sinh(t) - u * t)

        return segment(xp, integrand, length, _STEEP) * direction

    alpha = xp.arccosh(xp.maximum(ratio, 1))
    saddle = alpha + 1j * xp.arccos(xp.minimum(ratio, 1))
    total = ray(saddle, xp.exp(xp.where(oscillates, 4j, 7j) * (math.pi / 18)), reach)
    if not alone:
        # To the saddle from where the integrand is nothing; on the real line by that at -α.
        before = xp.where(oscillates, saddle, -alpha)
        total = total - ray(before, xp.where(oscillates, -xp.exp(1j * math.pi / 9), -1), reach)
        between = xp.minimum(reach + 13 / (u + _TINY), 2 * alpha)
        total = total + ray(-alpha, 1, between)
    mirrored = xp.exp(1j * math.pi * xp.where(v < 0, xp.remainder(u, 2), 0))
    return total * mirrored / (1j * math.pi)


def _by_ray(xp: Any, n: int, v: Any, x: Any, shift: Any) -> Any:
    """Derivative of ``Im ∫ exp(x cosh t - v t - shift) dt / π`` for positive ``v``.

    On a straight ray upwards from the saddle, on which all terms of the exponent fall.
    """
    saddle, direction = xp.arcsinh(v / x), cmath.exp(5j * math.pi / 12)

    def integrand(s: Any) -> Any:
        t = saddle + s * direction
        return (-t) ** n * xp.exp(x * xp.cosh(t) - v * t - shift)

    reach = 10 / xp.sqrt(xp.hypot(v, x))
    return (segment(xp, integrand, reach, _STRAIGHT) * direction).imag / math.pi


def second_modified(xp: Any, n: int, v: Any, x: Any, shift: Any) -> Any:
    """Derivative of ``K_v = ∫ exp(v t - x cosh t + shift) dt / 2`` over the real line.

    Trapezoidal about the peak, in steps of its width; far out by a series; NaN for ``x < 1e-290``.
    """
    far = x > xp.maximum(v * v, FAR) if n else x < 0
    near = _by_trapezoids(xp, n, v, xp.where(far, 1, x), xp.where(far, 0, shift))
    safe = xp.where(far, x, FAR)
    return xp.where(far, _far(xp, n, v, safe, 1) * xp.exp(shift - x), near) if n else near


def _by_trapezoids(xp: Any, n: int, v: Any, x: Any, shift: Any) -> Any:
    x = xp.where(x > _TINY, x, math.nan)
    u = xp.abs(v)
    peak, size = xp.arcsinh(u / x), xp.hypot(u, x)
    right = xp.arccosh(1 + _NEGLIGIBLE / size)
    fall = xp.maximum(u, 1e-300)
    slow = xp.maximum(2 * _NEGLIGIBLE / fall, xp.sqrt(4 * _NEGLIGIBLE / fall))
    growth = math.log(_NEGLIGIBLE) + xp.log(size + u) - 2 * xp.log(x)
    left = xp.where(growth < 20, xp.arccosh(1 + xp.exp(growth)), growth + math.log(2))
    left = xp.minimum(left, slow)
    step = 0.2 / (1 + 0.3 * xp.sqrt(size))
    total = xp.zeros(x.shape)
    # Of small orders both sides of 0 are added before they cancel.
    folded = u < 1
    start = xp.where(folded, 0, peak - left)
    end = peak + right
    lengths = xp.where(xp.isnan(x), 0, (end - start) / step)
    for k in range(math.ceil(float(xp.max(lengths, initial=0.0))) + 1):
        t = start + k * step
        both = (xp.sinh if n % 2 else xp.cosh)(xp.where(folded, u * t, 0)) * (2.0 if k else 1.0)
        value = t**n * xp.exp(xp.where(folded, 0, u * t) - x * xp.cosh(t) + shift)
        value = value * xp.where(folded, both, 1)
        total = total + xp.where(t > end, 0, value)
    return total * step * 0.5 * (xp.sign(v) if n % 2 else 1)
