"""Polynomials as vectors of coefficients, the highest power first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.arrays.diagonals import embedded
from gradwire_engine.ops.arrays.joining import Concatenate
from gradwire_engine.ops.arrays.shape import reshape, unsqueeze
from gradwire_engine.ops.arrays.slicing import Pad, picked, sliced
from gradwire_engine.ops.axes import integer
from gradwire_engine.ops.base import Static, macro
from gradwire_engine.ops.conversion import floating
from gradwire_engine.ops.linalg.pseudoinverse import lstsq
from gradwire_engine.ops.linalg.spectral import eigvals
from gradwire_engine.ops.linalg.structured import vander
from gradwire_engine.ops.pointwise.arithmetic import Sqrt
from gradwire_engine.ops.reductions.norms import squared_magnitude
from gradwire_engine.ops.reductions.reductions import Sum
from gradwire_engine.ops.signals.convolution import convolve
from gradwire_engine.tape import ArrayType

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


def _coefficients(b: Builder, p: Any, op: str) -> Var:
    x = b.array(p)
    if x.ndim > 1:
        raise ShapeMismatch(f"{op} needs a vector of coefficients, got {x.type}")
    return reshape(x, (x.type.size,))


def _lengthened(x: Var, n: int) -> Var:
    """``x`` with zeros for the higher powers that it lacks of ``n`` coefficients."""
    return Pad((n - x.shape[0],), (0,))(x) if n > x.shape[0] else x


def _powers(b: Builder, n: int) -> Var:
    """The powers from ``n`` down to 1."""
    return b.table((n,), lambda i: n - i, weak=True)


@macro("polyval")
def polyval(b: Builder, p: Any, x: Any) -> Any:
    """Value of a polynomial: ``z = p_0 x^{n-1} + … + p_{n-1}``.

    Source: Higham, Accuracy and Stability of Numerical Algorithms (2002), section 5.1.
    """
    coefficients, at = b.promote(_coefficients(b, p, "polyval"), x)
    z = b.full(0, ArrayType(at.dtype, at.shape))
    for i in range(coefficients.shape[0]):
        c = picked(coefficients, 0, i)
        z = z * at + c if i else b.broadcast(c, at.shape)
    return z


@macro("polyadd")
def polyadd(b: Builder, a1: Any, a2: Any) -> Any:
    """Sum of two polynomials."""
    x, y = (_coefficients(b, v, "polyadd") for v in b.promote(a1, a2))
    n = max(x.shape[0], y.shape[0])
    return _lengthened(x, n) + _lengthened(y, n)


@macro("polysub")
def polysub(b: Builder, a1: Any, a2: Any) -> Any:
    """Difference of two polynomials."""
    return polyadd(b, a1, -b.array(a2))


@macro("polymul")
def polymul(b: Builder, a1: Any, a2: Any) -> Any:
    """Product of two polynomials: the convolution of their coefficients."""
    x, y = (_coefficients(b, v, "polymul") for v in b.promote(a1, a2))
    return convolve(b, x, y)


@macro("polyder")
def polyder(b: Builder, p: Any, m: Static = 1) -> Any:
    """Derivative of order ``m`` of a polynomial."""
    x = _coefficients(b, p, "polyder")
    if integer(m, "m") < 0:
        raise BadArgument(f"m must not be negative, got {m}")
    for _ in range(m):
        n = max(x.shape[0] - 1, 0)
        x, powers = b.promote(sliced(x, 0, 0, n), _powers(b, n))
        x = x * powers
    return x


@macro("polyint")
def polyint(b: Builder, p: Any, m: Static = 1, k: Any = 0) -> Any:
    """Antiderivative of order ``m`` of a polynomial, with ``k`` as each constant of integration.

    Shapes: ``k`` is a number, or a vector of ``m``, the first added first.
    """
    x, constants = b.promote(floating(b, _coefficients(b, p, "polyint")), k)
    if integer(m, "m") < 0:
        raise BadArgument(f"m must not be negative, got {m}")
    if constants.ndim > 1 or constants.type.size not in (1, m):
        raise ShapeMismatch(f"polyint needs one constant or {m}, got {constants.type}")
    constants = b.broadcast(constants, (m,)) if m else constants
    for i in range(m):
        powers = b.cast(_powers(b, x.shape[0]), x.dtype)
        x = Concatenate(0)(x / powers, sliced(constants, 0, i, i + 1))
    return x


@macro("polyfit")
def polyfit(b: Builder, x: Any, y: Any, deg: Static, rcond: Static = None, w: Any = None) -> Any:
    """Coefficients of the polynomial of degree ``deg`` that minimises ``sum |w (p(x) - y)|²``.

    Shapes: ``y`` is a vector, or a matrix with a fit for each column.  Columns of powers are scaled
    to length 1 first; small singular values, up to ``rcond`` of the largest, count 0.
    """
    at, values = (floating(b, v) for v in b.promote(x, y))
    degree = integer(deg, "deg")
    if degree < 0:
        raise BadArgument(f"deg must not be negative, got {degree}")
    if at.ndim != 1 or values.ndim not in (1, 2) or at.shape[0] != values.shape[0]:
        raise ShapeMismatch(f"polyfit needs as many values as points, got {at.type}, {values.type}")
    if not at.shape[0]:
        raise ShapeMismatch("polyfit needs at least 1 point")
    powers = vander(b, at, degree + 1)
    if w is not None:
        powers, values, weights = b.promote(powers, values, w)
        if weights.shape != at.shape:
            raise ShapeMismatch(f"polyfit got {weights.shape} weights for {at.shape[0]} points")
        column = unsqueeze(weights, (1,))
        powers = powers * column
        values = values * (weights if values.ndim == 1 else column)
    lengths = b.cast(Sqrt()(Sum((0,))(squared_magnitude(powers))), powers.dtype)
    cutoff = at.shape[0] * float(np.finfo(at.dtype).eps) if rcond is None else rcond
    found: Var = lstsq(b, powers / lengths, values, cutoff)[0]
    return found / (lengths if found.ndim == 1 else unsqueeze(lengths, (1,)))


@macro("roots")
def roots(b: Builder, p: Any) -> Any:
    """Complex zeros of a polynomial whose first coefficient is not 0: ``p(z_i) = 0``.

    Convention: the derivative of a multiple zero does not exist; it raises or is not finite.
    Source: Horn and Johnson, Matrix Analysis (2013), 3.3.12.
    """
    x = floating(b, _coefficients(b, p, "roots"))
    n = x.shape[0]
    if n < 2:
        raise ShapeMismatch(f"roots needs at least 2 coefficients, got {n}")
    first = -(sliced(x, 0, 1, n) / sliced(x, 0, 0, 1))
    below = embedded(b.full(1, ArrayType(x.dtype, (n - 2,))), -1)
    companion = below + Pad((0, 0), (n - 2, 0))(unsqueeze(first, (0,)))
    return eigvals(b, companion)


@macro("poly")
def poly(b: Builder, seq_of_zeros: Any) -> Any:
    """Coefficients of the polynomial with the given zeros, the first 1: ``prod_i (x - z_i)``."""
    zeros = _coefficients(b, seq_of_zeros, "poly")
    zeros = floating(b, zeros)
    n = zeros.shape[0]
    z = b.full(1, ArrayType(zeros.dtype, (1,)))
    for i in range(n):
        longer, later = Pad((0,), (1,)), Pad((1,), (0,))
        z = longer(z) - later(z) * picked(zeros, 0, i)
    return z
