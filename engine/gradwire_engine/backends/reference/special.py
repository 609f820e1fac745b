"""SciPy's special functions, completed where they are 0, infinite or NaN by mistake.

Its Bessel functions underflow and overflow before their results do, and have none far out; there
the first terms of their series have all digits.  Source: DLMF 10.7, 10.17, 10.30, 10.40, 9.7.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.special as scipy

Routine = Callable[..., Any]

#: Up to here the first term of a power series has all digits, of one whose second is ``x² ln x``.
_NEAR, _NEAR_SECOND = 1e-17, 1e-9
#: Of an order so small beside the argument four terms of an asymptotic series have all digits.
_FAR, _FAR_TERMS = 8e-3, 4
#: A step on which a function that is ``A exp(v ln x) + B exp(-v ln x)`` is continued towards 0.
_STEP, _STEPS_END = 100, 1e-200
#: From here on SciPy may have no Airy functions.
_FAR_AIRY = 1e6
#: Leading coefficients of the scaled Airy functions, and the next relative to them, of ``ζ^-1``.
_AIRY_SCALES = [x / math.sqrt(math.pi) for x in (0.5, -0.5, 1, 1)]
_AIRY_TERMS = -5 / 72, 7 / 72, 5 / 72, -7 / 72
#: Up to here SciPy's zeta function knows that it underflows.
_HIGH_ZETA = 1e5
#: From here on one term of Student's tail has all digits.
_FAR_STUDENT = 1e30
#: Of higher spherical functions the first term is 0 or infinite beside 0.
_HIGHEST = 40
#: From where on Stirling's series has all digits, of so many terms; where ``Γ`` overflows.
_STIRLING, _OVERFLOWING = 16.0, 170.0
_BERNOULLI = 1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6
_EULER = 0.5772156649015329


def completed(routine: Routine, better: Routine) -> Routine:
    """``routine``; of real operands where it is 0, infinite or NaN, ``better(z, *operands)``."""

    @wraps(routine, updated=())
    def compute(*operands: Any) -> Any:
        return _complete(routine(*operands), better, operands)

    return compute


def _complete(z: Any, better: Routine, operands: tuple[Any, ...]) -> Any:
    if (type(z) is np.float64 and 0 < abs(z) < math.inf) or z.dtype.kind == "c":
        return z
    regular = np.isfinite(z) & (z != 0)
    if regular.all():
        return z
    places = ~regular
    given = [np.broadcast_to(x, z.shape)[places].astype(float) for x in operands]
    found = np.array(z)
    with np.errstate(all="ignore"):
        found[places] = better(found[places], *given)
    return found[()]


def _ends(**limits: float) -> Routine:
    """A routine with these limits at ``inf`` and at ``minus_inf``."""

    def better(z: Any, x: Any) -> Any:
        z = np.where(x == math.inf, limits.get("inf", z), z)
        return np.where(x == -math.inf, limits.get("minus_inf", z), z)

    return better


def _first_kind(sign: int, at_infinity: float) -> Routine:
    """Beside 0 ``(x/2)^v / Γ(v + 1)`` of ``J`` (sign -1) and ``I``, and at infinity the limit."""

    def better(z: Any, v: Any, x: Any) -> Any:
        size, whole = abs(x), v == np.floor(v)
        order = np.where(whole, abs(v), v)
        near = size**order * 2.0**-order * scipy.rgamma(order + 1)
        turned = (x < 0) ^ ((v < 0) & (sign < 0))
        odd = np.where(whole & (abs(v) % 2 == 1) & turned, -1, 1)
        known = (x >= 0) | whole
        z = np.where(known & (size < _NEAR), odd * near, z)
        return np.where(known & (size == math.inf) & np.isfinite(v), odd * at_infinity, z)

    return better


def _second_kind(routine: Routine, scale: float) -> Routine:
    """Beside 0 of ``Y`` and ``K`` the terms ``A x^v + B x^(-v)``, of large orders the larger one.

    The two are told apart by values at larger ``x``, as is ``ln x`` for ``v = 0``.
    """

    def better(z: Any, v: Any, x: Any) -> Any:
        order = abs(v)
        turn = np.where((v < 0) & (scale < 0), scipy.cosdg(np.fmod(v, 2) * 180), 1)
        lead = scale * turn * scipy.gamma(order) * (2 / x) ** order
        large = (order >= 1) & (x > 0) & (x < _NEAR_SECOND) & (turn != 0)
        small = (order < 1) & (x > 0) & (x < _STEPS_END)
        # Of large orders and arguments, which these are not, SciPy's routine takes half a minute.
        v, x = np.where(small, v, 0), np.where(small, x, 1)
        beyond, farther = (routine(v, x * 2.0 ** (n * _STEP)) for n in (1, 2))
        growth = 2.0 ** (_STEP * order) + 2.0 ** (-_STEP * order)
        return np.where(large, lead, np.where(small, growth * beyond - farther, z))

    return better


def _far(v: Any, x: Any, sign: complex) -> Any:
    """``x^(-1/2) Σ a_k(v) (sign / x)^k``, NaN of orders that are not small beside ``x``."""
    square = 4 * v * v
    term = total = np.ones_like(x)
    for k in range(1, _FAR_TERMS + 1):
        term = term * (square - (2 * k - 1) ** 2) * (sign / 8 / k) / x
        total = total + term
    return np.where(square < _FAR * x, total / np.sqrt(x), math.nan)


def _scaled_first(z: Any, v: Any, x: Any) -> Any:
    z, size = _first_kind(1, 0.0)(z, v, x), abs(x)
    odd = np.where((x < 0) & (abs(v) % 2 == 1), -1, 1)
    far = odd * _far(v, size, -1) / math.sqrt(2 * math.pi)
    return np.where(np.isnan(z) & (size > 1) & ((x > 0) | (v == np.floor(v))), far, z)


def _scaled_second(z: Any, v: Any, x: Any) -> Any:
    z = _second_kind(scipy.kve, 0.5)(z, v, x)
    return np.where(np.isnan(z) & (x > 1), _far(v, x, 1) * math.sqrt(math.pi / 2), z)


def _of_second(z: Any, v: Any, x: Any) -> Any:
    z = _second_kind(scipy.yv, -1 / math.pi)(z, v, x)
    wave = np.exp(1j * (x - (v / 2 + 0.25) * math.pi)) * math.sqrt(2 / math.pi)
    z = np.where((z == 0) & (x > 1), (_far(v, x, 1j) * wave).imag, z)
    return np.where((x == math.inf) & np.isfinite(v), 0, z)


def yv(v: Any, x: Any) -> Any:
    """``Y_v(x)``; of orders -1/2, -3/2, … it is ``± J_-v(x)``."""
    z = _yv(v, x)
    v = np.asarray(v)
    turned = (v < 0) & (np.fmod(v, 1) == -0.5)
    if not turned.any():
        return z
    sign = np.where(np.fmod(v, 2) == -0.5, 1, -1)
    return np.where(turned, sign * _jv(-v, x), z)[()].astype(z.dtype)


def _struve(z: Any, v: Any, x: Any) -> Any:
    """Beside 0 the first term of either kind."""
    near = x ** (v + 1) * 2.0**-v * scipy.rgamma(v + 1.5) / math.sqrt(math.pi)
    return np.where((x > 0) & (x < _NEAR), near, z)


def _near(rule: Routine) -> Routine:
    """Below 1 a ``rule`` for ``x``."""
    return lambda z, x: np.where((x > 0) & (x < 1), rule(x), z)


def _ln_size_of_gamma(z: Any, x: Any) -> Any:
    return np.where(abs(x) < _STEPS_END, -np.log(abs(x)), z)


def _spherical(routine: Routine, scale: float, *, first: bool) -> Routine:
    """Beside 0 ``scale xⁿ / (2n + 1)!!``, of the second kind ``scale (2n - 1)!! x^(-n - 1)``."""

    def compute(n: int, x: Any) -> Any:
        product = math.prod(map(float, range(1, 2 * min(n, _HIGHEST) + 2 * first, 2)))

        def better(z: Any, x: Any) -> Any:
            near = x**n / product if first else product / x ** (n + 1)
            z = np.where((x != 0) & (abs(x) < _NEAR), scale * near, z)
            grown = np.where((x < 0) & (n % 2 == 1), -math.inf, math.inf)
            return np.where(np.isnan(z) & first & (abs(x) > 1), grown, z)

        return _complete(routine(n, x), better, (x,))

    return compute


def airy(x: Any) -> tuple[Any, ...]:
    """``Ai``, ``Ai'``, ``Bi`` and ``Bi'``: far out as they are scaled, and by their phase."""
    return _completed_airy(scipy.airy(x), x, scaled=False)


def airye(x: Any) -> tuple[Any, ...]:
    """The same, scaled: far out by two terms of their series."""
    return _completed_airy(scipy.airye(x), x, scaled=True)


def _completed_airy(found: tuple[Any, ...], x: Any, *, scaled: bool) -> tuple[Any, ...]:
    growing = found[2]
    if (type(growing) is np.float64 and growing == growing) or growing.dtype.kind == "c":
        return found
    lacking = np.isnan(growing) & ~np.isnan(x)
    if not lacking.any():
        return found
    far = np.asarray(x)[lacking].astype(float)
    size = abs(far)
    root = np.sqrt(size)
    zeta = size * root * (2 / 3)
    quarter = np.sqrt(root)
    # Positive x: decaying ones and growing ones.
    beyond = np.stack([found_e[lacking] for found_e in (found if scaled else scipy.airye(x))])
    series = [
        scale * quarter ** (1 if k % 2 else -1) * (1 + term / zeta)
        for k, (scale, term) in enumerate(zip(_AIRY_SCALES, _AIRY_TERMS, strict=True))
    ]
    beyond = np.where(far > _FAR_AIRY, series, beyond)
    if not scaled:
        half = np.exp(np.where([[True], [True], [False], [False]], -zeta, zeta) / 2)
        beyond = np.where(half == 0, 0 * beyond, beyond * half * half)
        beyond[:, far == math.inf] = [[0], [0], [math.inf], [math.inf]]
    # Negative x: waves, of which those of Ai are NaN if scaled.
    sine, cosine = np.sin(zeta), np.cos(zeta)
    s, c = (sine - cosine) / math.sqrt(2), (sine + cosine) / math.sqrt(2)
    u, v = 5 / 72 / zeta, -7 / 72 / zeta
    waves = np.stack(
        [
            (c + s * u) / quarter,
            (s - c * v) * quarter,
            (c * u - s) / quarter,
            (c + s * v) * quarter,
        ]
    ) / math.sqrt(math.pi)
    waves[::2, far == -math.inf] = 0
    if scaled:
        waves[:2] = math.nan
    better = np.where(far > 0, beyond, waves)
    result = [np.array(z) for z in found]
    for z, part in zip(result, better, strict=True):
        z[lacking] = part
    return tuple([z[()] for z in result])


def _ln_gamma_rise(x: Any, h: Any) -> Any:
    """``ln Γ(x + h) - ln Γ(x)`` for ``x`` of 16 or more, by Stirling's series."""
    end = x + h
    total = (x - 0.5) * np.log1p(h / x) - h + h * np.log(end)
    near, far = 1 / end, 1 / x
    squares = near * near, far * far
    for k, bernoulli in enumerate(_BERNOULLI, 1):
        total = total + bernoulli / (2 * k * (2 * k - 1)) * (near - far)
        near, far = near * squares[0], far * squares[1]
    return total


