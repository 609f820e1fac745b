"""Linear algebra: solving with and inverting matrices in the last two axes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument, DtypeMismatch, ShapeMismatch
from gradwire_engine.ops.arrays.diagonals import Tril, Triu, embedded
from gradwire_engine.ops.arrays.shape import reshape, swap_last, transpose, unsqueeze
from gradwire_engine.ops.axes import axes_of, flag, integer
from gradwire_engine.ops.base import Cotangents, Op, Static, macro, register
from gradwire_engine.ops.batching import over_stacks
from gradwire_engine.ops.builder import describe
from gradwire_engine.ops.conversion import floating
from gradwire_engine.ops.elementwise import broadcast_shapes, conj
from gradwire_engine.ops.linalg.products import MatMul, squeezed, times
from gradwire_engine.tape import ArrayType, Type

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
        """Record on floating or complex matrices."""
        return cls()(floating(b, a))

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

    def of(self, b: Builder, a: Any, rhs: Any) -> Var:
        """Record for a vector, a matrix or a stack of matrices on the right."""
        matrix, right = (floating(b, x) for x in b.promote(a, rhs))
        if right.ndim == 1:
            return squeezed(self(matrix, unsqueeze(right, (1,))), -1)
        return self(matrix, right)


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


@macro("solve", "linalg.solve")
def solve(builder: Builder, a: Any, b: Any) -> Any:
    """Solution of linear equations: ``z = a^-1 b``.  Raises where a matrix is singular.

    Shapes: ``b`` is a vector if it has one axis, else a matrix or a stack of them.
    """
    return Solve().of(builder, a, b)


@macro("tensorsolve", "linalg.tensorsolve")
def tensorsolve(builder: Builder, a: Any, b: Any, axes: Static = None) -> Any:
    """Solution of ``tensordot(a, z, z.ndim) = b``, its axes the last of ``a``.

    ``axes`` of ``a`` are moved to the end first.
    """
    tensor, right = (floating(builder, x) for x in builder.promote(a, b))
    if axes is not None:
        moved = axes_of(axes, tensor.ndim, "tensorsolve")
        kept = [axis for axis in range(tensor.ndim) if axis not in moved]
        tensor = transpose(tensor, (*kept, *moved))
    shape, size = tensor.shape[right.ndim :], math.prod(right.shape)
    if math.prod(tensor.shape[: right.ndim]) != size or math.prod(shape) != size:
        raise ShapeMismatch(f"tensorsolve needs a square tensor, got {tensor.shape}, {right.shape}")
    matrix, column = reshape(tensor, (size, size)), reshape(right, (size, 1))
    return reshape(Solve()(matrix, column), shape)


@macro("tensorinv", "linalg.tensorinv")
def tensorinv(b: Builder, a: Any, ind: Static = 2) -> Any:
    """Inverse of the tensor ``a`` as a map from its last axes to its first ``ind``."""
    x, count = floating(b, a), integer(ind, "ind")
    if count < 1:
        raise BadArgument(f"ind must be at least 1, got {count}")
    first, last = x.shape[:count], x.shape[count:]
    size = math.prod(first)
    if math.prod(last) != size:
        raise ShapeMismatch(f"tensorinv needs a square tensor, got {x.shape} cut at {count}")
    return reshape(Inv()(reshape(x, (size, size))), (*last, *first))


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


@macro("solve_triangular", "linalg.solve_triangular")
def solve_triangular(
    builder: Builder,
    a: Any,
    b: Any,
    trans: Static = 0,
    lower: Static = False,
    unit_diagonal: Any = False,
) -> Any:
    """Solution with the upper (or ``lower``) triangle of ``a``; the other one is not read.

    ``trans`` 0 is ``a z = b``, 1 is ``a^T z = b``, 2 is ``a^H z = b`` (or "N", "T", "C").
    """
    kind = {"N": 0, "T": 1, "C": 2}.get(trans, trans) if isinstance(trans, str) else trans
    if kind not in (0, 1, 2):
        raise BadArgument(f"trans must be 0, 1 or 2, got {describe(trans)}")
    op = SolveTriangular(flag(lower, "lower"), bool(kind), flag(unit_diagonal, "unit_diagonal"))
    if kind != 1:
        return op.of(builder, a, b)
    return conj(op.of(builder, a, conj(builder.promote(a, b)[1])))


@macro("matrix_power", "linalg.matrix_power")
def matrix_power(b: Builder, a: Any, n: Static) -> Any:
    """Each matrix multiplied by itself: ``z = a^n``; of the inverse for negative ``n``."""
    x, exponent = b.array(a), integer(n, "n")
    if x.ndim < 2 or x.type.shape[-1] != x.type.shape[-2]:
        raise ShapeMismatch(f"matrix_power needs square matrices, got shape {x.type.shape}")
    if exponent < 0:
        x, exponent = Inv.record(b, x), -exponent
    z = None
    while exponent:
        if exponent % 2:
            z = x if z is None else MatMul()(z, x)
        exponent //= 2
        x = MatMul()(x, x) if exponent else x
    if z is None:
        return embedded(b.full(1, x.type._replace(shape=x.type.shape[:-1])))
    return z
