"""Cosine transforms of real numbers, by Fourier transforms of what mirrors them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.errors import BadArgument, DtypeMismatch, ShapeMismatch
from gradwire_engine.ops.arrays.indexing import GetItem
from gradwire_engine.ops.arrays.joining import Concatenate
from gradwire_engine.ops.arrays.padding import pad
from gradwire_engine.ops.arrays.rearranging import Flip
from gradwire_engine.ops.arrays.shape import moveaxis
from gradwire_engine.ops.arrays.slicing import sliced
from gradwire_engine.ops.axes import axis_of, integer
from gradwire_engine.ops.base import FUNCTIONS, Static, macro
from gradwire_engine.ops.conversion import floating
from gradwire_engine.ops.patterns import Span, complete_pattern
from gradwire_engine.ops.pointwise.complex import Real, complex_of
from gradwire_engine.ops.promotion import DTYPES

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var

#: The type that inverts each, up to a factor.
_INVERSES = {1: 1, 2: 3, 3: 2, 4: 4}
_EVERY_SECOND = (..., Span(1, None, 2))


def _first(x: Var, count: int) -> Var:
    return sliced(x, x.ndim - 1, 0, count)


def _resized(b: Builder, x: Var, n: int) -> Var:
    length = x.shape[-1]
    if n <= length:
        return _first(x, n)
    padded: Var = pad(b, x, [*[(0, 0)] * (x.ndim - 1), (0, n - length)])
    return padded


def _turned(b: Builder, x: Var, sign: int) -> Var:
    """Each element times ``exp(sign iπk / 2n)``."""
    n = x.shape[-1]
    kind = x.dtype if x.dtype.kind == "c" else complex_of(x.dtype)
    turn = b.table((n,), lambda k: np.exp(sign * 0.5j * np.pi * k / n), kind)
    return b.cast(x, kind) * turn


def _transform(b: Builder, x: Var, kind: int) -> Var:
    """The transform along the last axis, without a factor."""
    n, last = x.shape[-1], x.ndim - 1
    if kind == 1:
        middle = Flip((last,))(sliced(x, last, 1, n - 1))
        return Real()(FUNCTIONS["fft.rfft"].record(b, Concatenate(last)(x, middle)))
    if kind == 2:
        return Real()(_turned(b, _first(FUNCTIONS["fft.rfft"].record(b, x, 2 * n), n), -1)) * 2
    if kind == 3:
        return _first(FUNCTIONS["fft.irfft"].record(b, _turned(b, x, 1), 2 * n), n) * (2 * n)
    halves = _transform(b, _resized(b, x, 2 * n), 2)
    return GetItem(complete_pattern(_EVERY_SECOND, x.ndim))(halves)


def _weighted(b: Builder, x: Var, weight: float, ends: tuple[int, ...]) -> Var:
    """The elements at one or both of the ends times ``weight``."""
    n = x.shape[-1]
    places = [end % n for end in ends]
    return x * b.table((n,), lambda k: np.where(np.isin(k, places), weight, 1), x.dtype)


def _along(b: Builder, a: Any, type: Any, n: Any, axis: Any, norm: Any, op: str) -> Var:
    inverse = _INVERSES.get(integer(type, "type"))
    if inverse is None:
        raise BadArgument(f"{op} knows the types 1 to 4")
    kind = type if op == "dct" else inverse
    x = floating(b, a)
    if x.dtype.kind == "c":
        raise DtypeMismatch(f"{op} needs real numbers, got {x.type}")
    if norm not in (None, "backward", "ortho", "forward"):
        raise BadArgument("norm is 'backward', 'ortho' or 'forward'")
    x = b.cast(x, DTYPES["float32"]) if x.dtype.itemsize == 2 else x
    place = axis_of(axis, x.ndim, op)
    rows = moveaxis(b, x, place, -1)
    rows = rows if n is None else _resized(b, rows, integer(n, "n"))
    length = rows.shape[-1]
    if length < 1 + (kind == 1):
        raise ShapeMismatch(f"{op} of type {kind} needs more than {length} elements")
    period = 2 * (length - 1 if kind == 1 else length)
    ends = (0, -1) if kind == 1 else (0,)
    if norm == "ortho" and kind in (1, 3):
        rows = _weighted(b, rows, math.sqrt(2), ends)
    z = _transform(b, rows, kind)
    if norm == "ortho" and kind in (1, 2):
        z = _weighted(b, z, math.sqrt(0.5), ends)
    if norm == "ortho":
        z = z / math.sqrt(period)
    elif (norm == "forward") != (op == "idct"):
        z = z / period
    found: Var = moveaxis(b, z, -1, place)
    return found


@macro("fft.dct", "dct")
def dct(
    b: Builder,
    x: Any,
    type: Static = 2,
    n: Static = None,
    axis: Static = -1,
    norm: Static = None,
) -> Any:
    """Cosine transform along ``axis``: ``z_k = 2 sum_t x_t cos(π k (2t + 1) / 2n)`` for type 2.

    Types 1, 3 and 4 as SciPy has them.  ``n`` cuts the axis or fills it with zeros.  ``norm``
    ``ortho`` makes the transform orthogonal, ``forward`` divides by ``2n``, for type 1 by
    ``2 (n - 1)``.  Source: Makhoul, A Fast Cosine Transform in One and Two Dimensions (1980).
    """
    return _along(b, x, type, n, axis, norm, "dct")


@macro("fft.idct", "idct")
def idct(
    b: Builder,
    x: Any,
    type: Static = 2,
    n: Static = None,
    axis: Static = -1,
    norm: Static = None,
) -> Any:
    """Inverse of ``fft.dct`` of the same type, ``n``, ``axis`` and ``norm``."""
    return _along(b, x, type, n, axis, norm, "idct")
