"""PyTorch's ``torch.nn.functional``: attention, of one head and of several."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.torch.names import TORCH
from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.axes import flag, integer
from gradwire_engine.ops.base import Static
from gradwire_engine.ops.elementwise import BOOL
from gradwire_engine.ops.networks.attention import attention_weights

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


@TORCH.macro("nn.functional.scaled_dot_product_attention")
def scaled_dot_product_attention(
    b: Builder,
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: Static = 0.0,
    is_causal: Static = False,
    scale: Any = None,
    enable_gqa: Static = False,
) -> Any:
    """``softmax(query key^T / sqrt(features) + mask) value``; with ``enable_gqa`` heads are shared.

    Shapes: (..., heads, queries, features) and so on.
    """
    if dropout_p:
        raise BadArgument("attention drops nothing out here", hint="leave dropout_p at 0")
    q, k, v = b.array(query), b.array(key), b.array(value)
    if flag(enable_gqa, "enable_gqa"):
        k, v = (_shared(b, part, q) for part in (k, v))
    return recorded("scaled_dot_product_attention")(b, q, k, v, attn_mask, is_causal, scale)


def _shared(b: Builder, x: Var, query: Var) -> Any:
    """Heads of keys or values repeated, so many in a row as there are queries' heads for each."""
    if min(x.ndim, query.ndim) < 3 or query.type.shape[-3] % max(x.type.shape[-3], 1):
        raise ShapeMismatch(f"the heads of {query.type} cannot share those of {x.type}")
    return recorded("repeat")(b, x, query.type.shape[-3] // x.type.shape[-3], -3)


@TORCH.macro("nn.functional.multi_head_attention_forward")
def multi_head_attention_forward(
    b: Builder,
    query: Any,
    key: Any,
    value: Any,
    embed_dim_to_check: Static,
    num_heads: Static,
    in_proj_weight: Any,
    in_proj_bias: Any,
    bias_k: Any,
    bias_v: Any,
    add_zero_attn: Static,
    dropout_p: Static,
    out_proj_weight: Any,
    out_proj_bias: Any,
    training: Static = True,
    key_padding_mask: Any = None,
    need_weights: Static = True,
    attn_mask: Any = None,
    use_separate_proj_weight: Static = False,
    q_proj_weight: Any = None,
    k_proj_weight: Any = None,
    v_proj_weight: Any = None,
    static_k: Any = None,
    static_v: Any = None,
    average_attn_weights: Static = True,
    is_causal: Static = False,
) -> Any:
    """A list of the attention of ``num_heads`` parts of projections, and the weights or ``None``.

    Shapes: (queries, examples, features), or without examples.  Masks that are boolean are true
    where a key is *not* looked at; ``is_causal`` only says what ``attn_mask`` is.
    """
    x = b.array(query)
    if any(given is not None for given in (bias_k, bias_v, static_k, static_v)) or add_zero_attn:
        raise BadArgument("attention has no further keys here: bias_k, static_k, add_zero_attn")
    if dropout_p and flag(training, "training"):
        raise BadArgument("attention drops nothing out here", hint="leave dropout_p at 0")
    if x.ndim not in (2, 3) or x.type.shape[-1] != integer(embed_dim_to_check, "embed_dim"):
        raise ShapeMismatch(f"attention of {embed_dim_to_check} features got {x.type}")
    heads = integer(num_heads, "num_heads")
    if heads < 1 or x.type.shape[-1] % heads:
        raise ShapeMismatch(f"{x.type.shape[-1]} features do not part in {heads} heads")
    if use_separate_proj_weight:
        weights = [q_proj_weight, k_proj_weight, v_proj_weight]
    else:
        weights = recorded("split")(b, in_proj_weight, 3)
    biases = [None] * 3 if in_proj_bias is None else recorded("split")(b, in_proj_bias, 3)
    linear = TORCH.functions["torch.nn.functional.linear"].record
    q, k, v = (
        _parted(b, linear(b, part, weight, bias), heads)
        for part, weight, bias in zip((query, key, value), weights, biases, strict=True)
    )
    mask = _joined_masks(b, q, attn_mask, key_padding_mask)
    shares = attention_weights(b, q, k, mask, is_causal=False, scale=None)
    z = recorded("moveaxis")(b, recorded("matmul")(b, shares, v), -2, 0)
    z = linear(b, recorded("reshape")(b, z, x.type.shape), out_proj_weight, out_proj_bias)
    if not flag(need_weights, "need_weights"):
        return [z, None]
    averaged = flag(average_attn_weights, "average_attn_weights")
    return [z, recorded("mean")(b, shares, -3) if averaged else shares]


def _parted(b: Builder, x: Any, heads: int) -> Any:
    """Heads before queries: (queries, ..., features) to (..., heads, queries, features)."""
    var = b.array(x)
    apart = recorded("reshape")(b, var, (*var.type.shape[:-1], heads, -1))
    return recorded("moveaxis")(b, apart, 0, -2)


def _joined_masks(b: Builder, q: Var, attn_mask: Any, key_padding_mask: Any) -> Any:
    """The term that is added to the scores, ``None`` for nothing."""
    joined = None
    if attn_mask is not None:
        joined = _added(b, attn_mask, q)
        if joined.ndim == 3 and q.ndim == 4:  # one for each example and head
            shape = (*q.type.shape[:2], *joined.type.shape[1:])
            joined = recorded("reshape")(b, joined, shape)
    if key_padding_mask is not None:
        keys = _added(b, key_padding_mask, q)
        shape = (*keys.type.shape[:-1], 1, 1, keys.type.shape[-1])
        keys = recorded("reshape")(b, keys, shape)
        joined = keys if joined is None else recorded("add")(b, joined, keys)
    return joined


def _added(b: Builder, mask: Any, q: Var) -> Var:
    var = b.array(mask)
    if var.dtype != BOOL:
        return var
    added: Var = recorded("where")(b, var, b.scalar(-math.inf, q.dtype), b.scalar(0, q.dtype))
    return added
