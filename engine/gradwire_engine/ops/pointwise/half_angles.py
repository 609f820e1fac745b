"""The cosine that comes with a sine, both made of the tangent of half the angle."""

from __future__ import annotations

from typing import Any

from gradwire_engine.ops.base import register
from gradwire_engine.ops.elementwise import Elementwise

#: Cosines nearer to 0 have lost too many digits: 1/32 keeps the relative error within 2e-14.
_NEAR_ZERO = 1 / 32


@register("cosine_by_sine", public=False)
class CosineBySine(Elementwise):
    """Cosine of ``x``, of ``t = tan(x / 2)`` and ``s = sin x``: ``z = 1 - t s``.

    That is ``1 - 2 sin²(x / 2)``, which loses digits near 0, where the cosine itself is taken.
    Source: DLMF 4.21.27, 4.21.28.
    """

    kinds = "f"
    flops_per_element = 3
    differentiable = False

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """A product and a difference, and few cosines."""
        x, t, s = operands
        z = xp.multiply(t, s)
        xp.subtract(1, z, z)
        near = ((z < _NEAR_ZERO) & (z > -_NEAR_ZERO)).nonzero()
        z[near] = xp.cos(x[near])
        return z
