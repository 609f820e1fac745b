"""Norms of vectors and matrices."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.arrays.shape import reshape, transpose
from gradwire_engine.ops.axes import axes_of, flag, with_ones, without
from gradwire_engine.ops.base import FUNCTIONS, Cotangents, Static, macro, register
from gradwire_engine.ops.builder import describe
from gradwire_engine.ops.conversion import floating
from gradwire_engine.ops.formulas import abs_power
from gradwire_engine.ops.pointwise.arithmetic import Absolute, Power
from gradwire_engine.ops.pointwise.comparison import IsFinite, NotEqual
from gradwire_engine.ops.pointwise.selection import Where
from gradwire_engine.ops.promotion import real_of
from gradwire_engine.ops.reductions.reductions import Max, Min, Reduction, Sum, spread
from gradwire_engine.ops.rules import ByFormula, radial
from gradwire_engine.tape import DType

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


@register("euclidean_norm", public=False)
class Norm(Reduction):
    """Euclidean norm: ``z = sqrt(sum |x|²)``.  Convention: derivative 0 at the zero vector.

    There second derivatives of what is smooth in the vector are its limits.
    """

    workspace = 1.0
    axes: tuple[int, ...]

    @classmethod
    def over(cls, x: Var, axes: tuple[int, ...], *, keepdims: bool = False) -> Var:
        """Record over ``axes``; over none it is the absolute value."""
        return super().over(x, axes, keepdims=keepdims) if axes else Absolute()(x)

    def result_dtype(self, dtype: DType) -> DType:
        """Real."""
        return real_of(dtype)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Root of the sum of squares."""
        (x,) = operands
        squares = x.real * x.real + x.imag * x.imag if x.dtype.kind == "c" else x * x
        return xp.sqrt(xp.sum(squares, axis=self.axes))

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar x / z``, and 0 where ``z`` is 0."""
        (x,) = operands
        b = x.builder
        zero = z.constant(0)
        positive = NotEqual()(z, zero)
        scale = Where()(positive, z_bar / Where()(positive, z, z.constant(1)), zero)
        scale, bar, length = (spread(y, self.axes, x.shape) for y in (scale, z_bar, z))
        return (radial(x * b.cast(scale, x.dtype), bar, length, x),)


@macro("norm", "linalg.norm")
def norm(
    b: Builder, x: Any, ord: Static = None, axis: Static = None, keepdims: Static = False
) -> Any:
    """Norm of a vector or, over two axes, of a matrix.

    ``ord`` None is Euclidean over ``axis`` or everything; vectors have every number, "inf" and
    "-inf"; matrices "fro", "nuc", 1, -1, 2, -2, "inf" and "-inf".  Convention: derivative 0 at the
    zero vector; elements equal to a largest share its derivative evenly.
    """
    a, order = floating(b, x), _order(ord)
    axes = axes_of(axis, a.ndim, "norm")
    keep = flag(keepdims, "keepdims")
    if order is None or (order == "fro" and len(axes) == 2):
        return Norm.over(a, axes, keepdims=keep)
    if len(axes) == 1:
        return _vector(a, order, axes, keep=keep)
    if len(axes) == 2:
        return _matrix(a, order, axes, keep=keep)
    raise ShapeMismatch(
        f"norm with ord needs one axis or two, got {len(axes)}", hint="name them with axis"
    )


@macro("linalg.vector_norm", "vector_norm")
def vector_norm(
    b: Builder, x: Any, axis: Static = None, keepdims: Static = False, ord: Static = 2
) -> Any:
    """Norm ``ord`` of all elements over ``axis`` (one, several, or all) as one vector."""
    a, order = floating(b, x), _order(ord)
    return _vector(a, order, axes_of(axis, a.ndim, "vector_norm"), keep=flag(keepdims, "keepdims"))


@macro("linalg.matrix_norm", "matrix_norm")
def matrix_norm(b: Builder, x: Any, keepdims: Static = False, ord: Static = "fro") -> Any:
    """Norm ``ord`` of each matrix in the last two axes."""
    return norm(b, x, ord, (-2, -1), keepdims)


def _order(ord: Any) -> Any:
    named = {"inf": math.inf, "-inf": -math.inf, "euclidean": None}
    if isinstance(ord, str) and (ord in named or ord in ("fro", "nuc")):
        return named.get(ord, ord)
    if ord is None or (isinstance(ord, int | float) and not isinstance(ord, bool)):
        return ord
    raise BadArgument(
        f"norm does not know ord {describe(ord)}", hint='a number, "inf", "-inf", "fro" or "nuc"'
    )


def _vector(x: Var, order: Any, axes: tuple[int, ...], *, keep: bool) -> Var:
    b = x.builder
    if order in (None, 2):
        return Norm.over(x, axes, keepdims=keep)
    if isinstance(order, str):
        raise BadArgument(f"the norm {order} is of matrices", hint="give two axes")
    if order == 0:
        nonzero = NotEqual()(x, x.constant(0))
        return b.cast(Sum.over(nonzero, axes, keepdims=keep), real_of(x.dtype))
    size = Absolute()(x)
    if abs(order) == math.inf:
        return (Max if order > 0 else Min).over(size, axes, keepdims=keep)
    if order == 1:
        return Sum.over(size, axes, keepdims=keep)
    zero, one = size.constant(0), size.constant(1)
    exponent = size.constant(order)
    if order < 0:
        powers = Power()(size, exponent)
    else:
        powers = abs_power(size if x.dtype.kind == "c" else x, exponent)
    total = Sum.over(powers, axes, keepdims=keep)
    within = NotEqual()(total, zero)
    if order < 0:  # of an element that is 0 so is the norm, and its slopes
        within = within & IsFinite()(total)
    root = Power()(Where()(within, total, one), size.constant(1 / order))
    z = Where()(within, root, zero)
    return ByFormula("length")(z, z)


def _matrix(x: Var, order: Any, axes: tuple[int, ...], *, keep: bool) -> Var:
    rows, columns = axes
    if order in (1, -1, math.inf, -math.inf):
        summed, kept = (rows, columns) if abs(order) == 1 else (columns, rows)
        sums = Sum.over(Absolute()(x), (summed,), keepdims=True)
        z = (Max if order > 0 else Min).over(sums, (kept,))
    elif order in (2, -2, "nuc") and "svdvals" in FUNCTIONS:
        kept_axes = tuple([axis for axis in range(x.ndim) if axis not in axes])
        values = FUNCTIONS["svdvals"].record(x.builder, transpose(x, kept_axes + axes))
        over: type[Reduction] = Sum if order == "nuc" else Max if order == 2 else Min
        z = over.over(values, (values.ndim - 1,))
    else:
        raise BadArgument(f"matrices have no norm {order}", hint='"fro", "nuc", 1, 2, "inf"')
    shape = x.shape
    return reshape(z, with_ones(shape, axes) if keep else without(shape, axes))
