"""Functions of square matrices: exponential, logarithm, square root; Sylvester's equation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import ShapeMismatch
from gradwire_engine.ops.arrays.joining import Concatenate
from gradwire_engine.ops.arrays.slicing import Slice
from gradwire_engine.ops.base import Cotangents, register
from gradwire_engine.ops.elementwise import broadcast_shapes
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.linalg.solving import OfSquare, adjoint
from gradwire_engine.tape import ArrayType, Type

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwire_engine.ops.builder import Var


def for_each(xp: Any, function: Callable[..., Any], *operands: Any) -> Any:
    """``function`` of each matrix in stacks, broadcast; in the dtype of the last operand.

    NaN where a real matrix has a complex result, and where SciPy refuses elements, not finite.
    """
    last = operands[-1]
    batch = xp.broadcast_shapes(*[x.shape[:-2] for x in operands])
    stacks = [xp.broadcast_to(x, batch + x.shape[-2:]) for x in operands]
    z = xp.empty(batch + last.shape[-2:], last.dtype)
    if not z.size:
        return z
    for place in xp.ndindex(*batch):
        try:
            found = xp.asarray(function(*[x[place] for x in stacks]))
        except ValueError:
            found = xp.asarray(xp.nan)
        if found.dtype.kind == "c" != z.dtype.kind:
            found = xp.where(xp.any(found.imag), xp.nan, found.real)
        z[place] = found
    return z


class MatrixFunction(OfSquare):
    """A power series of square matrices with real coefficients."""

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``a_bar``: the adjoint of the derivative at ``a`` along the adjoint of ``z_bar``.

        It is that at ``a^H`` along ``z_bar``, except where ``a`` is on the logarithm's branch cut.
        """
        return (adjoint(self.along(operands[0], adjoint(z_bar))),)

    def along(self, a: Var, direction: Var) -> Var:
        """The derivative at ``a`` along ``direction``.

        It is the upper right block of the function of ``[[a, direction], [0, a]]``.  Source:
        Higham, Functions of Matrices (2008), theorem 3.6.
        """
        b, n, ndim = a.builder, a.shape[-1], a.ndim
        beside, below = Concatenate(ndim - 1), Concatenate(ndim - 2)
        zero = b.full(0, ArrayType(a.dtype, a.shape))
        z = self(below(beside(a, direction), beside(zero, a)))
        starts = (*[0] * (ndim - 1), n)
        return Slice(starts, (*a.shape[:-1], 2 * n))(z)

    def flops(self, result: Type, *types: ArrayType) -> int:
        """Some 30 n³ for each matrix."""
        return 30 * types[0].size * types[0].shape[-1]


@register("expm", "linalg.expm")
class Expm(MatrixFunction):
    """Exponential of each square matrix: ``z = sum_k a^k / k!``.

    Source: Al-Mohy and Higham, Computing the Fréchet Derivative of the Matrix Exponential (2009).
    """

    workspace = 5.0

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Scaling and squaring."""
        return xp.expm(*operands)


@register("logm", "linalg.logm")
class Logm(MatrixFunction):
    """Principal logarithm of each square matrix: ``exp z = a``.

    NaN where it is complex but ``a`` real: ``astype('complex128')`` has it.  Source: Higham,
    Functions of Matrices (2008), chapter 11.
    """

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Inverse scaling and squaring, in double precision for its estimate of the error."""
        (a,) = operands
        double = xp.asarray(a, dtype=xp.result_type(a.dtype, xp.float64))
        return xp.asarray(for_each(xp, xp.scipy_linalg.logm, double), dtype=a.dtype)


@register("sqrtm", "linalg.sqrtm")
class Sqrtm(OfSquare):
    """Principal square root of each square matrix: ``z z = a``.

    NaN where it is complex but ``a`` real: ``astype('complex128')`` has it.  Source: Higham,
    Functions of Matrices (2008), section 6.1.
    """

    workspace = 5.0

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Schur form."""
        return for_each(xp, xp.scipy_linalg.sqrtm, *operands)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``z^H a_bar + a_bar z^H = z_bar``."""
        z_h = adjoint(z)
        return (SolveSylvester()(z_h, z_h, z_bar),)

    def flops(self, result: Type, *types: ArrayType) -> int:
        """Some 30 n³ for each matrix."""
        return 30 * types[0].size * types[0].shape[-1]


@register("sylvester_solution", public=False)
class SolveSylvester(OfSquare):
    """Solution of Sylvester's equation ``a z + z b = q``.

    Source: Golub and Van Loan, Matrix Computations (2013), 7.6.3.
    """

    def infer(self, *types: ArrayType) -> Type:
        """The right-hand sides' shape."""
        a, b, q = types
        for kind in (a, b):
            if len(kind.shape) < 2 or kind.shape[-1] != kind.shape[-2]:
                raise ShapeMismatch(f"solve_sylvester needs square matrices, got {a} and {b}")
        super().infer(a)
        if q.shape[-2:] != (a.shape[-1], b.shape[-1]):
            raise ShapeMismatch(
                f"solve_sylvester needs right-hand sides of shape {(a.shape[-1], b.shape[-1])}, "
                f"got {q.shape}"
            )
        batch = broadcast_shapes(*[x.shape[:-2] for x in types])
        return ArrayType(q.dtype, (*batch, *q.shape[-2:]), all(x.weak for x in types))

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Schur forms."""
        return for_each(xp, xp.scipy_linalg.solve_sylvester, *operands)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``a^H q_bar + q_bar b^H = z_bar``, ``a_bar = -q_bar z^H``, ``b_bar = -z^H q_bar``."""
        a, b, _ = operands
        q_bar = self(adjoint(a), adjoint(b), z_bar)
        z_h = adjoint(z)
        return -MatMul()(q_bar, z_h), -MatMul()(z_h, q_bar), q_bar

    def flops(self, result: Type, *types: ArrayType) -> int:
        """Two Schur forms and the substitution."""
        return sum(25 * kind.size * kind.shape[-1] for kind in types)
