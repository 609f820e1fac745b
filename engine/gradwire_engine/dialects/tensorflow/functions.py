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
    from gradwire_engine.tape import DType


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


def _limits(dtype: DType) -> tuple[Any, Any]:
    """The least and the largest number, of integers exactly."""
    found = np.iinfo(dtype) if dtype.kind in "iu" else finfo(dtype)
    kind = int if dtype.kind in "iu" else float
    return kind(found.min), kind(found.max)


@TF.macro("saturate_cast")
def saturate_cast(b: Builder, value: Any, dtype: Static) -> Any:
    """The array in another dtype, with what that cannot hold at its least or largest number."""
    x, target = b.array(value), dtype_of(dtype)
    limits, own = _limits(target), _limits(x.dtype)
    least = x.dtype.type(max(limits[0], own[0]))
    most = x.dtype.type(min(limits[1], own[1]))
    if x.dtype.kind == "f" and int(most) > limits[1]:  # rounded up
        most = np.nextafter(most, x.dtype.type(0))
    held = recorded("clip")(b, x, least.item(), most.item())
    return recorded("astype")(b, held, target)
