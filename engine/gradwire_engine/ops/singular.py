"""Singular values, and what rests on them: pseudoinverse, least squares, condition, rank."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument, DtypeMismatch, ShapeMismatch
from gradwire_engine.ops.axes import flag
from gradwire_engine.ops.base import Cotangents, Op, Static, macro, register
from gradwire_engine.ops.builder import describe
from gradwire_engine.ops.comparison import Greater
from gradwire_engine.ops.constants import Item
from gradwire_engine.ops.conversion import floating
from gradwire_engine.ops.diagonals import MatrixDiagonal, embedded
from gradwire_engine.ops.linalg import Inv, adjoint
from gradwire_engine.ops.norms import norm, squared_magnitude
from gradwire_engine.ops.products import MatMul
from gradwire_engine.ops.promotion import DTYPES, real_of
from gradwire_engine.ops.reductions import Max, Min, Sum
from gradwire_engine.ops.shape import reshape, unsqueeze
from gradwire_engine.ops.spectral import PairReciprocals
from gradwire_engine.tape import ArrayType, TupleType, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


class OfMatrices(Op):
    """An operation on matrices of any shape in the last two axes."""

    def infer(self, *types: ArrayType) -> Type:
        """Same type, of matrices that LAPACK takes."""
        (a,) = types
        if len(a.shape) < 2:
            raise ShapeMismatch(f"{self.name} needs at least 2 axes, got {a}")
        if a.dtype.char not in "fdFD":
            raise DtypeMismatch(
                f"{self.name} does not take {a.dtype.name}", hint="astype('float32')"
            )
        return a

    def flops(self, result: Type, *types: ArrayType) -> int:
        """Some 20 m n² for each matrix of m rows and n columns."""
        return 20 * types[0].size * min(types[0].shape[-2:])


@register("reduced_svd", public=False)
class Svd(OfMatrices):
    """Singular value decomposition ``a = u s v^H``, a triple.

    Convention: vectors of equal singular values have derivative 0 within their space, and those of
    zero ones do not turn out of it.
    """

    def infer(self, *types: ArrayType) -> Type:
        """As many values and vectors as the shorter side has."""
        super().infer(*types)
        (a,) = types
        *batch, rows, columns = a.shape
        count = min(rows, columns)
        values = ArrayType(real_of(a.dtype), (*batch, count), a.weak)
        left, right = ((*batch, rows, count), (*batch, count, columns))
        return TupleType((a._replace(shape=left), values, a._replace(shape=right)))

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Divide and conquer."""
        return tuple(xp.linalg.svd(operands[0], full_matrices=False))

    def vjp(self, z_bar: Any, z: Var, *operands: Var) -> Cotangents:
        """``a_bar = u m v^H``, and what turns vectors out of the space of ``u`` or ``v``.

        ``m = diag(s_bar) + (skew(u^H u_bar) s + s skew(v^H v_bar)) / (s_j² - s_i²)``.  Source: Wan
        and Zhang, Automatic Differentiation for Complex Valued SVD (2019), eq. 13.
        """
        u_bar, s_bar, vh_bar = z_bar
        u, s, vh = (Item(i)(z) for i in range(3))
        b, k = u.builder, s.shape[-1]
        parts = [] if s_bar is None else [embedded(b.cast(s_bar, u.dtype))]
        outside: list[Var] = []
        if u_bar is not None or vh_bar is not None:
            sums = PairReciprocals(1)(s)
            squares = b.cast(PairReciprocals(-1)(s) * sums, u.dtype)
            halves = MatrixDiagonal(0)(sums)
            inverse = b.cast(halves + halves, u.dtype)
            scale = b.cast(s, u.dtype)
            as_row, as_column = (s.ndim - 1,), (s.ndim,)
        if u_bar is not None:
            product = MatMul()(adjoint(u), u_bar)
            skew = product - adjoint(product)
            parts.append(squares * skew * unsqueeze(scale, as_row))
            if u.dtype.kind == "c":
                parts.append(embedded(MatrixDiagonal(0)(skew) * inverse * 0.5))
            if u.shape[-2] > k:
                beside = (u_bar - MatMul()(u, product)) * unsqueeze(inverse, as_row)
                outside.append(MatMul()(beside, vh))
        if vh_bar is not None:
            product = MatMul()(vh_bar, adjoint(vh))
            skew = adjoint(product) - product
            parts.append(squares * skew * unsqueeze(scale, as_column))
            if vh.shape[-1] > k:
                beside = (vh_bar - MatMul()(product, vh)) * unsqueeze(inverse, as_column)
                outside.append(MatMul()(u, beside))
        inner = parts[0]
        for part in parts[1:]:
            inner = inner + part
        a_bar = MatMul()(MatMul()(u, inner), vh)
        for part in outside:
            a_bar = a_bar + part
        return (a_bar,)


@macro("svd", "linalg.svd")
def svd(
    b: Builder,
    a: Any,
    full_matrices: Static = False,
    compute_uv: Static = True,
    hermitian: Static = False,
) -> Any:
    """Singular value decomposition ``a = u s v^H``: the list ``u``, ``s`` (descending), ``v^H``.

    Shapes: as many columns of ``u`` and rows of ``v^H`` as there are singular values, the minimum
    of rows and columns.  Convention: vectors of equal singular values have derivative 0 within
    their space; their signs (phases) are arbitrary, so only what does not depend on them has a
    meaningful derivative.
    """
    if flag(full_matrices, "full_matrices"):
        raise BadArgument(
            "svd gives as many vectors as singular values",
            hint="full_matrices=False; the other vectors are arbitrary and have no derivative",
        )
    flag(hermitian, "hermitian")
    if not flag(compute_uv, "compute_uv"):
        return SvdVals.record(b, a)
    triple = Svd()(floating(b, a))
    return [Item(i)(triple) for i in range(3)]


@register("svdvals", "linalg.svdvals")
class SvdVals(OfMatrices):
    """Singular values of each matrix, descending.

    Convention: the derivative is ``u diag(z_bar) v^H`` with the vectors that the factorisation
    chose, also for equal and for zero singular values.
    """

    @classmethod
    def record(cls, b: Builder, x: Any) -> Any:
        """Record on floating or complex matrices."""
        return cls()(floating(b, x))

    def infer(self, *types: ArrayType) -> Type:
        """As many as the shorter side has."""
        super().infer(*types)
        (a,) = types
        return ArrayType(real_of(a.dtype), (*a.shape[:-2], min(a.shape[-2:])), a.weak)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Bidiagonal form, and its singular values."""
        return xp.linalg.svd(operands[0], compute_uv=False)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``a_bar = u diag(z_bar) v^H``."""
        triple = Svd()(operands[0])
        u, vh = Item(0)(triple), Item(2)(triple)
        scaled = u * unsqueeze(u.builder.cast(z_bar, u.dtype), (u.ndim - 2,))
        return (MatMul()(scaled, vh),)


@register("pseudoinverse", public=False)
class Pinv(OfMatrices):
    """Pseudoinverse ``z = a^+``; singular values of at most ``rcond`` times the largest count as 0.

    Source: Golub and Pereyra, The Differentiation of Pseudo-Inverses (1973), eq. 4.12.
    """

    rcond: float

    def infer(self, *types: ArrayType) -> Type:
        """Rows and columns exchanged."""
        super().infer(*types)
        (a,) = types
        return a._replace(shape=(*a.shape[:-2], a.shape[-1], a.shape[-2]))

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Singular value decomposition."""
        (a,) = operands
        return xp.asarray(xp.linalg.pinv(a, self.rcond), dtype=a.dtype)

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
