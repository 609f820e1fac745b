"""TensorFlow's elementwise functions that mean something else, and clipping by norms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.tensorflow.names import TF
from gradwire_engine.errors import BadArgument
from gradwire_engine.ops.base import Static
from gradwire_engine.ops.promotion import dtype_of, inexact_promoted

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder


@TF.macro("truncatediv")
def truncatediv(b: Builder, x: Any, y: Any) -> Any:
    """Quotient rounded towards zero."""
    x, y = b.promote(x, y)
    if x.dtype.kind == "f":
        return recorded("trunc")(b, x / y)
    sizes = [recorded("absolute")(b, v) for v in (x, y)]
    signs = [recorded("sign")(b, v) for v in (x, y)]
    return signs[0] * signs[1] * recorded("floor_divide")(b, *sizes)


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


@TF.macro("linalg.global_norm")
def global_norm(b: Builder, t_list: Any) -> Any:
    """Euclidean norm of all arrays in a list as one vector."""
    squares = [recorded("vector_norm")(b, t) for t in _listed(t_list)]
    return recorded("vector_norm")(b, squares)


@TF.macro("clip_by_global_norm")
def clip_by_global_norm(b: Builder, t_list: Any, clip_norm: Any, use_norm: Any = None) -> Any:
    """A list of the arrays scaled down to a norm of at most ``clip_norm`` together, and that norm
    before, which ``use_norm`` may give.
    """
    length = global_norm(b, t_list) if use_norm is None else use_norm
    scale = recorded("divide")(b, clip_norm, recorded("maximum")(b, length, clip_norm))
    return [[recorded("multiply")(b, t, scale) for t in _listed(t_list)], length]


def _listed(arrays: Any) -> Any:
    if not isinstance(arrays, list | tuple) or not arrays:
        raise BadArgument("a list of at least one array is needed")
    return arrays


@TF.macro("saturate_cast")
def saturate_cast(b: Builder, value: Any, dtype: Static) -> Any:
    """The array in another dtype, with what that cannot hold at its least or largest number."""
    x, target = b.array(value), dtype_of(dtype)
    limits = np.iinfo(target) if target.kind in "iu" else np.finfo(target)
    held = recorded("clip")(b, x, x.dtype.type(limits.min).item(), x.dtype.type(limits.max).item())
    return recorded("astype")(b, held, target)
