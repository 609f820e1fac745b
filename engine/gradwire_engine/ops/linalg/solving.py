"""Linear algebra: solving with and inverting matrices in the last two axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import DtypeMismatch, ShapeMismatch
from gradwire_engine.ops.arrays.diagonals import Tril, Triu
from gradwire_engine.ops.arrays.shape import swap_last
from gradwire_engine.ops.base import Cotangents, Op, register
from gradwire_engine.ops.batching import over_stacks
from gradwire_engine.ops.constants import Item
from gradwire_engine.ops.conversion import floating
from gradwire_engine.ops.elementwise import broadcast_shapes, conj
from gradwire_engine.ops.linalg.products import MatMul, times
from gradwire_engine.tape import ArrayType, TupleType, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


def adjoint(x: Var) -> Var:
    """``x^H``: the conjugate transpose of each matrix."""
    return conj(swap_last(x))


class OfSquare(Op):
    """An operation on square matrices in the last two axes."""

    batch = over_stacks

    @classmethod
    def record(cls, b: Builder, a: Any) -> Any:
        """Record on floating or complex matrices; of several results all items."""
        z = cls()(floating(b, a))
        kind: Type = z.type
        count = len(kind.items) if isinstance(kind, TupleType) else 0
        return [Item(i)(z) for i in range(count)] or z

    def infer(self, *types: ArrayType) -> Type:
        """Same type, of square matrices that LAPACK takes."""
        shape = types[0].shape
        if len(shape) < 2 or shape[-1] != shape[-2]:
            raise ShapeMismatch(f"{self.name} needs square matrices, got shape {shape}")
        if types[0].dtype.char not in "fdFD":
            raise DtypeMismatch(
                f"{self.name} does not take {types[0].dtype.name}", hint="astype('float32')"
            )
        return types[0]

    def flops(self, result: Type, *types: ArrayType) -> int:
        """A small multiple of n³ for each matrix."""
        return 2 * types[0].size * types[0].shape[-1]


@register("inv", "linalg.inv", "matrix_inverse", "linalg.matrix_inverse")
class Inv(OfSquare):
    """Inverse of each matrix: ``z = a^-1``.  Raises where a matrix is singular.

    Source: Giles, Collected Matrix Derivative Results (2008), 2.2.3.
    """

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """LU factorisation."""
        return xp.linalg.inv(operands[0])

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``a_bar = -z^H z_bar z^H``."""
        z_h = adjoint(z)
        return (-MatMul()(MatMul()(z_h, z_bar), z_h),)


class Solution(OfSquare):
    """Solution of linear equations with a stack of square matrices ``a`` and matrices ``b``."""

    def infer(self, *types: ArrayType) -> Type:
        """The right-hand sides' shape; stacks are broadcast."""
        a, b = types
        super().infer(a)
        if len(b.shape) < 2 or b.shape[-2] != a.shape[-1]:
            raise ShapeMismatch(
                f"{self.name} needs right-hand sides of {a.shape[-1]} rows, "
                f"got {a.shape} and {b.shape}",
                hint="stacks of vectors need a last axis of length 1",
            )
        batch = broadcast_shapes(a.shape[:-2], b.shape[:-2])
        return ArrayType(b.dtype, (*batch, *b.shape[-2:]), a.weak and b.weak)


@register("solution", public=False)
class Solve(Solution):
    """Solution of linear equations for matrices on the right: ``z = a^-1 b``.

    Source: Giles, Collected Matrix Derivative Results (2008), 2.3.1.
    """

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """LU factorisation."""
        return xp.linalg.solve(*operands)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``b_bar = a^-H z_bar``, ``a_bar = -b_bar z^H``."""
        b_bar = self(adjoint(operands[0]), z_bar)
        return -times(b_bar, adjoint(z)), b_bar

    def flops(self, result: Type, *types: ArrayType) -> int:
        """Factors, and two triangles solved with."""
        assert isinstance(result, ArrayType)
        n = types[0].shape[-1]
        return 2 * types[0].size * n // 3 + 2 * result.size * n


@register("triangular_solution", public=False)
class SolveTriangular(Solution):
    """Solution with one triangle of each matrix, or its adjoint: ``z = a^-1 b`` or ``a^-H b``.

    The other triangle is not read, nor the diagonal if ``unit``, where it counts as 1.
    """

    workspace = 2.0
    lower: bool
    adjoint: bool = False
    unit: bool = False

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Substitution."""
        how = {"lower": self.lower, "adjoint": self.adjoint, "unit": self.unit}
        return xp.solve_triangular(*operands, **how)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``b_bar = a^-H z_bar``, ``a_bar`` the triangle of ``-b_bar z^H``, or so with ``a^H``."""
        b_bar = SolveTriangular(self.lower, not self.adjoint, self.unit)(operands[0], z_bar)
        x, y = (z, b_bar) if self.adjoint else (b_bar, z)
        triangle = Tril(-self.unit) if self.lower else Triu(+self.unit)
        return -triangle(times(x, adjoint(y))), b_bar

    def flops(self, result: Type, *types: ArrayType) -> int:
        """A product and a sum for each element of the triangle and each right-hand side."""
        assert isinstance(result, ArrayType)
        return result.size * types[0].shape[-1]
