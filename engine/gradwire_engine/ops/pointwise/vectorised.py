"""A function that NumPy computes one element after the other, made of those that it vectorises."""

from __future__ import annotations

import math
from typing import Any

from gradwire_engine.ops.base import register
from gradwire_engine.ops.elementwise import Elementwise

#: Elements up to which one slow call is quicker than several quick ones.
FEW = 128


@register("hypot_by_squares", public=False)
class HypotBySquares(Elementwise):
    """Length of the hypotenuse of ``x`` and ``y``, given ``z = sqrt(x² + y²)``.

    Where a square may have overflowed or lost digits, it is NumPy's own.
    """

    kinds = "f"
    flops_per_element = 4
    differentiable = False

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Few are far from 1."""
        *sides, squares = operands
        z = squares.copy()
        limits = xp.finfo(z.dtype)
        least, most = math.sqrt(limits.tiny) / limits.eps, math.sqrt(limits.max) / 2
        far = xp.logical_not((z > least) & (z < most)).nonzero()
        if far[0].size:
            z[far] = xp.hypot(*[xp.broadcast_to(side, z.shape)[far] for side in sides])
        return z