def _of_small(a: Any, b: Any) -> Any:
    """``ln B(a, b)`` where one is so small that its reciprocal is infinite."""
    small, large = np.minimum(a, b), np.maximum(a, b)
    return np.log1p(small / large) - np.log(small)


def betaln(a: Any, b: Any) -> Any:
    """``ln |B(a, b)|``, without the logarithms of two large gamma functions."""
    return _of_large(_betaln(a, b), a, b, 0)


def beta(a: Any, b: Any) -> Any:
    """``B(a, b)``, for which SciPy takes such logarithms where gamma functions overflow."""
    return _of_large(scipy.beta(a, b), a, b, _OVERFLOWING)


def _of_large(z: Any, a: Any, b: Any, least_sum: float) -> Any:
    small, large = np.minimum(a, b), np.maximum(a, b)
    chosen = (small > 0) & (large >= _STIRLING) & (large < math.inf) & (large + small > least_sum)
    if not chosen.any():
        return z
    small, large = (np.asarray(x)[chosen].astype(float) for x in (small, large))
    better = scipy.gammaln(small) - _ln_gamma_rise(large, small)
    found = np.array(z)
    found[chosen] = np.exp(better) if least_sum else better
    return found[()]


def stdtrit(df: Any, p: Any) -> Any:
    """Student's quantile; far out by one term of its tail, where SciPy's ends or is ``inf``."""
    z = scipy.stdtrit(df, p)
    if (np.asarray(p) == 0).any():  # where SciPy's is inf
        z = np.where((p == 0) & (df > 0), -math.inf, z)[()].astype(z.dtype)
    far = (abs(z) > _FAR_STUDENT) & (df > 0) & (p > 0) & (p < 1)
    if not far.any():
        return z
    df, p, found = (np.asarray(x, float) for x in (*np.broadcast_arrays(df, p), z))
    with np.errstate(all="ignore"):
        tail = np.where(p < 0.5, p, 1 - p)
        ln_share = (np.log(tail) + np.log(df) + _betaln(df / 2, 0.5)) * (2 / df)
        size = np.exp((np.log(df) - ln_share) / 2)
    return np.where(far, np.copysign(size, p - 0.5), found)[()].astype(z.dtype)


