"""``jax.nn``: masked softmax and its like, standardised and gated activations."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.jax.names import JAX
from gradwire_engine.ops.base import Static

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder


def _among(b: Builder, x: Any, where: Any) -> Any:
    """``x``, and ``-inf`` where it does not count."""
    return x if where is None else recorded("where")(b, where, b.inexact(x), -math.inf)


@JAX.macro("nn.gelu")
def gelu(b: Builder, x: Any, approximate: Static = True) -> Any:
    """``z = x Φ(x)``, with a tanh in the place of ``Φ`` unless ``approximate`` is false."""
    return recorded("gelu")(b, x, approximate)


@JAX.macro("nn.softmax")
def softmax(b: Builder, x: Any, axis: Static = -1, where: Any = None) -> Any:
    """Exponentials normalised to sum 1 over ``axis``, among the elements ``where`` marks."""
    return recorded("softmax")(b, _among(b, x, where), axis)


@JAX.macro("nn.log_softmax")
def log_softmax(b: Builder, x: Any, axis: Static = -1, where: Any = None) -> Any:
    """Logarithm of softmax over ``axis``, among the elements ``where`` marks."""
    return recorded("log_softmax")(b, _among(b, x, where), axis)


@JAX.macro("nn.logsumexp")
def logsumexp(
    builder: Builder,
    a: Any,
    axis: Static = None,
    b: Any = None,
    keepdims: Static = False,
    return_sign: Static = False,
    where: Any = None,
) -> Any:
    """Logarithm of the sum of ``b exp(a)`` over ``axis``, of the elements ``where`` marks.

    With ``return_sign`` a list: that of the sum's magnitude, and its sign.
    """
    x = _among(builder, a, where)
    return recorded("logsumexp")(builder, x, axis, b=b, keepdims=keepdims, return_sign=return_sign)


@JAX.macro("nn.logmeanexp")
def logmeanexp(
    b: Builder, x: Any, axis: Static = None, where: Any = None, keepdims: Static = False
) -> Any:
    """Logarithm of the mean of ``exp(x)`` over ``axis``, of the elements ``where`` marks."""
    x = b.inexact(x)
    total = recorded("logsumexp")(b, _among(b, x, where), axis, keepdims=keepdims)
    counted = b.full(True, x.type) if where is None else recorded("broadcast_to")(b, where, x.shape)
    number = recorded("sum")(b, b.cast(counted, x.dtype), axis, keepdims=keepdims)
    return recorded("subtract")(b, total, recorded("log")(b, number))


@JAX.macro("nn.standardize")
def standardize(
    b: Builder,
    x: Any,
    axis: Static = -1,
    mean: Any = None,
    variance: Any = None,
    epsilon: Any = 1e-5,
    where: Any = None,
) -> Any:
    """``z = (x - mean) / sqrt(variance + epsilon)``, over ``axis`` unless given.

    Only elements that ``where`` marks count.
    """
    x = b.inexact(x)
    if mean is None:
        mean = recorded("mean")(b, x, axis, keepdims=True, where=where)
    apart = recorded("subtract")(b, x, mean)
    if variance is None:
        squares = recorded("square")(b, apart)
        variance = recorded("mean")(b, squares, axis, keepdims=True, where=where)
    scale = recorded("rsqrt")(b, recorded("add")(b, variance, epsilon))
    return recorded("multiply")(b, apart, scale)


@JAX.macro("nn.squareplus")
def squareplus(builder: Builder, x: Any, b: Any = 4) -> Any:
    """``z = (x + sqrt(x² + b)) / 2``: a softplus without exponentials.  Source: Barron (2021)."""
    root = recorded("sqrt")(builder, recorded("add")(builder, recorded("square")(builder, x), b))
    return recorded("divide")(builder, recorded("add")(builder, x, root), 2)


@JAX.macro("nn.sparse_plus")
def sparse_plus(b: Builder, x: Any) -> Any:
    """0 up to -1, ``x`` from 1 on, and ``(x + 1)² / 4`` between: its slope is sparse_sigmoid."""
    x = b.inexact(x)
    inner = recorded("square")(b, recorded("add")(b, x, 1))
    below, above = recorded("less_equal")(b, x, -1), recorded("greater_equal")(b, x, 1)
    bent = recorded("where")(b, above, x, recorded("divide")(b, inner, 4))
    return recorded("where")(b, below, 0.0, bent)


@JAX.macro("nn.sparse_sigmoid")
def sparse_sigmoid(b: Builder, x: Any) -> Any:
    """0 up to -1, 1 from 1 on, and ``(x + 1) / 2`` between."""
    half = recorded("divide")(b, recorded("add")(b, x, 1), 2)
    return recorded("clip")(b, half, 0.0, 1.0)
