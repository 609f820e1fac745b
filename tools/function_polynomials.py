"""Derives the polynomials of ``backends/llvm/functions/`` and writes their modules.

Each is the Chebyshev interpolant of a function, computed with 60 digits and written in powers, the
highest first. Run ``python tools/function_polynomials.py > .../functions/coefficients.py`` and
``python tools/function_polynomials.py floats > .../functions/singles/coefficients.py``, and format
both.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import mpmath
from mpmath import mp, mpf

mp.dps = 60
#: ``(x - k) / (x + k)`` makes a half line an interval: Shepherd and Laframboise (1981).
_ERFC_K = mpf("3.75")
#: That of floats, for ``x`` from 3/4 to 10.5.
_ERFC_SINGLE_K = mpf("2.8")


def _series(whole: Callable[[Any], Any], limit: Any) -> Callable[[Any], Any]:
    """A function with the value ``limit`` at 0, where its formula has none."""
    return lambda z: mpf(limit) if abs(z) < mpf(10) ** -45 else whole(z)


def _atan(z: Any) -> Any:
    t = mp.sqrt(z)
    return (mp.atan(t) / t - 1) / z


def _asin(z: Any) -> Any:
    t = mp.sqrt(z)
    return (mp.asin(t) / t - 1) / z


def _sinh(z: Any) -> Any:
    t = mp.sqrt(z)
    return (mp.sinh(t) / t - 1) / z


def _logarithm(z: Any) -> Any:
    """``ln((1 + s) / (1 - s)) = 2 s + s z (2 / 3 + z p(z))``, ``z = s²``."""
    s = mp.sqrt(z)
    return ((2 * mp.atanh(s) / s - 2) / z - mpf(2) / 3) / z


def _erf(z: Any) -> Any:
    x = mp.sqrt(z)
    return mp.erf(x) / x


def _erfcx(t: Any) -> Any:
    """``(1 + 2 x) exp(x²) erfc(x)`` with ``t = (x - k) / (x + k)``."""
    if t > 1 - mpf(10) ** -45:
        return 2 / mp.sqrt(mp.pi)
    return _scaled_erfc(_ERFC_K * (1 + t) / (1 - t))


def _at_short(x: str) -> Any:
    """``t`` of floats."""
    return (mpf(x) - _ERFC_SINGLE_K) / (mpf(x) + _ERFC_SINGLE_K)


def _scaled_erfc(x: Any) -> Any:
    """``(1 + 2 x) exp(x²) erfc(x)``."""
    if x < 20:
        return (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x)
    total = term = mpf(1)
    for k in range(1, 400):  # DLMF 7.12.1
        following = -term * (2 * k - 1) / (2 * x * x)
        if abs(following) >= abs(term) or abs(following) < mpf(10) ** -60:
            break
        term = following
        total += term
    return (1 + 2 * x) * total / (x * mp.sqrt(mp.pi))


def _gamma(f: Any) -> Any:
    """``ln Γ(2 + f) = f (c0 + f (c1 + f p(f)))``; DLMF 5.7.3."""
    if abs(f) < mpf(10) ** -8:
        terms = [(-1) ** k * (mp.zeta(k) - 1) / k * f ** (k - 3) for k in range(3, 12)]
        return mp.fsum(terms)
    c0, c1 = 1 - mp.euler, (mp.zeta(2) - 1) / 2
    with mp.workdps(90):
        return ((mp.loggamma(2 + f) / f - c0) / f - c1) / f


def _stirling(z: Any) -> Any:
    """``(ln Γ(x) - (x - 1/2) ln x + x - ln(2π) / 2) x`` with ``z = 1 / x²``; DLMF 5.11.1."""
    if z < mpf("1e-3"):
        return mp.fsum(
            [mp.bernoulli(2 * k) / (2 * k * (2 * k - 1)) * z ** (k - 1) for k in range(1, 25)]
        )
    x = 1 / mp.sqrt(z)
    return (mp.loggamma(x) - (x - 0.5) * mp.log(x) + x - mp.log(2 * mp.pi) / 2) * x


ROOT = mp.findroot(mp.digamma, mpf("1.4616321449683623"))


def _digamma(f: Any) -> Any:
    """``ψ(7/4 + f) = (7/4 + f - r) p(f)`` with the root ``r`` of ψ."""
    x = mpf("1.75") + f
    if abs(x - ROOT) < mpf(10) ** -30:
        return mp.polygamma(1, ROOT)
    return mp.digamma(x) / (x - ROOT)


def _digamma_far(z: Any) -> Any:
    """``(ln x - 1 / (2 x) - ψ(x)) x²`` with ``z = 1 / x²``; DLMF 5.11.2."""
    if z < mpf("1e-3"):
        return mp.fsum([mp.bernoulli(2 * k) / (2 * k) * z ** (k - 1) for k in range(1, 25)])
    x = 1 / mp.sqrt(z)
    return (mp.log(x) - 1 / (2 * x) - mp.digamma(x)) * x * x


def _exp(r: Any) -> Any:
    return mp.fsum([r**k / mp.factorial(k + 2) for k in range(40)])


def _exp2(r: Any) -> Any:
    """``2^r = 1 + r p(r)``."""
    return mp.expm1(r * mp.ln(2)) / r if r else mp.ln(2)


def _log1p(r: Any) -> Any:
    """``ln(1 + r) = r + r² p(r)``."""
    if abs(r) < mpf(10) ** -15:
        return r / 3 - mpf(1) / 2
    return (mp.log1p(r) - r) / (r * r)


def _erf_slope(z: Any) -> Any:
    """``erf x = x + x p(z)`` with ``z = x²``."""
    return _erf(z) - 1 if z else 2 / mp.sqrt(mp.pi) - 1


def _tan(z: Any) -> Any:
    """``tan x = x + x z p(z)`` with ``z = x²``."""
    x = mp.sqrt(z)
    return (mp.tan(x) / x - 1) / z


def _sine(z: Any) -> Any:
    """``sin x = x + x z p(z)`` with ``z = x²``."""
    x = mp.sqrt(z)
    return (mp.sin(x) / x - 1) / z


def _sin(z: Any) -> Any:
    return mp.fsum([(-1) ** (k + 1) * z**k / mp.factorial(2 * k + 3) for k in range(30)])


def _cos(z: Any) -> Any:
    return mp.fsum([(-1) ** k * z**k / mp.factorial(2 * k + 4) for k in range(30)])


class Wanted(NamedTuple):
    """A function, its interval, and the numbers of coefficients in doubles and in floats."""

    function: Callable[[Any], Any]
    interval: tuple[Any, Any]
    double: int
    single: int


_TURN = (mp.pi / 4 * mpf("1.001")) ** 2
POLYNOMIALS = {
    "ATAN": Wanted(_series(_atan, -mpf(1) / 3), (0, mpf("0.1716")), 11, 5),
    "ASIN": Wanted(_series(_asin, mpf(1) / 6), (0, mpf("0.25")), 13, 6),
    "SINH": Wanted(_series(_sinh, mpf(1) / 6), (0, 1), 7, 4),
    "LOGARITHM": Wanted(_series(_logarithm, mpf(2) / 5), (0, mpf("0.0295")), 8, 4),
    "CUBE_ROOT": Wanted(lambda m: m ** (-mpf(1) / 3), (1, 2), 6, 5),
    "ERF": Wanted(_series(_erf, 2 / mp.sqrt(mp.pi)), (0, 1), 12, 8),
    "ERFCX": Wanted(_erfcx, (-1, 1), 26, 15),
    "ERFCX_SLOPE": Wanted(lambda t: mp.diff(_erfcx, t), (-1, mpf("0.999")), 5, 5),
    "GAMMA": Wanted(_gamma, (-mpf("0.5"), mpf("0.5")), 17, 8),
    "STIRLING": Wanted(_stirling, (0, mpf(1) / 56), 5, 2),
    "DIGAMMA": Wanted(_digamma, (-mpf("0.75"), mpf("0.75")), 26, 13),
    "DIGAMMA_FAR": Wanted(_digamma_far, (0, mpf(1) / 20), 9, 3),
}
#: Those of which the last coefficient has a second double.
LONG = ("ERF", "ERFCX", "DIGAMMA")
#: Those whose doubles other libraries have published.
SINGLES = {
    "EXP": Wanted(_exp, (-mpf("0.35"), mpf("0.35")), 0, 6),
    "SIN": Wanted(_sin, (0, _TURN), 0, 3),
    "COS": Wanted(_cos, (0, _TURN), 0, 3),
}


#: Those of floats that have formulas of their own.
SHORT = {
    "ATAN": Wanted(_series(_atan, -mpf(1) / 3), (0, 1), 0, 9),
    "EXP": Wanted(_exp, (-mpf("0.3467"), mpf("0.3467")), 0, 5),
    "ERF": Wanted(_erf_slope, (0, mpf("0.81")), 0, 6),
    "ERFC": Wanted(lambda x: mp.log(mp.erfc(x)), (mpf("0.9"), 4), 0, 9),
    "ERFCX": Wanted(
        lambda t: _scaled_erfc(_ERFC_SINGLE_K * (1 + t) / (1 - t)),
        (_at_short("0.75"), _at_short("10.5")),
        0,
        9,
    ),
    "EXP2": Wanted(_exp2, (-mpf("0.5"), mpf("0.5")), 0, 6),
    "LOG": Wanted(_log1p, (-mpf(1) / 3, mpf(1) / 3), 0, 9),
    "SIN": Wanted(_series(_sine, -mpf(1) / 6), (0, (mp.pi / 2 * mpf("1.0001")) ** 2), 0, 4),
    "TAN": Wanted(_series(_tan, mpf(1) / 3), (0, _TURN), 0, 7),
}
#: Those whose coefficients are rounded one by one.
ROUNDED = ("SIN",)

#: Words of 2 / pi after the point, so many that each double has its own three.
WORDS, WORD = 19, 64


def two_over_pi() -> list[int]:
    """The bits of 2 / pi in words, the first ones first."""
    with mp.workprec(WORDS * WORD + 64):
        whole = int(mp.floor(mp.ldexp(2 / mp.pi, WORDS * WORD)))
    return [whole >> WORD * k & (1 << WORD) - 1 for k in reversed(range(WORDS))]


def write(line: str) -> None:
    """Write a line of the module."""
    sys.stdout.write(line + "\n")


def write_coefficients(name: str, wanted: Wanted, count: int) -> None:
    """Write one polynomial, and its error as a comment."""
    found, error = mpmath.chebyfit(wanted.function, wanted.interval, count, error=True)
    write(f"    {name}=(  # within 2^{float(mp.log(error, 2)):.1f}")
    for each in found:
        write(f"        {float(each)!r},")
    write("    ),")


def write_floats(name: str, wanted: Wanted) -> None:
    """Write a polynomial of floats alone."""
    found, error = mpmath.chebyfit(wanted.function, wanted.interval, wanted.single, error=True)
    write_powers(name, found, error)


def write_powers(name: str, found: Sequence[Any], error: Any) -> None:
    """Write coefficients, and their error as a comment."""
    write(f"# within 2^{float(mp.log(error, 2)):.1f}")
    write(f"{name} = ({', '.join([repr(float(each)) for each in found])})")


def interpolated(function: Callable[[Any], Any], end: Any, count: int, weight: int) -> list[Any]:
    """``p`` of so many coefficients for which the error of ``z^weight p(z)`` oscillates.

    It is right at the zeros of a Chebyshev polynomial that is moved to have its first at 0.
    """
    degree = count + weight
    zeros = [mp.cos(mp.pi * (2 * k + 1) / (2 * degree)) for k in range(degree)]
    points = [end * (zero - zeros[-1]) / (1 - zeros[-1]) for zero in zeros[:count]]
    powers = mp.matrix([[z ** (count - 1 - k) for k in range(count)] for z in points])
    return list(mp.lu_solve(powers, mp.matrix([function(z) for z in points])))


def write_rounded(name: str, wanted: Wanted) -> None:
    """Write a polynomial ``p`` of floats for small errors of ``z p(z)``, rounding included.

    The last coefficient is rounded, then the others are found anew, which make up for that.
    """
    found: list[float] = []

    def left(z: Any) -> Any:
        return (wanted.function(z) - mp.polyval(found or [0], z)) / z ** len(found)

    end = wanted.interval[1]
    for count in range(wanted.single, 0, -1):
        last = interpolated(left, end, count, wanted.single - count + 1)[-1]
        found.insert(0, struct.unpack("<f", struct.pack("<f", last))[0])
    points = [end * k / 1000 for k in range(1, 1001)]
    error = max(abs(z * (mp.polyval(found, z) - wanted.function(z))) for z in points)
    write_powers(name, found, error)


def write_singles() -> None:
    """Write the module of floats that have formulas of their own."""
    write('"""Polynomials of functions of one float, the highest power first.\n')
    write('Written by ``tools/function_polynomials.py``, where they are derived.\n"""\n')
    for name, wanted in SHORT.items():
        (write_rounded if name in ROUNDED else write_floats)(name, wanted)


def write_all() -> None:
    """Write the module of doubles, and of floats that share their formulas."""
    write('"""Polynomials of elementary functions, the highest power first.\n')
    write('Written by ``tools/function_polynomials.py``, where they are derived.\n"""\n')
    write("from gradwire_engine.backends.llvm.functions.forms import Polynomial\n")
    for name, wanted in POLYNOMIALS.items():
        write(f"{name} = Polynomial(")
        write_coefficients("double", wanted, wanted.double)
        write_coefficients("single", wanted, wanted.single)
        if name in LONG:
            found = mpmath.chebyfit(wanted.function, wanted.interval, wanted.double)
            write(f"    low={float(found[-1] - mpf(float(found[-1])))!r},")
        write(")")
    for name, wanted in SINGLES.items():
        write_floats(f"{name}_SINGLE", wanted)
    write("#: The bits of 2 / pi after the point, in words of 64.")
    write(f"TWO_OVER_PI = ({', '.join([f'0x{word:016X}' for word in two_over_pi()])})")


if __name__ == "__main__":
    write_singles() if sys.argv[1:] == ["floats"] else write_all()
