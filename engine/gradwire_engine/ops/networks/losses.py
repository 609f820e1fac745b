"""Losses of classifiers and regressions, gated units and the normalisations before them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.errors import BadArgument, DtypeMismatch, ShapeMismatch
from gradwire_engine.ops.arrays.creation import arange
from gradwire_engine.ops.arrays.indexing import take_along_axis
from gradwire_engine.ops.arrays.shape import reshape, unsqueeze
from gradwire_engine.ops.arrays.slicing import sliced
from gradwire_engine.ops.axes import axes_of, axis_of, integer
from gradwire_engine.ops.base import Static, macro
from gradwire_engine.ops.builder import describe
from gradwire_engine.ops.conversion import floating
from gradwire_engine.ops.pointwise.activations import Sigmoid, Softplus
from gradwire_engine.ops.pointwise.arithmetic import Absolute, Sqrt, Square
from gradwire_engine.ops.pointwise.comparison import Equal, LessEqual
from gradwire_engine.ops.pointwise.selection import Maximum, Where
from gradwire_engine.ops.promotion import dtype_of, inexact_promoted
from gradwire_engine.ops.reductions.normalized import log_softmax
from gradwire_engine.ops.reductions.norms import Norm
from gradwire_engine.ops.reductions.reductions import Sum

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


def _reduced(loss: Var, reduction: Any) -> Var:
    if reduction == "none":
        return loss
    if reduction not in ("mean", "sum"):
        raise BadArgument("reduction is 'none', 'mean' or 'sum'")
    total = Sum.over(loss, tuple(range(loss.ndim)))
    return total if reduction == "sum" else total / loss.type.size


@macro("mse_loss")
def mse_loss(b: Builder, input: Any, target: Any, reduction: Static = "mean") -> Any:
    """Squared error ``(input - target)²``: its mean, its sum, or each for reduction ``none``."""
    x, y = b.promote(input, target, rule=inexact_promoted)
    return _reduced(Square()(x - y), reduction)


@macro("l1_loss")
def l1_loss(b: Builder, input: Any, target: Any, reduction: Static = "mean") -> Any:
    """Absolute error ``|input - target|``, reduced.  Convention: derivative 0 where equal."""
    x, y = b.promote(input, target, rule=inexact_promoted)
    return _reduced(Absolute()(x - y), reduction)


@macro("huber_loss")
def huber_loss(
    b: Builder, input: Any, target: Any, reduction: Static = "mean", delta: Any = 1.0
) -> Any:
    """``d² / 2`` where ``|d| <= delta``, else ``delta (|d| - delta / 2)``, reduced.

    ``d = input - target``.  Source: Huber, Robust Estimation of a Location Parameter (1964).
    """
    x, y, bound = b.promote(input, target, delta, rule=inexact_promoted)
    d = x - y
    size = Absolute()(d)
    return _reduced(
        Where()(LessEqual()(size, bound), Square()(d) * 0.5, bound * (size - bound * 0.5)),
        reduction,
    )


@macro("smooth_l1_loss")
def smooth_l1_loss(
    b: Builder, input: Any, target: Any, reduction: Static = "mean", beta: Any = 1.0
) -> Any:
    """Huber's loss divided by its bound: ``d² / (2 beta)`` near 0, slope 1 beyond ``beta``."""
    loss, bound = b.promote(huber_loss(b, input, target, "none", beta), beta, rule=inexact_promoted)
    return _reduced(loss / bound, reduction)


@macro("sigmoid_cross_entropy_with_logits")
def sigmoid_cross_entropy_with_logits(b: Builder, labels: Any, logits: Any) -> Any:
    """``ln(1 + exp x) - x y`` for each logit ``x`` and label ``y`` from 0 to 1, no overflow."""
    y, x = b.promote(labels, logits, rule=inexact_promoted)
    return Softplus()(x) - x * y


@macro("binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits(
    b: Builder, input: Any, target: Any, reduction: Static = "mean"
) -> Any:
    """``ln(1 + exp x) - x y`` for logits ``x`` and targets ``y``, reduced."""
    return _reduced(sigmoid_cross_entropy_with_logits(b, target, input), reduction)


@macro("softmax_cross_entropy_with_logits")
def softmax_cross_entropy_with_logits(
    b: Builder, labels: Any, logits: Any, axis: Static = -1
) -> Any:
    """``-sum(labels log_softmax(logits))`` over ``axis``, for labels that are probabilities."""
    y, x = b.promote(labels, logits, rule=inexact_promoted)
    axes = (axis_of(axis, x.ndim, "softmax_cross_entropy_with_logits"),)
    if y.type.shape != x.type.shape:
        raise ShapeMismatch(f"labels of shape {y.shape} for logits of shape {x.shape}")
    return -Sum(axes)(y * log_softmax(x, axes))


