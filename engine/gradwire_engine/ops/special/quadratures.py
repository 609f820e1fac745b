"""Sums and quadratures of derivatives: of densities by their logarithms', over lines and segments.

Source of the rule: Takahasi and Mori, "Double exponential formulas for numerical integration"
(1974).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

#: Step of the quadrature, its first and farthest node, the exponent beyond which a tail is nothing.
_STEP, _FIRST, _FARTHEST, NEGLIGIBLE = 1 / 10, -4.5, 800.0, 40.0
#: Values of the integrand that are held at a time, if more than one node's.
_BLOCK = 1 << 14
#: Elements that are summed at a time, and from how many on they are sorted.
_PIECE, _SORTED = 1 << 13, 1 << 12

Slopes = dict[tuple[int, int], Any]


def pieces(xp: Any, chosen: Any, size: Any) -> Iterator[Any]:
    """Places of the ``chosen`` elements, some at a time, those of like size together."""
    (places,) = xp.nonzero(chosen)
    if len(places) > _SORTED:
        rank = xp.log1p(xp.abs(size[places])) * 32  # of few bits, which are sorted at once
        places = places[xp.argsort(rank.astype("int16"), kind="stable")]
    for start in range(0, len(places), _PIECE):
        yield places[start : start + _PIECE]


def bell(n: int, slopes: list[Any]) -> Any:
    """``f⁽ⁿ⁾ / f`` from the derivatives of ``ln f``, the first at 0: Bell's polynomial."""
    return mixed_powers(n, 0, {(k, 0): slope for k, slope in enumerate(slopes, 1)})


def mixed_powers(m: int, n: int, slopes: Slopes) -> Any:
    """``∂ᵐ⁺ⁿf / f`` from the derivatives of ``ln f``, by Leibniz's rule on ``f' = f (ln f)'``."""
    if m + n == 0:
        return 1.0
    first = (1, 0) if m else (0, 1)
    m, n = m - first[0], n - first[1]
    total = None
    for i in range(m + 1):
        for j in range(n + 1):
            term = slopes[i + first[0], j + first[1]]
            if (i, j) != (m, n):
                term = term * mixed_powers(m - i, n - j, slopes)
            weight = math.comb(m, i) * math.comb(n, j)
            term = term * float(weight) if weight > 1 else term
            total = term if total is None else total + term
    return total


def half_line(
    xp: Any, integrand: Callable[[Any], Any], scale: Any, reach: Any, step: float = _STEP
) -> Any:
    """``∫ f(w) dw`` over positive ``w``, where ``f`` falls like ``exp(-w / reach)`` at last.

    Trapezoidal in ``s``, ``w = scale exp(s - exp(-s))``: nodes are even over the orders of
    magnitude from ``scale``, the least at which ``f`` varies, to ``reach``; powers of ``w`` at 0
    do no harm. In blocks of nodes, so that memory stays that of the operands.
    """
    step = min(step, _STEP)
    longest = float(xp.max(xp.log(NEGLIGIBLE * reach / scale), initial=1.0))
    count = math.ceil((min(longest, _FARTHEST) + 1 - _FIRST) / step)
    total = xp.zeros(xp.shape(scale))
    block = max(1, _BLOCK // max(1, total.size))
    for start in range(0, count, block):
        s = _FIRST + step * xp.arange(start, min(start + block, count))
        s = s.reshape(-1, *[1] * total.ndim)
        w = scale * xp.exp(s - xp.exp(-s))
        values = integrand(w) * w * (1 + xp.exp(-s))
        total = total + xp.sum(xp.where(xp.isnan(values), 0, values), axis=0)
    return total * step


def segment(xp: Any, integrand: Callable[[Any], Any], length: Any, count: int) -> Any:
    """``∫ f(w) dw`` from 0 to ``length`` by Gauss's and Legendre's formula of ``count`` nodes."""
    nodes, weights = (xp.asarray(v) for v in np.polynomial.legendre.leggauss(count))
    total = xp.zeros(xp.shape(length))
    block = max(1, _BLOCK // max(1, total.size))
    for start in range(0, count, block):
        some = slice(start, start + block)
        part, weight = (v[some].reshape(-1, *[1] * total.ndim) for v in (nodes, weights))
        total = total + xp.sum(integrand(length * (part + 1) * 0.5) * weight, axis=0)
    return total * length * 0.5
