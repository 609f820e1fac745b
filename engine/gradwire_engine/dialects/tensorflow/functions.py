"""TensorFlow's elementwise functions that mean something else, and clipping by norms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.tensorflow.names import TF
from gradwire_engine.ops.base import Static
from gradwire_engine.ops.promotion import dtype_of, finfo, inexact_promoted

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder


@TF.macro("math.polygamma")
def polygamma(b: Builder, a: Any, x: Any) -> Any:
    """Derivative of order ``a``, whole numbers, of digamma: ``z = (-1)^(a+1) a! ζ(a + 1, x)``.

    Convention: the order has no derivative.  Source: DLMF 5.15.1, 25.11.12.
    """
    if isinstance(a, int | float) and float(a).is_integer():
        return recorded("polygamma")(b, int(a), x)
    n, x = b.promote(recorded("stop_gradient")(b, a), x, rule=inexact_promoted)
    first, odd = n.equals(0), recorded("equal")(b, recorded("remainder")(b, n, 2), 1)
    order = recorded("where")(b, first, 1, n)
    size = recorded("gamma")(b, order + 1) * recorded("zeta")(b, order + 1, x)
    signed = recorded("where")(b, odd, size, -size)
    return recorded("where")(b, first, recorded("digamma")(b, x), signed)


@TF.macro("saturate_cast")
def saturate_cast(b: Builder, value: Any, dtype: Static) -> Any:
    """The array in another dtype, with what that cannot hold at its least or largest number."""
    x, target = b.array(value), dtype_of(dtype)
    limits = np.iinfo(target) if target.kind in "iu" else finfo(target)
    least, most = x.dtype.type(limits.min), x.dtype.type(limits.max)
    if x.dtype.kind == "f" and target.kind in "iu" and int(most) > limits.max:  # rounded up
        most = np.nextafter(most, x.dtype.type(0))
    held = recorded("clip")(b, x, least.item(), most.item())
    return recorded("astype")(b, held, target)
