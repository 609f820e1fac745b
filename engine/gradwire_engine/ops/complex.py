"""Real part, imaginary part and conjugate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradwire_engine.ops.base import Cotangents, register
from gradwire_engine.ops.elementwise import Unary, conj

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var


@register("conjugate", "conj")
class Conjugate(Unary):
    """Complex conjugate: ``z = x*``."""

    ufunc = "conjugate"
    linear = True

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar*``."""
        return (conj(z_bar),)
