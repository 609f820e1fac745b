"""Attention: means of values, weighed by how well their keys answer a query."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwire_engine.ops.arrays.shape import swap_last
from gradwire_engine.ops.elementwise import BOOL
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.pointwise.comparison import NotEqual
from gradwire_engine.ops.pointwise.selection import Where, zero_unless
from gradwire_engine.ops.promotion import finfo
from gradwire_engine.ops.reductions.normalized import Softmax

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


def attention_weights(
    b: Builder, query: Var, key: Var, mask: Any, *, is_causal: bool, scale: Any
) -> Var:
    """``softmax(scale q k^T + mask)`` over the keys, 0 for a query that may look at none."""
    factor = 1 / math.sqrt(max(query.shape[-1], 1)) if scale is None else scale
    query, given = b.promote(query, factor)
    scores = MatMul()(query * given, swap_last(key))
    softmax = Softmax((scores.ndim - 1,))
    lowest = scores.constant(-math.inf)
    if is_causal:
        seen = b.table(scores.shape[-2:], lambda query, key: key <= query, BOOL)
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
