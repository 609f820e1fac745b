"""PyTorch's losses: ``torch.nn.functional``'s, reduced by their mean unless told otherwise."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.torch.images import pairwise_distance
from gradwire_engine.dialects.torch.names import TORCH
from gradwire_engine.errors import BadArgument
from gradwire_engine.ops.axes import axis_of, flag
from gradwire_engine.ops.base import Static
from gradwire_engine.ops.promotion import inexact_promoted

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var

_F = "nn.functional."


def _reduced(b: Builder, loss: Any, reduction: Any, weight: Any = None) -> Any:
    weighed = loss if weight is None else recorded("multiply")(b, weight, loss)
    if reduction in ("mean", "sum"):
        return recorded(reduction)(b, weighed)
    if reduction == "none":
        return weighed
    raise BadArgument("reduction must be 'mean', 'sum' or 'none'")


def _numbers(b: Builder, *operands: Any) -> list[Var]:
    return b.promote(*operands, rule=inexact_promoted)


def _above_zero(b: Builder, x: Var) -> Any:
    """``max(x, 0)``, with derivative 1 at 0."""
    return recorded("clip")(b, x, 0, None)


@TORCH.macro(f"{_F}mse_loss")
def mse_loss(
    b: Builder, input: Any, target: Any, *, reduction: Static = "mean", weight: Any = None
) -> Any:
    """Squared error ``weight (input - target)²``, its mean weighed, too."""
    return _mean_weighed(b, recorded("mse_loss")(b, input, target, "none"), reduction, weight)


@TORCH.macro(f"{_F}l1_loss")
def l1_loss(
    b: Builder, input: Any, target: Any, *, reduction: Static = "mean", weight: Any = None
) -> Any:
    """Absolute error ``weight |input - target|``, its mean weighed, too."""
    return _mean_weighed(b, recorded("l1_loss")(b, input, target, "none"), reduction, weight)


def _mean_weighed(b: Builder, loss: Any, reduction: Any, weight: Any) -> Any:
    if weight is None or reduction != "mean":
        return _reduced(b, loss, reduction, weight)
    total = _reduced(b, loss, "sum", weight)
    return recorded("divide")(b, total, recorded("sum")(b, weight))


@TORCH.macro(f"{_F}huber_loss")
def huber_loss(
    b: Builder,
    input: Any,
    target: Any,
    reduction: Static = "mean",
    delta: Any = 1.0,
    weight: Any = None,
) -> Any:
    """``d² / 2`` where ``|d| <= delta``, else ``delta (|d| - delta / 2)``; times ``weight``."""
    loss = recorded("huber_loss")(b, input, target, "none", delta)
    return _reduced(b, loss, reduction, weight)


@TORCH.macro(f"{_F}binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits(
    b: Builder,
    input: Any,
    target: Any,
    weight: Any = None,
    *,
    reduction: Static = "mean",
    pos_weight: Any = None,
) -> Any:
    """Cross entropy of independent labels, whose positive ones count ``pos_weight`` times."""
    x, y = _numbers(b, input, target)
    yes = y if pos_weight is None else recorded("multiply")(b, pos_weight, y)
    loss = yes * recorded("softplus")(b, -x) + (1 - y) * recorded("softplus")(b, x)
    return _reduced(b, loss, reduction, weight)


@TORCH.macro(f"{_F}binary_cross_entropy")
def binary_cross_entropy(
    b: Builder, input: Any, target: Any, weight: Any = None, *, reduction: Static = "mean"
) -> Any:
    """Cross entropy of independent labels with the probabilities ``input``.

    Logarithms below -100 count as -100, with derivative 0.
    """
    x, y = _numbers(b, input, target)
    yes, no = (_bounded(b, recorded(name)(b, p)) for name, p in (("log", x), ("log1p", -x)))
    return _reduced(b, -(y * yes + (1 - y) * no), reduction, weight)


def _bounded(b: Builder, logs: Var) -> Any:
    return recorded("where")(b, logs.exceeds(-100.0), logs, -100.0)


@TORCH.macro(f"{_F}cross_entropy")
def cross_entropy(
    b: Builder,
    input: Any,
    target: Any,
    weight: Any = None,
    *,
    ignore_index: Static = -100,
    reduction: Static = "mean",
    label_smoothing: Any = 0.0,
) -> Any:
    """Cross entropy of logits whose classes stand along axis 1 (the only one of a vector).

    ``target`` has the classes as integers, the items of ``ignore_index`` left out, or a
    probability for each; ``weight`` is of the classes, and the mean weighed by it for integers.
    """
    x, classes = b.inexact(input), b.array(target)
    axis = min(x.ndim, 2) - 1
    logs = recorded("log_softmax")(b, x, axis)
    if classes.dtype.kind in "iu":
        return _by_class(b, logs, classes, weight, ignore_index, reduction, label_smoothing)
    even = recorded("divide")(b, label_smoothing, x.type.shape[axis])
    kept = recorded("multiply")(b, recorded("subtract")(b, 1, label_smoothing), classes)
    shares = recorded("multiply")(b, recorded("add")(b, kept, even), _of_classes(b, weight, logs))
    return _reduced(b, -recorded("sum")(b, recorded("multiply")(b, shares, logs), axis), reduction)


@TORCH.macro(f"{_F}nll_loss")
def nll_loss(
    b: Builder,
    input: Any,
    target: Any,
    weight: Any = None,
    *,
    ignore_index: Static = -100,
    reduction: Static = "mean",
) -> Any:
    """``z = -weight[target] input[target]`` of logarithms whose classes stand along axis 1.

    The mean is weighed; items of class ``ignore_index`` are left out.
    """
    return _by_class(b, b.inexact(input), b.array(target), weight, ignore_index, reduction, 0)


def _of_classes(b: Builder, weight: Any, logs: Var) -> Any:
    """Weights of the classes, to multiply with what has them along axis 1, or 0 of a vector."""
    if weight is None:
        return 1
    return recorded("reshape")(b, weight, (-1, *[1 for _ in range(logs.ndim - 2)]))


def _by_class(
    b: Builder, logs: Var, classes: Var, weight: Any, ignored: Any, reduction: Any, smoothing: Any
) -> Any:
    axis = min(logs.ndim, 2) - 1
    kept = recorded("not_equal")(b, classes, ignored)
    index = recorded("where")(b, kept, classes, 0)
    place = recorded("expand_dims")(b, index, axis)
    weights = 1 if weight is None else recorded("take")(b, weight, index)
    weights = recorded("where")(b, kept, weights, recorded("zeros_like")(b, logs, shape=()))
    weighed = recorded("multiply")(b, logs, _of_classes(b, weight, logs))
    picked = recorded("take_along_axis")(b, weighed, place, axis)
    loss = recorded("negative")(b, recorded("squeeze")(b, picked, axis))
    if smoothing:
        total = recorded("negative")(b, recorded("sum")(b, weighed, axis))
        even = recorded("divide")(b, total, logs.type.shape[axis])
        loss = recorded("lerp")(b, loss, even, smoothing)
    loss = recorded("where")(b, kept, loss, 0)
    if reduction == "mean":
        total, count = (recorded("sum")(b, part) for part in (loss, weights))
        return recorded("divide")(b, total, count)
    return _reduced(b, loss, reduction)


@TORCH.macro(f"{_F}kl_div")
def kl_div(
    b: Builder,
    input: Any,
    target: Any,
    *,
    reduction: Static = "mean",
    log_target: Static = False,
) -> Any:
    """``z = target (ln target - input)``, its mean by default; "batchmean" divides by the items."""
    x, y = _numbers(b, input, target)
    if flag(log_target, "log_target"):
        loss = recorded("exp")(b, y) * (y - x)
    else:
        loss = recorded("xlogy")(b, y, y) - y * x
    if reduction == "batchmean":
        return recorded("sum")(b, loss) / x.type.shape[0]
    return _reduced(b, loss, reduction)


@TORCH.macro(f"{_F}poisson_nll_loss")
def poisson_nll_loss(
    b: Builder,
    input: Any,
    target: Any,
    log_input: Static = True,
    full: Static = False,
    *,
    eps: Any = 1e-8,
    reduction: Static = "mean",
) -> Any:
    """``z = exp x - y x``, or ``x - y ln(x + eps)`` without ``log_input``, of counts ``y``.

    ``full`` adds Stirling's ``ln y!`` for counts above 1.
    """
    x, y = _numbers(b, input, target)
    if flag(log_input, "log_input"):
        loss = recorded("exp")(b, x) - y * x
    else:
        loss = x - y * recorded("log")(b, recorded("add")(b, x, eps))
    if flag(full, "full"):
        logs = recorded("log")(b, y)
        stirling = y * logs - y + 0.5 * (logs + math.log(2 * math.pi))
        loss = loss + recorded("where")(b, y.exceeds(1), stirling, 0)
    return _reduced(b, loss, reduction)


@TORCH.macro(f"{_F}gaussian_nll_loss")
def gaussian_nll_loss(
    b: Builder,
    input: Any,
    target: Any,
    var: Any,
    full: Static = False,
    eps: Any = 1e-6,
    reduction: Static = "mean",
) -> Any:
    """``z = (ln v + (x - y)² / v) / 2`` with variances ``v`` of at least ``eps``.

    ``full`` adds ``ln(2 pi) / 2``.  Convention: the bound passes the derivative on.
    """
    x, y, v = _numbers(b, input, target, var)
    if v.ndim and v.type.shape == x.type.shape[:-1]:
        v = recorded("expand_dims")(b, v, -1)
    missing = recorded("maximum")(b, v, eps) - v
    v = v + recorded("stop_gradient")(b, missing)
    loss = 0.5 * (recorded("log")(b, v) + recorded("square")(b, x - y) / v)
    if flag(full, "full"):
        loss = loss + 0.5 * math.log(2 * math.pi)
    return _reduced(b, loss, reduction)


@TORCH.macro(f"{_F}soft_margin_loss")
def soft_margin_loss(b: Builder, input: Any, target: Any, *, reduction: Static = "mean") -> Any:
    """``z = ln(1 + exp(-y x))`` for labels ``y`` of 1 and -1."""
    x, y = _numbers(b, input, target)
    return _reduced(b, recorded("softplus")(b, -(y * x)), reduction)


@TORCH.macro(f"{_F}multilabel_soft_margin_loss")
def multilabel_soft_margin_loss(
    b: Builder, input: Any, target: Any, weight: Any = None, *, reduction: Static = "mean"
) -> Any:
    """The mean over the last axis of the cross entropies of independent labels."""
    each = binary_cross_entropy_with_logits(b, input, target, weight, reduction="none")
    return _reduced(b, recorded("mean")(b, each, -1), reduction)


@TORCH.macro(f"{_F}margin_ranking_loss")
def margin_ranking_loss(
    b: Builder,
    input1: Any,
    input2: Any,
    target: Any,
    margin: Any = 0,
    *,
    reduction: Static = "mean",
) -> Any:
    """``z = max(0, margin - y (x1 - x2))`` where ``y`` 1 wants the first larger, -1 the second."""
    x1, x2, y, gap = _numbers(b, input1, input2, target, margin)
    return _reduced(b, _above_zero(b, gap - y * (x1 - x2)), reduction)


@TORCH.macro(f"{_F}hinge_embedding_loss")
def hinge_embedding_loss(
    b: Builder, input: Any, target: Any, margin: Any = 1.0, *, reduction: Static = "mean"
) -> Any:
    """``z = x`` for label 1, ``max(0, margin - x)`` for label -1."""
    x, y, gap = _numbers(b, input, target, margin)
    loss = recorded("where")(b, y.equals(1), x, _above_zero(b, gap - x))
    return _reduced(b, loss, reduction)


@TORCH.macro(f"{_F}cosine_embedding_loss")
def cosine_embedding_loss(
    b: Builder,
    input1: Any,
    input2: Any,
    target: Any,
    margin: Any = 0,
    *,
    reduction: Static = "mean",
) -> Any:
    """``z = 1 - cos`` for label 1, ``max(0, cos - margin)`` for label -1, of rows."""
    x1, x2, gap = _numbers(b, input1, input2, margin)
    products = [recorded("sum")(b, x * y, -1) for x, y in ((x1, x2), (x1, x1), (x2, x2))]
    lengths = (products[1] + 1e-12) * (products[2] + 1e-12)
    cosine = products[0] / recorded("sqrt")(b, lengths)
    alike = recorded("equal")(b, target, 1)
    loss = recorded("where")(b, alike, 1 - cosine, _above_zero(b, cosine - gap))
    return _reduced(b, loss, reduction)


@TORCH.macro(f"{_F}triplet_margin_loss")
def triplet_margin_loss(
    b: Builder,
    anchor: Any,
    positive: Any,
    negative: Any,
    margin: Any = 1.0,
    p: Static = 2,
    eps: Any = 1e-6,
    swap: Static = False,
    *,
    reduction: Static = "mean",
) -> Any:
    """``z = max(0, |anchor - positive| - |anchor - negative| + margin)`` of rows.

    With ``swap`` the negative's distance is the nearer one of those to anchor and positive.
    """
    near, far = (pairwise_distance(b, anchor, x, p, eps) for x in (positive, negative))
    if flag(swap, "swap"):
        far = recorded("minimum")(b, far, pairwise_distance(b, positive, negative, p, eps))
    gap = recorded("add")(b, recorded("subtract")(b, near, far), margin)
    return _reduced(b, _above_zero(b, gap), reduction)


@TORCH.macro(f"{_F}multi_margin_loss")
def multi_margin_loss(
    b: Builder,
    input: Any,
    target: Any,
    p: Static = 1,
    margin: Any = 1.0,
    weight: Any = None,
    *,
    reduction: Static = "mean",
) -> Any:
    """``z = sum_j max(0, margin - x[y] + x[j])^p / n`` over the ``n`` classes but ``y``.

    Times the weight of class ``y``.
    """
    x, gap = _numbers(b, input, margin)
    place = recorded("expand_dims")(b, target, -1)
    beyond = _above_zero(b, gap - recorded("take_along_axis")(b, x, place, -1) + x)
    others = recorded("not_equal")(b, recorded("arange")(b, x.type.shape[-1]), place)
    each = recorded("where")(b, others, recorded("power")(b, beyond, p), 0)
    loss = recorded("mean")(b, each, -1)
    weights = None if weight is None else recorded("take")(b, weight, target)
    return _reduced(b, loss, reduction, weights)


@TORCH.macro(f"{_F}multilabel_margin_loss")
def multilabel_margin_loss(
    b: Builder, input: Any, target: Any, *, reduction: Static = "mean"
) -> Any:
    """``z = sum_jk max(0, 1 - x[j] + x[k]) / n`` over the labels ``j`` and other classes ``k``.

    A row of ``target`` has the labels as integers, up to the first negative one.
    """
    x, labels = b.inexact(input), b.array(target)
    last = axis_of(-1, x.ndim, "multilabel_margin_loss")
    valid = recorded("cumprod")(b, recorded("greater_equal")(b, labels, 0), last)
    there = recorded("astype")(b, recorded("expand_dims")(b, valid, -1), "bool")
    place = recorded("maximum")(b, labels, 0)
    same = recorded("equal")(
        b, recorded("expand_dims")(b, place, -1), recorded("arange")(b, x.type.shape[-1])
    )
    named = recorded("any")(b, recorded("logical_and")(b, there, same), -2, keepdims=True)
    own = recorded("expand_dims")(b, recorded("take_along_axis")(b, x, place, last), -1)
    beyond = _above_zero(b, 1 - own + recorded("expand_dims")(b, x, -2))
    counted = recorded("logical_and")(b, there, recorded("logical_not")(b, named))
    each = recorded("where")(b, counted, beyond, 0)
    total = recorded("sum")(b, each, (-2, -1))
    return _reduced(b, total / x.type.shape[-1], reduction)
