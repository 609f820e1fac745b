"""Factorisations of matrices into orthogonal and triangular ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.ops.arrays.diagonals import Tril, Triu
from gradwire_engine.ops.arrays.joining import Concatenate
from gradwire_engine.ops.arrays.slicing import sliced
from gradwire_engine.ops.axes import flag
from gradwire_engine.ops.base import Cotangents, Static, register
from gradwire_engine.ops.constants import Item
from gradwire_engine.ops.conversion import floating
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.linalg.singular import OfMatrices
from gradwire_engine.ops.linalg.solving import SolveTriangular, adjoint
from gradwire_engine.ops.promotion import real_of
from gradwire_engine.tape import FLOATING, ArrayType, TupleType, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


@register("reduced_qr", public=False)
class Qr(OfMatrices):
    """Orthonormal columns ``q`` and upper triangular ``r``, a pair: ``a = q r``.

    Source: Walter and Lehmann, Algorithmic Differentiation of Linear Algebra Functions (2012);
    for complex matrices Roberts and Roberts, QR and LQ Decomposition Matrix Backpropagation (2020).
    """

    workspace = 1.0

    def infer(self, *types: ArrayType) -> Type:
        """As many columns of ``q`` as the shorter side has."""
        super().infer(*types)
        (a,) = types
        *batch, rows, columns = a.shape
        count = min(rows, columns)
        shapes = ((*batch, rows, count), (*batch, count, columns))
        return TupleType(tuple([a._replace(shape=shape) for shape in shapes]))

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Householder reflections."""
        return tuple(xp.linalg.qr(operands[0]))

    def vjp(self, z_bar: Any, z: Var, *operands: Var) -> Cotangents:
        """``a_bar = (q_bar + q h) r^-H``, ``h`` Hermitian as the upper ``r_bar r^H - q^H q_bar``.

        Of a wide matrix, columns beyond the square are ``a2 = q r2``: ``q_bar`` gets
        ``a2 r2_bar^H``, and ``a2_bar = q r2_bar``.
        """
        (a,) = operands
        q_bar, r_bar = z_bar
        q, r = Item(0)(z), Item(1)(z)
        of, b, last = MatMul(), a.builder, a.ndim - 1
        rows, columns = a.shape[-2:]
        if q_bar is None:
            q_bar = b.full(0, ArrayType(q.dtype, q.shape))
        if r_bar is None:
            r_bar = b.full(0, ArrayType(r.dtype, r.shape))
        rest = None
        if columns > rows:
            r2_bar = sliced(r_bar, last, rows, columns)
            rest = of(q, r2_bar)
            q_bar = q_bar + of(sliced(a, last, rows, columns), adjoint(r2_bar))
            r, r_bar = (sliced(x, last, 0, rows) for x in (r, r_bar))
        upper = of(r_bar, adjoint(r)) - of(adjoint(q), q_bar)
        half = (Triu()(upper) + Triu(1)(upper)) * 0.5
        total = q_bar + of(q, half + adjoint(half))
        a_bar = adjoint(SolveTriangular(lower=False)(r, adjoint(total)))
        return (a_bar if rest is None else Concatenate(last)(a_bar, rest),)

    def flops(self, result: Type, *types: ArrayType) -> int:
        """Some 4 m n² for each matrix of m rows and n columns."""
        return 4 * types[0].size * min(types[0].shape[-2:])


