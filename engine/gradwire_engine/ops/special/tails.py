"""Slopes far out, where those by recurrences cancel: by asymptotic series, right to every order.

A function that goes as ``x^p Σ c_k u^k``, ``u = x^-q``, has the slope ``z / x`` times the quotient
of ``Σ (p - q k) c_k u^k`` and ``Σ c_k u^k``.  Source: DLMF 7.12, 9.7, 10.40.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from gradwire_engine.ops.base import Cotangents
from gradwire_engine.ops.pointwise.arithmetic import Absolute, Sqrt
from gradwire_engine.ops.pointwise.complex import Imag, Real
from gradwire_engine.ops.pointwise.exponential import Exp
from gradwire_engine.ops.pointwise.selection import Maximum, Where
from gradwire_engine.ops.rules import RULES, by_formula

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var


def settled(x: Var, slope: Var, end: float | Var = 0) -> Var:
    """``slope``, and ``end``, its limit, at infinite ``x``."""
    end = end if not isinstance(end, int | float) else slope.constant(end)
    return Where()(Absolute()(x).equals(math.inf), end, slope)


def bell(x: Var, rate: float) -> Var:
    """``exp(rate x²)``, whose derivatives are 0 at infinity."""
    factor = x.constant(rate)
    if x.dtype.kind == "c":
        return _bell(x, factor)
    return by_formula("bell", _bell, x, factor)


def _bell(x: Var, rate: Var) -> Var:
    return Exp()(x * x * rate)


def _of_bell(z_bar: Var, z: Var, x: Var, rate: Var) -> Cotangents:
    return z_bar * settled(x, x * z * (rate * 2)), None


RULES["bell"] = _of_bell
#: So many terms of a series are taken; those of Bessel functions from here on and from ``v²``.
TERMS, FAR = 14, 40


def beyond(
    far: Var, x: Var, z: Var, near: Var, ratio: Callable[[Var], Var], end: float | Var = 0
) -> Var:
    """``near``, and where it is ``far`` the slope ``z ratio(x) / x``; ``end`` at infinity."""
    middle = x.constant(100)
    safe = Where()(far, x, middle)
    if x.dtype.kind == "c":
        return Where()(far, z * ratio(safe) / safe, near)
    safe = Where()(Absolute()(x).equals(math.inf), middle, safe)
    return Where()(far, settled(x, z * ratio(safe) / safe, end), near)


def quotient(p: float, q: float, factors: Sequence[Any]) -> Any:
    """``Σ (p - q k) t_1 … t_k / Σ t_1 … t_k`` for the factors ``t_k`` of a series' terms."""
    total: Any = 1.0
    weighted: Any = p - q * len(factors)
    for k in range(len(factors), 0, -1):
        total = factors[k - 1] * total + 1.0
        weighted = factors[k - 1] * weighted + (p - q * (k - 1))
    return weighted / total


def reach(x: Var, double: float) -> float:
    """Where a series has the digits of the dtype, which it has in double precision at ``double``.

    Halfway there in single precision.
    """
    return double if x.dtype.itemsize // (2 if x.dtype.kind == "c" else 1) == 8 else double / 2


def gaussian(
    x: Var, z: Var, near: Var, sign: int, quarter: str, end: float | Var = 0, power: int = -1
) -> Var:
    """The slope of ``z``, going as ``x^power Σ (2k - 1)!! (sign / 2 x²)^k``, in a sector.

    Its middle is the ``quarter``: to the right, upwards, or both left and right.
    """
    size = Absolute()(x)
    far = size.exceeds(reach(x, 10))
    if x.dtype.kind == "c":
        across, up = Real()(x), Imag()(x)
        if quarter == "both":
            inside = Absolute()(across).exceeds(Absolute()(up) * 2)
        else:
            main, other = (across, up) if quarter == "right" else (up, across)
            inside = (main * 2).exceeds(-Absolute()(other))
        far = far & inside
    elif quarter == "right":
        far = far & x.exceeds(0)

    def ratio(x: Var) -> Var:
        u = sign * 0.5 / (x * x)
        found: Var = quotient(power, 2, [u * (2 * k - 1) for k in range(1, TERMS)])
        return found

    return beyond(far, x, z, near, ratio, end)


def is_far(v: Var, x: Var) -> Var:
    """Where a few terms of the series of scaled Bessel functions have all digits."""
    least = Maximum()(v * v, v.constant(reach(x, FAR)))
    return Absolute()(x).exceeds(least)


def modified_bessel(v: Var, x: Var, z: Var, near: Var, sign: int) -> Var:
    """The slope of a scaled Bessel function, going as ``|x|^(-1/2) Σ a_k(v) (sign / |x|)^k``."""
    square = v * v * 4
    far = is_far(v, x)

    def ratio(x: Var) -> Var:
        u = sign * 0.125 / Absolute()(x)
        factors = [(square - (2 * k - 1) ** 2) * u * (1 / k) for k in range(1, TERMS)]
        found: Var = quotient(-0.5, 1, factors)
        return found

    return beyond(far, x, z, near, ratio)


def derivatives_in_order(
    n: int, v: Any, x: Any, sign: complex, terms: int = TERMS
) -> tuple[Any, Any]:
    """``Σ d_k`` and ``-Σ (k + 1/2) d_k``, of derivatives ``d_k`` of ``a_k(v) (sign / x)^k`` in v.

    Each ``a_k`` is the one before times ``(4v² - (2k - 1)²) / 8k``.
    """
    square, u = v * v * 4, sign / x
    found: list[Any] = [1.0] + [None] * n
    total, weighted = (0.0, 0.0) if n else (1.0, -0.5)
    for k in range(1, terms):
        share = u * (1 / k)
        factors = (square - (2 * k - 1) ** 2) * share * 0.125, v * share, share
        for m in range(n, -1, -1):
            parts = [
                found[m - i] * factors[i] * float(math.comb(m, i))
                for i in range(min(m, 2) + 1)
                if found[m - i] is not None
            ]
            found[m] = sum(parts[1:], parts[0]) if parts else None
        if found[n] is not None:
            total, weighted = total + found[n], weighted - found[n] * (k + 0.5)
    return total, weighted


def airy(x: Var, z: Var, near: Var, which: int) -> Var:
    """The slope of one of ``Ai``, ``Ai'``, ``Bi``, ``Bi'``, scaled."""
    far = x.exceeds(reach(x, 16))

    def ratio(x: Var) -> Var:
        u = (1 if which > 1 else -1) * 1.5 / (x * Sqrt()(x))
        factors = [u * t for t in airy_factors(which)]
        found: Var = quotient(0.25 if which % 2 else -0.25, 1.5, factors)
        return found

    return beyond(far, x, z, near, ratio)


def airy_factors(which: int) -> list[float]:
    """Quotients of successive coefficients ``u_k``, of derivatives ``v_k``.  Source: DLMF 9.7.2."""
    found = []
    for k in range(1, TERMS):
        factor = (6 * k - 5) * (6 * k - 3) * (6 * k - 1) / (216 * k * (2 * k - 1))
        if which % 2:
            factor *= (6 * k + 1) * (6 * k - 7) / ((6 * k - 1) * (6 * k - 5))
        found.append(factor)
    return found