@macro("sparse_softmax_cross_entropy_with_logits")
def sparse_softmax_cross_entropy_with_logits(b: Builder, labels: Any, logits: Any) -> Any:
    """``-log_softmax(logits)[label]`` over the last axis, for integer labels."""
    y, x = b.array(labels), b.inexact(logits)
    last = axis_of(-1, x.ndim, "sparse_softmax_cross_entropy_with_logits")
    if y.type.shape != x.type.shape[:-1]:
        raise ShapeMismatch(f"labels of shape {y.shape} for logits of shape {x.shape}")
    logs = take_along_axis(b, log_softmax(x, (last,)), unsqueeze(y, (last,)), last)
    return -reshape(logs, y.type.shape)


@macro("cross_entropy")
def cross_entropy(b: Builder, input: Any, target: Any, reduction: Static = "mean") -> Any:
    """Cross entropy of logits with integer classes, or with probabilities, along the last axis.

    Reduced over all rows by their mean, their sum, or not at all (``none``).
    """
    classes = b.array(target)
    if classes.dtype.kind in "iu":
        return _reduced(sparse_softmax_cross_entropy_with_logits(b, classes, input), reduction)
    return _reduced(softmax_cross_entropy_with_logits(b, classes, input), reduction)


@macro("one_hot", differentiable=False)
def one_hot(
    b: Builder, indices: Any, depth: Static, axis: Static = -1, dtype: Static = "float64"
) -> Any:
    """1 at the place that each index names along a new axis of length ``depth``, else 0.

    An index out of range gives zeros only.
    """
    index = b.array(indices)
    if index.dtype.kind not in "iu":
        raise DtypeMismatch(f"one_hot needs integers, got {index.type}")
    if integer(depth, "depth") < 0:
        raise BadArgument(f"depth must not be negative, got {depth}")
    place = axis_of(axis, index.ndim + 1, "one_hot")
    around = tuple([depth if i == place else 1 for i in range(index.ndim + 1)])
    numbers = reshape(b.cast(arange(b, depth), index.dtype), around)
    return b.cast(Equal()(unsqueeze(index, (place,)), numbers), dtype_of(dtype))


@macro("glu")
def glu(b: Builder, x: Any, axis: Static = -1) -> Any:
    """Gated linear unit: ``z = u sigmoid(v)`` of the halves ``u`` and ``v`` of ``x`` along an axis.

    Source: Dauphin et al., Language Modeling with Gated Convolutional Networks (2017).
    """
    x = b.inexact(x)
    place = axis_of(axis, x.ndim, "glu")
    length = x.type.shape[place]
    if length % 2:
        raise ShapeMismatch(f"glu needs an even length, got {length}")
    halves = sliced(x, place, 0, length // 2), sliced(x, place, length // 2, length)
    return halves[0] * Sigmoid()(halves[1])


@macro("layer_norm")
def layer_norm(
    b: Builder,
    x: Any,
    weight: Any = None,
    bias: Any = None,
    axis: Static = -1,
    epsilon: Static = 1e-5,
) -> Any:
    """``z = weight (x - mean) / sqrt(var + epsilon) + bias``, mean and variance over ``axis``.

    Source: Ba, Kiros and Hinton, Layer Normalization (2016).
    """
    given = [part for part in (weight, bias) if part is not None]
    x, *affine = b.promote(floating(b, x), *given, rule=inexact_promoted)
    if x.dtype.kind != "f":
        raise DtypeMismatch(f"layer_norm takes real numbers, got {x.type}")
    axes = axes_of(axis, x.ndim, "layer_norm")
    count = math.prod([x.type.shape[i] for i in axes])
    centred = x - Sum.over(x, axes, keepdims=True) / count
    variance = Sum.over(Square()(centred), axes, keepdims=True) / count
    z = centred / Sqrt()(variance + _number(epsilon, "epsilon"))
    z = z if weight is None else z * affine[0]
    return z if bias is None else z + affine[-1]


@macro("normalize", "l2_normalize")
def normalize(b: Builder, x: Any, axis: Static = -1, epsilon: Static = 1e-12) -> Any:
    """Vectors along ``axis`` scaled to length 1: ``z = x / max(‖x‖, epsilon)``.

    Convention: the zero vector is divided by ``epsilon``, and so is its cotangent.
    """
    x = floating(b, x)
    length = Norm.over(x, axes_of(axis, x.ndim, "normalize"), keepdims=True)
    smallest = float(np.finfo(length.dtype).tiny)
    least = b.scalar(max(_number(epsilon, "epsilon"), smallest), length.dtype)
    return x / b.cast(Maximum()(length, least), x.dtype)


def _number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadArgument(f"{name} must be a number, got {describe(value)}")
    return value
