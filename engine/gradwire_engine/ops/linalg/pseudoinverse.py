"""Functions that rest on singular values: pseudoinverse, least squares, rank, condition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.arrays.shape import reshape, unsqueeze
from gradwire_engine.ops.axes import flag
from gradwire_engine.ops.base import Cotangents, Static, macro, register
from gradwire_engine.ops.builder import describe
from gradwire_engine.ops.conversion import floating
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.linalg.singular import OfMatrices, SvdVals
from gradwire_engine.ops.linalg.solving import Inv, adjoint
from gradwire_engine.ops.linalg.spectral import where_it_converges
from gradwire_engine.ops.pointwise.comparison import Greater
from gradwire_engine.ops.promotion import DTYPES, real_of
from gradwire_engine.ops.reductions.norms import norm, squared_magnitude
from gradwire_engine.ops.reductions.reductions import Max, Min, Sum
from gradwire_engine.tape import ArrayType, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


@register("pseudoinverse", public=False)
class Pinv(OfMatrices):
    """Pseudoinverse ``z = a^+``; singular values of at most ``rcond`` times the largest count as 0.

    Source: Golub and Pereyra, The Differentiation of Pseudo-Inverses (1973), eq. 4.12.
    """

    workspace = 5.2
    rcond: float

    def infer(self, *types: ArrayType) -> Type:
        """Rows and columns exchanged."""
        super().infer(*types)
        (a,) = types
        return a._replace(shape=(*a.shape[:-2], a.shape[-1], a.shape[-2]))

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Singular value decomposition."""
        (a,) = operands
        (z,) = where_it_converges(xp, lambda m: (xp.linalg.pinv(m, self.rcond),), a)
        return xp.asarray(z, dtype=a.dtype)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``-z^H z_bar z^H + (1 - a z) z_bar^H z z^H + z^H z z_bar^H (1 - z a)``."""
        (a,) = operands
        z_h, bar_h, of = adjoint(z), adjoint(z_bar), MatMul()
        a_bar = -of(of(z_h, z_bar), z_h)
        if a.shape[-2] > 0 < a.shape[-1]:
            left = of(of(bar_h, z), z_h)
            right = of(of(z_h, z), bar_h)
            a_bar = a_bar + (left - of(a, of(z, left))) + (right - of(of(right, z), a))
        return (a_bar,)


@macro("pinv", "linalg.pinv")
def pinv(b: Builder, a: Any, rcond: Static = None, hermitian: Static = False) -> Any:
    """Pseudoinverse of each matrix; small singular values, up to ``rcond`` of the largest, count 0.

    Convention: the derivative where the rank stays as it is, right also where it is deficient.
    """
    flag(hermitian, "hermitian")
    x = floating(b, a)
    OfMatrices.infer(Pinv(0.0), x.type)
    return Pinv(_cutoff(rcond, x))(x)


def _cutoff(rcond: Any, x: Var) -> float:
    """``rcond``, by default what rounding makes of a zero."""
    if rcond is None:
        return float(max(x.shape[-2:]) * _epsilon(x))
    if isinstance(rcond, int | float) and not isinstance(rcond, bool):
        return float(rcond)
    raise BadArgument(f"rcond must be a known number, got {describe(rcond)}")


def _epsilon(x: Var) -> float:
    return 2.0**-23 if real_of(x.dtype) == DTYPES["float32"] else 2.0**-52


@macro("lstsq", "linalg.lstsq")
def lstsq(builder: Builder, a: Any, b: Any, rcond: Static = None) -> Any:
    """Least squares: the list ``x``, squared residuals, rank, singular values.

    ``x = a^+ b`` is the shortest that minimises ``|b - a x|``.  Shapes: ``b`` is a vector or a
    matrix; residuals of each of its columns, of none unless there are more rows than columns.
    """
    matrix, right = (floating(builder, x) for x in builder.promote(a, b))
    if matrix.ndim != 2 or right.ndim not in (1, 2) or right.shape[0] != matrix.shape[0]:
        raise ShapeMismatch(
            f"lstsq needs a matrix and as many right-hand rows, got {matrix.type}, {right.type}",
            hint="pinv(a) @ b takes stacks of matrices",
        )
    inverse = pinv(builder, matrix, rcond)
    x = MatMul()(inverse, right)
    values = SvdVals()(matrix)
    rows, columns = matrix.shape
    rest = squared_magnitude(right - MatMul()(matrix, x))
    count = 1 if right.ndim == 1 else right.shape[1]
    if rows > columns:
        residuals = reshape(Sum((0,))(rest), (count,))
    else:
        residuals = builder.full(0, ArrayType(rest.dtype, (0,)))
    rank = _rank(values, _cutoff(rcond, matrix))
    return [x, residuals, rank, values]


def _rank(values: Var, cutoff: float) -> Var:
    b, last = values.builder, values.ndim - 1
    if not values.shape[-1]:
        return b.full(0, ArrayType(DTYPES["int64"], values.shape[:-1]))
    least = unsqueeze(Max((last,))(values) * cutoff, (last,))
    return Sum((last,))(Greater()(values, least))


@macro("matrix_rank", "linalg.matrix_rank", differentiable=False)
def matrix_rank(b: Builder, A: Any, tol: Any = None, rtol: Static = None) -> Any:
    """Rank of each matrix: how many singular values exceed ``tol``, or ``rtol`` of the largest."""
    x = floating(b, A)
    values = SvdVals()(x)
    if tol is None:
        return _rank(values, _cutoff(rtol, x))
    if rtol is not None:
        raise BadArgument("tol and rtol exclude each other")
    least = b.cast(b.array(tol), values.dtype)
    return Sum((values.ndim - 1,))(Greater()(values, unsqueeze(least, (least.ndim,))))


@macro("cond", "linalg.cond")
def cond(b: Builder, x: Any, p: Static = None) -> Any:
    """Condition number of each matrix: ``|x| |x^-1|`` in the norm ``p``, 2 by default."""
    a = floating(b, x)
    if p in (None, 2, -2):
        values = SvdVals()(a)
        last = (values.ndim - 1,)
        largest, smallest = Max(last)(values), Min(last)(values)
        return smallest / largest if p == -2 else largest / smallest
    inverse = Inv()(a)
    return norm(b, a, p, (-2, -1)) * norm(b, inverse, p, (-2, -1))
