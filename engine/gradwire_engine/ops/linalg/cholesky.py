"""Cholesky factors, and what they and their derivatives solve for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.ops.arrays.diagonals import Tril
from gradwire_engine.ops.axes import flag
from gradwire_engine.ops.base import Cotangents, register
from gradwire_engine.ops.conversion import floating
from gradwire_engine.ops.elementwise import broadcast_shapes
from gradwire_engine.ops.linalg.products import MatMul, times
from gradwire_engine.ops.linalg.solving import OfSquare, SolveTriangular, adjoint
from gradwire_engine.tape import ArrayType, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


@register("congruence", public=False)
class Congruence(OfSquare):
    """``z = a^-H h a^-1`` of a lower triangular ``a`` and a Hermitian ``h``, which ``z`` is, too.

    Only the lower triangles of both are read, and of the diagonal of ``h`` the real part.
    """

    workspace = 3.0

    def infer(self, *types: ArrayType) -> Type:
        """The type of ``h``; stacks are broadcast."""
        a, h = types
        super().infer(a)
        stacks = broadcast_shapes(a.shape[:-2], h.shape[:-2])
        return h._replace(shape=(*stacks, *h.shape[-2:]))

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Substitute twice."""
        return xp.congruence(*operands)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``a_bar`` is the lower triangle of ``-z s a^-H``, where ``s = z_bar + z_bar^H``.

        ``h_bar`` is that of ``a^-1 s a^-H``, with half the diagonal.
        """
        a, solve = operands[0], SolveTriangular(lower=True)
        right = adjoint(solve(a, z_bar + adjoint(z_bar)))
        through = solve(a, right)
        half = (Tril()(through) + Tril(-1)(through)) * 0.5
        return -Tril()(times(z, right)), half

    def flops(self, result: Type, *types: ArrayType) -> int:
        """Two triangles solved with."""
        assert isinstance(result, ArrayType)
        return 2 * result.size * types[0].shape[-1]


@register("cholesky", "linalg.cholesky")
class Cholesky(OfSquare):
    """Lower triangular ``z`` with ``a = z z^H`` for each Hermitian positive definite matrix.

    Only the lower triangle of ``a`` is read; the derivative is symmetrised.  A matrix that is not
    positive definite gives NaN.  Source: Murray, Differentiation of the Cholesky decomposition
    (2016), eq. 10.
    """

    @classmethod
    def record(cls, b: Builder, a: Any, upper: Any = False) -> Any:
        """Record; for ``upper`` the conjugate transposes of both, so that that triangle is read."""
        x = floating(b, a)
        return adjoint(cls()(adjoint(x))) if flag(upper, "upper") else cls()(x)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Factor; NaN where that fails."""
        (a,) = operands
        try:
            return xp.linalg.cholesky(a)
        except xp.linalg.LinAlgError:
            z = xp.full(a.shape, xp.nan, a.dtype)
            if a.ndim > 2:
                for i, matrix in enumerate(a):
                    z[i] = self.kernel(xp, matrix)
            return z

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``a_bar = z^-H p z^-1 / 2``, of a Hermitian ``p`` with the triangle of ``z^H z_bar``."""
        return (Congruence()(z, MatMul()(adjoint(z), z_bar)) * 0.5,)

    def flops(self, result: Type, *types: ArrayType) -> int:
        """Half of an LU factorisation."""
        return types[0].size * types[0].shape[-1] // 3
