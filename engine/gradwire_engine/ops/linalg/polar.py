"""The unitary matrix nearest to another, and what is left: polar decompositions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.base import Cotangents, Static, macro, register
from gradwire_engine.ops.conversion import floating
from gradwire_engine.ops.elementwise import conj
from gradwire_engine.ops.linalg.matrix_functions import SolveSylvester
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.linalg.singular import OfMatrices
from gradwire_engine.ops.linalg.solving import Solve, adjoint
from gradwire_engine.ops.linalg.spectral import where_it_converges
from gradwire_engine.ops.pointwise.complex import Real
from gradwire_engine.ops.reductions.reductions import Sum
from gradwire_engine.tape import ArrayType, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


@register("unitary_factor", public=False)
class UnitaryFactor(OfMatrices):
    """Orthonormal columns ``z`` nearest to the independent ones of ``a = z p``, ``p`` Hermitian.

    Source: Higham, Functions of Matrices (2008), theorem 8.1.
    """

    workspace = 3.0

    def infer(self, *types: ArrayType) -> Type:
        """The operand's type; no more columns than rows."""
        super().infer(*types)
        (a,) = types
        if a.shape[-2] < a.shape[-1]:
            raise ShapeMismatch(f"{self.name} needs no more columns than rows, got {a}")
        return a

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Product of the singular vectors."""
        u, _, vh = where_it_converges(
            xp, lambda a: xp.linalg.svd(a, full_matrices=False), operands[0]
        )
        return u @ vh

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``a_bar = z y + (1 - z z^H) z_bar p^-1``, ``p y + y p = z^H z_bar - z_bar^H z``.

        Smooth also where singular values are equal, of which it makes no use.
        """
        (a,) = operands
        of, z_h = MatMul(), adjoint(z)
        p, product = of(z_h, a), of(z_h, z_bar)
        a_bar = of(z, SolveSylvester()(p, p, product - adjoint(product)))
        if a.shape[-2] > a.shape[-1]:
            beside = z_bar - of(z, product)
            a_bar = a_bar + adjoint(Solve()(adjoint(p), adjoint(beside)))
        return (a_bar,)


@macro("polar", "linalg.polar")
def polar(b: Builder, a: Any, side: Static = "right") -> Any:
    """Polar decomposition of each matrix: the list ``u``, ``p`` with ``a = u p``, or ``a = p u``.

    ``u`` has orthonormal columns, of a wide matrix rows; ``p`` is Hermitian and not negative,
    ``side`` says where it stands.  The derivative needs full rank.
    """
    if side not in ("left", "right"):
        raise BadArgument("polar knows the sides 'left' and 'right'")
    x = floating(b, a)
    OfMatrices.infer(UnitaryFactor(), x.type)
    wide = x.shape[-2] < x.shape[-1]
    u = adjoint(UnitaryFactor()(adjoint(x))) if wide else UnitaryFactor()(x)
    u_h = adjoint(u)
    return [u, MatMul()(u_h, x) if side == "right" else MatMul()(x, u_h)]


@macro("orthogonal_procrustes", "linalg.orthogonal_procrustes")
def orthogonal_procrustes(b: Builder, A: Any, B: Any) -> Any:
    """The list of the unitary ``r`` that minimises ``|a r - b|``, and the sum of singular values.

    Those are of ``a^H b``, whose unitary factor ``r`` is.  Source: Golub and Van Loan, Matrix
    Computations (2013), 6.4.1.
    """
    x, y = (floating(b, v) for v in b.promote(A, B))
    if x.ndim != 2 or x.shape != y.shape:
        raise ShapeMismatch(f"orthogonal_procrustes needs two equal shapes, got {x.type}, {y.type}")
    if x.shape[0] < x.shape[1]:
        raise ShapeMismatch(
            f"orthogonal_procrustes needs at least as many rows as columns, got {x.type}",
            hint="of fewer there are many that minimise",
        )
    product = MatMul()(adjoint(x), y)
    r = UnitaryFactor()(product)
    scale = Sum((0, 1))(conj(r) * product)
    return [r, Real()(scale) if scale.dtype.kind == "c" else scale]
