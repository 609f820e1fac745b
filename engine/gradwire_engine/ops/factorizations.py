"""Factorisations of matrices into orthogonal and triangular ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument
from gradwire_engine.ops.axes import flag
from gradwire_engine.ops.base import Cotangents, Static, macro, register
from gradwire_engine.ops.constants import Item
from gradwire_engine.ops.conversion import floating
from gradwire_engine.ops.diagonals import Tril, Triu
from gradwire_engine.ops.joining import Concatenate
from gradwire_engine.ops.linalg import Cholesky, OfSquare, SolveTriangular, adjoint
from gradwire_engine.ops.products import MatMul
from gradwire_engine.ops.promotion import real_of
from gradwire_engine.ops.singular import OfMatrices
from gradwire_engine.ops.slicing import sliced
from gradwire_engine.tape import ArrayType, TupleType, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


@register("reduced_qr", public=False)
class Qr(OfMatrices):
    """Orthonormal columns ``q`` and upper triangular ``r``, a pair: ``a = q r``.

    Source: Walter and Lehmann, Algorithmic Differentiation of Linear Algebra Functions (2012);
    for complex matrices Roberts and Roberts, QR and LQ Decomposition Matrix Backpropagation (2020).
    """

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


@macro("qr", "linalg.qr")
def qr(b: Builder, a: Any, mode: Static = "reduced") -> Any:
    """Orthonormal columns ``q`` and upper triangular ``r``: the list of both, ``a = q r``.

    ``mode`` "r" gives ``r`` alone.  The derivative needs independent columns, of a wide matrix the
    first ones; it is not finite, or raises, elsewhere.
    """
    if mode not in ("reduced", "r"):
        raise BadArgument(
            "qr knows the modes 'reduced' and 'r'",
            hint="the other columns of a complete q are arbitrary and have no derivative",
        )
    pair = Qr()(floating(b, a))
    return Item(1)(pair) if mode == "r" else [Item(0)(pair), Item(1)(pair)]


@register("lu", "linalg.lu")
class Lu(OfSquare):
    """Permutation, unit lower and upper triangular matrix, a triple: ``a = p l u``.

    Rows are permuted for the largest pivots; the permutation carries no derivative, which needs
    regular matrices.  Source: Walter and Lehmann, Algorithmic Differentiation of Linear Algebra
    Functions (2012).
    """

    @classmethod
    def record(cls, b: Builder, a: Any) -> Any:
        """Record the triple and its items."""
        triple = cls()(floating(b, a))
        return [Item(i)(triple) for i in range(3)]

    def infer(self, *types: ArrayType) -> Type:
        """Three square matrices, the first real."""
        super().infer(*types)
        (a,) = types
        return TupleType((a._replace(dtype=real_of(a.dtype)), a, a))

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Gaussian elimination with partial pivoting."""
        (a,) = operands
        parts: Any = (a, a, a)
        if a.size:
            matrices = a.reshape(-1, *a.shape[-2:])
            each = [xp.scipy_linalg.lu(m, check_finite=False) for m in matrices]
            parts = [xp.stack(part).reshape(a.shape) for part in zip(*each, strict=True)]
        p, *triangles = parts
        return xp.asarray(p.real, dtype=real_of(a.dtype)), *triangles

    def vjp(self, z_bar: Any, z: Var, *operands: Var) -> Cotangents:
        """``a_bar = p l^-H (lower(l^H l_bar) + upper(u_bar u^H)) u^-H``, the lower one strictly."""
        _, l_bar, u_bar = z_bar
        p, lower, upper = (Item(i)(z) for i in range(3))
        of = MatMul()
        inner = None if l_bar is None else Tril(-1)(of(adjoint(lower), l_bar))
        if u_bar is not None:
            part = Triu()(of(u_bar, adjoint(upper)))
            inner = part if inner is None else inner + part
        if inner is None:
            return (None,)
        left = SolveTriangular(lower=True, adjoint=True, unit=True)(lower, inner)
        right = adjoint(SolveTriangular(lower=False)(upper, adjoint(left)))
        return (of(p.builder.cast(p, right.dtype), right),)


@macro("cho_factor", "linalg.cho_factor")
def cho_factor(b: Builder, a: Any, lower: Static = False) -> Any:
    """Cholesky factor of each matrix, and whether it is lower: the pair that cho_solve takes.

    The factor is upper by default; its other triangle is zero.
    """
    below = flag(lower, "lower")
    return [Cholesky.record(b, a, upper=not below), below]
