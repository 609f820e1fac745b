"""Sequences in equal ratios, and windows that fade towards their ends."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument, DtypeMismatch
from gradwire_engine.ops.arrays.creation import count, linspace
from gradwire_engine.ops.arrays.shape import moveaxis
from gradwire_engine.ops.axes import axis_of, integer
from gradwire_engine.ops.base import Static, macro
from gradwire_engine.ops.conversion import AsType, floating
from gradwire_engine.ops.pointwise.arithmetic import Absolute, Power, Sqrt
from gradwire_engine.ops.pointwise.exponential import Exp, Log
from gradwire_engine.ops.pointwise.selection import Maximum
from gradwire_engine.ops.pointwise.trigonometric import Cos
from gradwire_engine.ops.promotion import DTYPES
from gradwire_engine.ops.special.bessel import I0

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


@macro("logspace")
def logspace(
    b: Builder,
    start: Any,
    stop: Any,
    num: Static = 50,
    endpoint: Any = True,
    base: Any = 10.0,
    dtype: Static = None,
    axis: Static = 0,
) -> Any:
    """Powers of ``base`` with exponents in equal steps from ``start`` to ``stop``."""
    exponents, root = b.promote(linspace(b, start, stop, num, endpoint, None, axis), base)
    z = Power()(root, exponents)
    return z if dtype is None else AsType.record(b, z, dtype)


@macro("geomspace")
def geomspace(
    b: Builder,
    start: Any,
    stop: Any,
    num: Static = 50,
    endpoint: Any = True,
    dtype: Static = None,
    axis: Static = 0,
) -> Any:
    """Real numbers in equal ratios: ``z_k = start (stop / start)^t`` with ``t`` of ``linspace``.

    Both ends have one sign.
    """
    low, high = (floating(b, end) for end in b.promote(start, stop))
    if low.dtype.kind == "c":
        raise DtypeMismatch("geomspace takes real ends", hint="exp of linspace takes complex ones")
    zero = b.scalar(0, low.dtype)
    z = low * Exp()(linspace(b, zero, Log()(high / low), num, endpoint))
    z = moveaxis(b, z, 0, axis_of(axis, z.ndim, "geomspace"))
    return z if dtype is None else AsType.record(b, z, dtype)


def _phases(b: Builder, M: Any) -> Var:
    """``2 pi k / (M - 1)`` for ``k`` from 0 to before ``M``."""
    length = integer(M, "M")
    if length < 0:
        raise BadArgument(f"a window has no length {length}")
    return count(b, length, DTYPES["float64"]) * (2 * math.pi / max(length - 1, 1))


def _cosines(b: Builder, M: Any, *weights: float) -> Var:
    """The sum of cosines of the phase's multiples, 1 where there is one point."""
    if M == 1:
        return b.constant([1.0])
    phase = _phases(b, M)
    z = phase * 0 + weights[0]
    for k, weight in enumerate(weights[1:], 1):
        z = z + Cos()(phase * k) * weight
    return z


@macro("hanning", differentiable=False)
def hanning(b: Builder, M: Static) -> Any:
    """Hann's window of ``M`` points: ``z_k = (1 - cos t) / 2`` with ``t = 2πk / (M - 1)``.

    Source: Harris, On the Use of Windows for Harmonic Analysis (1978), section V.C.
    """
    return _cosines(b, M, 0.5, -0.5)


@macro("hamming", differentiable=False)
def hamming(b: Builder, M: Static) -> Any:
    """Hamming's window of ``M`` points: ``z_k = 0.54 - 0.46 cos t`` with ``t = 2πk / (M - 1)``.

    Source: Harris, On the Use of Windows for Harmonic Analysis (1978), section V.D.
    """
    return _cosines(b, M, 0.54, -0.46)


@macro("blackman", differentiable=False)
def blackman(b: Builder, M: Static) -> Any:
    """Blackman's window of ``M`` points: ``z_k = 0.42 - 0.5 cos t + 0.08 cos 2t``.

    ``t = 2πk / (M - 1)``.  Source: Harris, On the Use of Windows for Harmonic Analysis (1978),
    section V.E.
    """
    return _cosines(b, M, 0.42, -0.5, 0.08)


@macro("bartlett", differentiable=False)
def bartlett(b: Builder, M: Static) -> Any:
    """Bartlett's window of ``M`` points, a triangle: ``z_k = 1 - |2k / (M - 1) - 1|``."""
    if M == 1:
        return b.constant([1.0])
    return 1 - Absolute()(_phases(b, M) / math.pi - 1)


@macro("kaiser")
def kaiser(b: Builder, M: Static, beta: Any) -> Any:
    """Kaiser's window of ``M`` points: ``z_k = I_0(beta sqrt(1 - s²)) / I_0(beta)``.

    ``s = 2k / (M - 1) - 1``.  Source: Kaiser and Schafer, On the Use of the I0-sinh Window for
    Spectrum Analysis (1980).
    """
    side = (_phases(b, M) / math.pi - 1) if M != 1 else b.constant([0.0])
    inside = Sqrt()(Maximum()(1 - side * side, b.scalar(0, side.dtype)))
    inside, sharpness = b.promote(inside, beta)
    return I0()(sharpness * inside) / I0()(sharpness)
