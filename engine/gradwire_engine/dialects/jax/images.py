"""``jax.image``, ``jax.scipy.ndimage``, and attention of ``jax.nn``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.jax.names import JAX
from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.axes import flag, integers
from gradwire_engine.ops.base import Static
from gradwire_engine.ops.elementwise import BOOL

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var

JAX.entry("image.resize", "resize_image", "image shape method antialias=True")

#: SciPy's modes that do what JAX's of another name do.
_MODES = {"constant": "grid-constant", "wrap": "grid-wrap"}


@JAX.macro("scipy.ndimage.map_coordinates")
def map_coordinates(
    b: Builder,
    input: Any,
    coordinates: Any,
    order: Static,
    mode: Static = "constant",
    cval: Any = 0.0,
) -> Any:
    """The array between its elements, ``order`` 0 or 1, at one array of indices for each axis.

    Beyond the edges mode ``constant`` has elements ``cval``, which take part in what is between;
    ``wrap`` goes on with the first element after the last.
    """
    if order not in (0, 1) or mode not in ("constant", "nearest", "wrap", "mirror", "reflect"):
        raise BadArgument("order is 0 or 1, mode constant, nearest, wrap, mirror or reflect")
    return recorded("map_coordinates")(b, input, coordinates, order, _MODES.get(mode, mode), cval)


@JAX.macro("nn.dot_product_attention")
def dot_product_attention(
    b: Builder,
    query: Any,
    key: Any,
    value: Any,
    bias: Any = None,
    mask: Any = None,
    *,
    scale: Any = None,
    is_causal: Static = False,
    local_window_size: Static = None,
) -> Any:
    """``softmax(scale q k^T + bias) v`` over the keys that ``mask`` allows.

    Shapes: (..., queries, heads, features), keys and values likewise with as many heads or a part;
    ``bias`` and ``mask`` (..., heads, queries, keys).  ``local_window_size`` is how many keys
    before and after its own place a query looks at.  Convention: 0 for a query that may look at
    none.
    """
    q, k, v = (b.array(x) for x in (query, key, value))
    if min(q.ndim, k.ndim, v.ndim) < 3 or q.type.shape[-2] % max(k.type.shape[-2], 1):
        raise ShapeMismatch(f"attention of (..., heads, features) got {q.type} and {k.type}")
    shared = q.type.shape[-2] // max(k.type.shape[-2], 1)
    q, k, v = (
        recorded("swapaxes")(b, x if x is q else recorded("repeat")(b, x, shared, -2), -3, -2)
        for x in (q, k, v)
    )
    seen = _window(b, q.type.shape[-2], k.type.shape[-2], is_causal, local_window_size)
    allowed = mask if seen is None else seen
    if mask is not None and seen is not None:
        allowed = recorded("logical_and")(b, mask, seen)
    if bias is not None and allowed is not None:
        allowed = recorded("where")(b, allowed, b.inexact(bias), -math.inf)
    elif bias is not None:
        allowed = b.inexact(bias)
    attend = recorded("scaled_dot_product_attention")
    z: Var = attend(b, q, k, v, allowed, scale=scale)
    return recorded("swapaxes")(b, z, -3, -2)


def _window(
    b: Builder, queries: int, keys: int, is_causal: Any, local_window_size: Any
) -> Var | None:
    """The keys that each query may look at by its place, ``None`` for all."""
    causal = flag(is_causal, "is_causal")
    if local_window_size is None and not causal:
        return None
    window = max(queries, keys) if local_window_size is None else local_window_size
    pair = integers(window, "local_window_size")
    before, after = pair[0], min(pair[-1], 0) if causal else pair[-1]
    return b.table(
        (queries, keys), lambda query, key: (-before <= key - query) & (key - query <= after), BOOL
    )
