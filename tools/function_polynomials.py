"""Derives the polynomials of ``backends/llvm/coefficients.py`` and writes that module.

Each is the Chebyshev interpolant of a function, computed with 60 digits and written in powers, the
highest first. Run: ``python tools/function_polynomials.py > .../coefficients.py``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import mpmath  # type: ignore[import-untyped]
from mpmath import mp, mpf

mp.dps = 60
#: ``(x - k) / (x + k)`` makes a half line an interval: Shepherd and Laframboise (1981).
_ERFC_K = mpf("3.75")


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
    x = _ERFC_K * (1 + t) / (1 - t)
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


#: Names, functions, intervals and numbers of coefficients.
POLYNOMIALS: dict[str, tuple[Callable[[Any], Any], tuple[Any, Any], int]] = {
    "ATAN": (_series(_atan, -mpf(1) / 3), (0, mpf("0.1716")), 11),
    "ASIN": (_series(_asin, mpf(1) / 6), (0, mpf("0.25")), 13),
    "SINH": (_series(_sinh, mpf(1) / 6), (0, 1), 7),
    "LOGARITHM": (_series(_logarithm, mpf(2) / 5), (0, mpf("0.0295")), 8),
    "CUBE_ROOT": (lambda m: m ** (-mpf(1) / 3), (1, 2), 6),
    "ERF": (_series(_erf, 2 / mp.sqrt(mp.pi)), (0, 1), 12),
    "ERFCX": (_erfcx, (-1, 1), 26),
    "ERFCX_SLOPE": (lambda t: mp.diff(_erfcx, t), (-1, mpf("0.999")), 5),
    "GAMMA": (_gamma, (-mpf("0.5"), mpf("0.5")), 17),
    "STIRLING": (_stirling, (0, mpf(1) / 56), 5),
    "DIGAMMA": (_digamma, (-mpf("0.75"), mpf("0.75")), 26),
    "DIGAMMA_FAR": (_digamma_far, (0, mpf(1) / 20), 9),
}


#: Those of which the last coefficient has a second double.
LONG = ("ERF", "ERFCX", "DIGAMMA")


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


def main() -> None:
    """Write the module, and each polynomial's error as a comment."""
    write('"""Polynomials of elementary functions, the highest power first.\n')
    write('Written by ``tools/function_polynomials.py``, where they are derived.\n"""\n')
    for name, (function, interval, count) in POLYNOMIALS.items():
        found, error = mpmath.chebyfit(function, interval, count, error=True)
        write(f"# within 2^{float(mp.log(error, 2)):.1f}")
        write(f"{name} = (")
        for each in found:
            write(f"    {float(each)!r},")
        write(")")
        if name in LONG:
            write(f"{name}_LOW = {float(found[-1] - mpf(float(found[-1])))!r}")
    write("#: The bits of 2 / pi after the point, in words of 64.")
    write("TWO_OVER_PI = (")
    for word in two_over_pi():
        write(f"    0x{word:016X},")
    write(")")


if __name__ == "__main__":
    main()
