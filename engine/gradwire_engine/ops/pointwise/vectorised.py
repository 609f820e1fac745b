"""Functions that NumPy computes one element after the other, made of those that it vectorises."""

from __future__ import annotations

import math
from typing import Any

from gradwire_engine.ops.base import register
from gradwire_engine.ops.elementwise import RealBinary

#: Elements up to which one slow call is quicker than several quick ones.
FEW = 128


def log_of_sum(xp: Any, gap: Any, top: Any) -> Any:
    """``top + ln(1 + exp(-gap))``; both arrays are overwritten."""
    xp.negative(gap, gap)
    xp.exp(gap, gap)
    xp.log1p(gap, gap)
    return xp.add(top, gap, top)


@register("logaddexp_vectorised", public=False)
class VectorisedLogAddExp(RealBinary):
    """Logarithm of a sum of exponentials: ``z = max(x, y) + ln(1 + exp(-|x - y|))``."""

    flops_per_element = 20
    differentiable = False

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Equal infinities have no difference, and any will do."""
        x, y = operands
        gap = xp.subtract(x, y)
        xp.absolute(gap, gap)
        return log_of_sum(xp, xp.fmax(gap, 0, out=gap), xp.maximum(x, y))


@register("hypot_vectorised", public=False)
class VectorisedHypot(RealBinary):
    """Length of the hypotenuse: ``z = sqrt(x² + y²)``."""

    flops_per_element = 8
    differentiable = False

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Where a square may overflow or lose digits, it is NumPy's own."""
        x, y = operands
        z = xp.multiply(x, x)
        z = xp.add(z, xp.multiply(y, y))
        xp.sqrt(z, z)
        limits = xp.finfo(z.dtype)
        least, most = math.sqrt(limits.tiny) / limits.eps, math.sqrt(limits.max) / 2
        far = xp.logical_not((z > least) & (z < most)).nonzero()
        if far[0].size:
            z[far] = xp.hypot(*[xp.broadcast_to(side, z.shape)[far] for side in operands])
        return z
