"""Attention: means of values, weighed by how well their keys answer a query."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument, DtypeMismatch, ShapeMismatch
from gradwire_engine.ops.arrays.shape import swap_last
from gradwire_engine.ops.axes import flag
from gradwire_engine.ops.base import Static, macro
from gradwire_engine.ops.elementwise import BOOL
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.pointwise.comparison import NotEqual
from gradwire_engine.ops.pointwise.selection import Where, zero_unless
from gradwire_engine.ops.promotion import finfo, inexact_promoted
from gradwire_engine.ops.reductions.normalized import Softmax
from gradwire_engine.tape import FLOATING

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


def attention_weights(
    b: Builder, query: Var, key: Var, mask: Any, *, is_causal: bool, scale: Any
) -> Var:
    """``softmax(scale q k^T + mask)`` over the keys, 0 for a query that may look at none."""
    factor = 1 / math.sqrt(max(query.type.shape[-1], 1)) if scale is None else scale
    query, given = b.promote(query, factor)
    scores = MatMul()(query * given, swap_last(key))
    softmax = Softmax((scores.ndim - 1,))
    lowest = b.scalar(-math.inf, scores.dtype)
    if is_causal:
        seen = b.table(scores.type.shape[-2:], lambda query, key: key <= query, BOOL)
        return softmax(Where()(seen, scores, lowest))
    if mask is None:
        return softmax(scores)
    allowed = b.array(mask)
    if allowed.dtype == BOOL:
        scores = Where()(allowed, scores, lowest)
    else:
        scores, added = b.promote(scores, allowed)
        scores = scores + added
    # A row of all -inf would give NaN: its weights are made finite, and then not taken.
    reached = NotEqual()(scores, lowest)
    floor = b.scalar(float(finfo(scores.dtype).min), scores.dtype)
    return zero_unless(reached, softmax(Where()(reached, scores, floor)))


@macro("scaled_dot_product_attention")
def scaled_dot_product_attention(
    b: Builder,
    query: Any,
    key: Any,
    value: Any,
    mask: Any = None,
    is_causal: Static = False,
    scale: Any = None,
) -> Any:
    """``z = softmax(scale q k^T + mask) v``, ``scale`` being ``1 / sqrt(features)`` by default.

    Shapes: (..., queries, features), (..., keys, features) and (..., keys, values) give (...,
    queries, values).  A boolean ``mask`` says which keys a query may look at, another is added to
    the scores; with ``is_causal`` query i looks at keys up to i.  Convention: 0, with derivatives
    0, for a query that may look at none.  Source: Vaswani et al., Attention Is All You Need (2017).
    """
    q, k, v = b.promote(query, key, value, rule=inexact_promoted)
    shapes = f"got {q.type}, {k.type} and {v.type}"
    if min(q.ndim, k.ndim, v.ndim) < 2:
        raise ShapeMismatch(f"attention needs matrices, {shapes}")
    if q.dtype.kind not in FLOATING:
        raise DtypeMismatch(f"attention takes real numbers, {shapes}")
    if q.type.shape[-1] != k.type.shape[-1] or k.type.shape[-2] != v.type.shape[-2]:
        hint = "queries and keys have as many features, keys and values are as many"
        raise ShapeMismatch(f"attention cannot join these shapes, {shapes}", hint=hint)
    causal = flag(is_causal, "is_causal")
    if causal and mask is not None:
        raise BadArgument("attention takes a mask or is_causal, not both")
    return MatMul()(attention_weights(b, q, k, mask, is_causal=causal, scale=scale), v)