def _reduced(routine: Routine) -> Routine:
    """A function of an angle in degrees, of any size."""
    return lambda x: routine(np.fmod(x, 360))


def _completed() -> dict[str, Routine]:
    limits: dict[str, Routine] = {
        "j0": _ends(inf=0, minus_inf=0),
        "j1": _ends(inf=0, minus_inf=0),
        "y0": _ends(inf=0),
        "y1": _ends(inf=0),
        "i0": _ends(inf=math.inf, minus_inf=math.inf),
        "i1": _ends(inf=math.inf, minus_inf=-math.inf),
        "struve": _struve,
        "modstruve": _struve,
        "spence": _ends(inf=-math.inf),
        "zeta": lambda z, s, q: np.where((s > _HIGH_ZETA) & (q > 1), 0, z),
        "gammaln": _ln_size_of_gamma,
        "loggamma": _near(lambda x: -np.log(x)),
        "k0": _near(lambda x: math.log(2) - np.log(x) - _EULER),
        "k1": _near(lambda x: 1 / x),
        "iv": _first_kind(1, math.inf),
        "ive": _scaled_first,
        "kv": _second_kind(scipy.kv, 0.5),
        "kve": _scaled_second,
    }
    spherical = {
        "jn": (1.0, True),
        "in": (1.0, True),
        "yn": (-1.0, False),
        "kn": (math.pi / 2, False),
    }
    return {
        **{name: completed(getattr(scipy, name), better) for name, better in limits.items()},
        **{
            f"spherical_{name}": _spherical(getattr(scipy, f"spherical_{name}"), scale, first=first)
            for name, (scale, first) in spherical.items()
        },
        "jv": _jv,
        "yv": yv,
        "airy": airy,
        "airye": airye,
        "beta": beta,
        "betaln": betaln,
        "stdtrit": stdtrit,
        # SciPy gives 0 for angles that it does not reduce, and a rounded angle's cotangent.
        **{name: _reduced(getattr(scipy, name)) for name in ("sindg", "cosdg", "tandg")},
        "cotdg": lambda x: 1 / scipy.tandg(np.fmod(x, 180)),
    }


_betaln = completed(
    scipy.betaln,
    lambda z, a, b: np.where((z == math.inf) & (a > 0) & (b > 0), _of_small(a, b), z),
)
_yv = completed(scipy.yv, _of_second)
_jv = completed(scipy.jv, _first_kind(-1, 0.0))
#: SciPy's functions, those completed among them.
SPECIAL = SimpleNamespace(**{**vars(scipy), **_completed()})