@register("lu", "linalg.lu")
class Lu(OfMatrices):
    """Permutation, unit lower and upper triangular matrix, a triple: ``a = p l u``.

    With ``permute_l`` the pair ``p l`` and ``u``.  Rows are permuted for the largest pivots; the
    permutation carries no derivative, which needs that the first columns, as many as there are
    rows, are regular.  Source: Walter and Lehmann, Algorithmic Differentiation of Linear Algebra
    Functions (2012).
    """

    workspace = 2.0

    @classmethod
    def record(cls, b: Builder, a: Any, permute_l: Static = False) -> Any:
        """Record the triple and its items."""
        triple = cls()(floating(b, a))
        p, lower, upper = (Item(i)(triple) for i in range(3))
        if flag(permute_l, "permute_l"):
            return [MatMul()(b.cast(p, lower.dtype), lower), upper]
        return [p, lower, upper]

    def infer(self, *types: ArrayType) -> Type:
        """A square real matrix, and as many columns and rows as the shorter side has."""
        super().infer(*types)
        (a,) = types
        *batch, rows, columns = a.shape
        count = min(rows, columns)
        shapes = ((*batch, rows, rows), (*batch, rows, count), (*batch, count, columns))
        p, lower, upper = (a._replace(shape=shape) for shape in shapes)
        return TupleType((p._replace(dtype=real_of(a.dtype)), lower, upper))

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Gaussian elimination with partial pivoting."""
        (a,) = operands
        kind = self.infer(ArrayType(a.dtype, a.shape))
        assert isinstance(kind, TupleType)
        parts = [xp.empty(item.shape, item.dtype) for item in kind.items]
        parts[0][...] = xp.eye(a.shape[-2])
        solve = xp.scipy_linalg.lu
        for place in xp.ndindex(*a.shape[:-2]) if min(a.shape[-2:]) else ():
            for part, found in zip(parts, solve(a[place], check_finite=False), strict=True):
                part[place] = found.real if part.dtype.kind in FLOATING else found
        return tuple(parts)

    def vjp(self, z_bar: Any, z: Var, *operands: Var) -> Cotangents:
        """``a_bar = p l^-H (lower(l^H l_bar) + upper(u_bar u^H)) u^-H``, the lower one strictly.

        That is of the square part.  Rows below it are ``l2 = a2 u^-1``, columns beside it
        ``u2 = l^-1 a2``: their cotangents go to ``a2`` and, negative, to ``u`` or ``l``.
        """
        _, l_bar, u_bar = z_bar
        p, lower, upper = (Item(i)(z) for i in range(3))
        of, b, ndim = MatMul(), p.builder, p.ndim
        l_bar = b.full(0, ArrayType(lower.dtype, lower.shape)) if l_bar is None else l_bar
        u_bar = b.full(0, ArrayType(upper.dtype, upper.shape)) if u_bar is None else u_bar
        rows, columns, k = lower.shape[-2], upper.shape[-1], lower.shape[-1]
        through_l = SolveTriangular(lower=True, adjoint=True, unit=True)
        rest = None
        if rows > k:
            below, below_bar = (sliced(x, ndim - 2, k, rows) for x in (lower, l_bar))
            lower, l_bar = (sliced(x, ndim - 2, 0, k) for x in (lower, l_bar))
            rest = adjoint(SolveTriangular(lower=False)(upper, adjoint(below_bar)))
            u_bar = u_bar - of(adjoint(below), rest)
        if columns > k:
            beside, beside_bar = (sliced(x, ndim - 1, k, columns) for x in (upper, u_bar))
            upper, u_bar = (sliced(x, ndim - 1, 0, k) for x in (upper, u_bar))
            rest = through_l(lower, beside_bar)
            l_bar = l_bar - of(rest, adjoint(beside))
        inner = Tril(-1)(of(adjoint(lower), l_bar)) + Triu()(of(u_bar, adjoint(upper)))
        left = through_l(lower, inner)
        a_bar = adjoint(SolveTriangular(lower=False)(upper, adjoint(left)))
        if rest is not None:
            a_bar = Concatenate(ndim - 2 if rows > k else ndim - 1)(a_bar, rest)
        return (of(b.cast(p, a_bar.dtype), a_bar),)

    def flops(self, result: Type, *types: ArrayType) -> int:
        """A product and a sum for each element and pivot, fewer as it goes on."""
        return types[0].size * min(types[0].shape[-2:])
