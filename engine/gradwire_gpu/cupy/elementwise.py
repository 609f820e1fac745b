"""Functions of numbers by NumPy's conventions, where CuPy's are others or lose digits."""

from __future__ import annotations

import math
from typing import Any

import cupy

from gradwire_gpu.cupy.requirements import require

__all__ = [
    "excess",
    "floor_divide",
    "fmod",
    "frexp",
    "left_shift",
    "logaddexp2",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "power",
    "remainder",
    "right_shift",
    "sinc",
]

#: Nearer to 1/2, the logit is the difference of two logarithms near 1.
_NEAR_HALF = 0.25
#: Beyond, ``expm1(x) / x`` has overflowed; nearer to 0 it is 1.
_OVERFLOWING, _NEAR_ZERO = 717.0, 1e-16


def power(x: Any, y: Any) -> Any:
    """``x ** y``.

    Raises: ``ValueError`` for integers and a negative power.
    """
    if x.dtype.kind in "iu" and y.dtype.kind == "i":
        error = ValueError("Integers to negative integer powers are not allowed.")
        require((y >= 0).all(), error)
    z = cupy.power(x, y)
    if z.dtype.kind == "c":  # CuPy takes the logarithm of 0
        at_zero = cupy.where(y.real > 0, 0, math.nan).astype(z.dtype)
        z = cupy.where((x == 0) & (y != 0), at_zero, z)
    return z


def floor_divide(x: Any, y: Any) -> Any:
    """The whole number of times that ``y`` goes into ``x``, rounded down."""
    return _divided(x, y)[0] if x.dtype.kind == "f" else cupy.floor_divide(x, y)


def remainder(x: Any, y: Any) -> Any:
    """The rest of ``x`` after ``floor_divide``, exactly, with the sign of ``y``."""
    return _divided(x, y)[1] if x.dtype.kind == "f" else cupy.remainder(x, y)


def _divided(x: Any, y: Any) -> tuple[Any, Any]:
    """Floating quotient and remainder: of the exact remainder towards 0.

    Source: The Python Language Reference, section 6.7.
    """
    if isinstance(y, int | float):
        y = cupy.full_like(x, y)
    rest = cupy.fmod(x, y)
    quotient = (x - rest) / y
    turns = (rest != 0) & ((rest < 0) != (y < 0))
    rest = cupy.where(turns, rest + y, cupy.where(rest == 0, cupy.copysign(rest, y), rest))
    quotient = quotient - turns
    below = cupy.floor(quotient)
    below = below + (quotient - below > 0.5)
    whole = cupy.where(quotient == 0, cupy.copysign(quotient, x / y), below)
    return cupy.where(y == 0, x / y, whole), rest


def fmod(x: Any, y: Any) -> Any:
    """The rest of ``x`` divided by ``y``, with the sign of ``x``."""
    if x.dtype.kind == "f":
        return cupy.fmod(x, y)
    rest = cupy.remainder(x, y)  # CuPy's converts integers to floats
    return cupy.where((rest != 0) & ((x < 0) != (y < 0)), rest - y, rest)


def frexp(x: Any) -> Any:
    """Mantissas and exponents; of what is not finite the exponent is 0."""
    mantissa, exponent = cupy.frexp(x)
    return mantissa, cupy.where(cupy.isfinite(x), exponent, 0).astype(exponent.dtype)


def left_shift(x: Any, y: Any) -> Any:
    """``x 2^y``; 0 for as many places as there are bits."""
    inside = (y >= 0) & (y < 8 * x.dtype.itemsize)
    return cupy.where(inside, x << cupy.where(inside, y, 0), 0).astype(x.dtype)


def right_shift(x: Any, y: Any) -> Any:
    """``x / 2^y``, rounded down, also for more places than there are bits."""
    bits = 8 * x.dtype.itemsize
    inside = (y >= 0) & (y < bits)
    return (
        x >> cupy.where(inside, y, bits - 1)
        if x.dtype.kind == "i"
        else cupy.where(inside, x >> cupy.where(inside, y, 0), 0).astype(x.dtype)
    )


def logaddexp2(x: Any, y: Any) -> Any:
    """``log2(2^x + 2^y)``."""
    largest, apart = cupy.maximum(x, y), cupy.where(x == y, 0, abs(x - y))
    return largest + (cupy.log1p(cupy.exp2(-apart)) / math.log(2)).astype(largest.dtype)


def excess(x: Any, y: Any) -> Any:
    """``x - y``, and 0 where both are ``inf``."""
    return cupy.where((x == math.inf) & (y == math.inf), 0, x - y).astype(x.dtype)


def sinc(x: Any) -> Any:
    """``sin(π x) / (π x)``, 1 at 0."""
    angle = cupy.where(x == 0, 1, x * math.pi)
    return cupy.where(x == 0, 1, cupy.sin(angle) / angle).astype(x.dtype)


def exprel(x: Any) -> Any:
    """``(exp(x) - 1) / x``, 1 at 0."""
    near = abs(x) < _NEAR_ZERO
    z = cupy.expm1(x) / cupy.where(near, 1, x)
    return cupy.where(near, 1, cupy.where(x > _OVERFLOWING, math.inf, z)).astype(x.dtype)


def logit(x: Any) -> Any:
    """``log(x / (1 - x))``."""
    s = 2 * (x - 0.5)
    near = abs(s) < _NEAR_HALF
    inner = cupy.where(near, s, 0)
    return cupy.where(near, cupy.log1p(inner) - cupy.log1p(-inner), cupy.log(x / (1 - x)))


def _logical(name: str) -> Any:
    """CuPy's function, which takes no complex numbers, of whether they are 0."""
    ufunc = getattr(cupy, name)

    def compute(*operands: Any) -> Any:
        return ufunc(*[x != 0 if x.dtype.kind == "c" else x for x in operands])

    return compute


logical_and, logical_or, logical_xor, logical_not = map(
    _logical, ("logical_and", "logical_or", "logical_xor", "logical_not")
)
