"""Pseudoinverses of matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.ops.base import Cotangents, register
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.linalg.singular import OfMatrices
from gradwire_engine.ops.linalg.solving import adjoint
from gradwire_engine.ops.linalg.spectral import where_it_converges
from gradwire_engine.tape import ArrayType, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var


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
