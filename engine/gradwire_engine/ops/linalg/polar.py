"""The unitary matrix nearest to another, and what is left: polar decompositions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import ShapeMismatch
from gradwire_engine.ops.base import Cotangents, register
from gradwire_engine.ops.linalg.matrix_functions import SolveSylvester
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.linalg.singular import OfMatrices
from gradwire_engine.ops.linalg.solving import Solve, adjoint
from gradwire_engine.ops.linalg.spectral import where_it_converges
from gradwire_engine.tape import ArrayType, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var


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
