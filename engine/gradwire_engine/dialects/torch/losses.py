"""PyTorch's losses: ``torch.nn.functional``'s, reduced by their mean unless told otherwise."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.torch.names import TORCH
from gradwire_engine.errors import BadArgument
from gradwire_engine.ops.axes import flag
from gradwire_engine.ops.base import Static
from gradwire_engine.ops.promotion import inexact_promoted

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var

_F = "nn.functional."


def reduced(b: Builder, loss: Any, reduction: Any, weight: Any = None) -> Any:
    """The mean, the sum, or each of the losses times ``weight``."""
    weighed = loss if weight is None else recorded("multiply")(b, weight, loss)
    if reduction in ("mean", "sum"):
        return recorded(reduction)(b, weighed)
    if reduction == "none":
        return weighed
    raise BadArgument("reduction must be 'mean', 'sum' or 'none'")


def numbers(b: Builder, *operands: Any) -> list[Var]:
    """The operands as variables of one floating dtype."""
    return b.promote(*operands, rule=inexact_promoted)


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
        return reduced(b, loss, reduction, weight)
    total = reduced(b, loss, "sum", weight)
    return recorded("divide")(b, total, recorded("sum")(b, weight))


@TORCH.macro(f"{_F}smooth_l1_loss")
def smooth_l1_loss(
    b: Builder, input: Any, target: Any, *, reduction: Static = "mean", beta: Any = 1.0
) -> Any:
    """Huber's loss divided by its bound: ``d² / (2 beta)`` near 0, slope 1 beyond ``beta``."""
    if isinstance(beta, int | float) and beta == 0:
        return l1_loss(b, input, target, reduction=reduction)
    return recorded("smooth_l1_loss")(b, input, target, reduction, beta)


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
    return reduced(b, loss, reduction, weight)


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
    x, y = numbers(b, input, target)
    yes = y if pos_weight is None else recorded("multiply")(b, pos_weight, y)
    loss = yes * recorded("softplus")(b, -x) + (1 - y) * recorded("softplus")(b, x)
    return reduced(b, loss, reduction, weight)


@TORCH.macro(f"{_F}binary_cross_entropy")
def binary_cross_entropy(
    b: Builder, input: Any, target: Any, weight: Any = None, *, reduction: Static = "mean"
) -> Any:
    """Cross entropy of independent labels with the probabilities ``input``.

    Logarithms below -100 count as -100, with derivative 0.
    """
    x, y = numbers(b, input, target)
    yes, no = (_bounded(b, recorded(name)(b, p)) for name, p in (("log", x), ("log1p", -x)))
    return reduced(b, -(y * yes + (1 - y) * no), reduction, weight)


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
    return reduced(b, -recorded("sum")(b, recorded("multiply")(b, shares, logs), axis), reduction)


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
    return reduced(b, loss, reduction)


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
    x, y = numbers(b, input, target)
    if flag(log_target, "log_target"):
        loss = recorded("exp")(b, y) * (y - x)
    else:
        loss = recorded("xlogy")(b, y, y) - y * x
    if reduction == "batchmean":
        return recorded("sum")(b, loss) / x.type.shape[0]
    return reduced(b, loss, reduction)


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
    x, y = numbers(b, input, target)
    if flag(log_input, "log_input"):
        loss = recorded("exp")(b, x) - y * x
    else:
        loss = x - y * recorded("log")(b, recorded("add")(b, x, eps))
    if flag(full, "full"):
        logs = recorded("log")(b, y)
        stirling = y * logs - y + 0.5 * (logs + math.log(2 * math.pi))
        loss = loss + recorded("where")(b, y.exceeds(1), stirling, 0)
    return reduced(b, loss, reduction)


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
    x, y, v = numbers(b, input, target, var)
    if v.ndim and v.type.shape == x.type.shape[:-1]:
        v = recorded("expand_dims")(b, v, -1)
    missing = recorded("maximum")(b, v, eps) - v
    v = v + recorded("stop_gradient")(b, missing)
    loss = 0.5 * (recorded("log")(b, v) + recorded("square")(b, x - y) / v)
    if flag(full, "full"):
        loss = loss + 0.5 * math.log(2 * math.pi)
    return reduced(b, loss, reduction)


@TORCH.macro(f"{_F}soft_margin_loss")
def soft_margin_loss(b: Builder, input: Any, target: Any, *, reduction: Static = "mean") -> Any:
    """``z = ln(1 + exp(-y x))`` for labels ``y`` of 1 and -1."""
    x, y = numbers(b, input, target)
    return reduced(b, recorded("softplus")(b, -(y * x)), reduction)


@TORCH.macro(f"{_F}multilabel_soft_margin_loss")
def multilabel_soft_margin_loss(
    b: Builder, input: Any, target: Any, weight: Any = None, *, reduction: Static = "mean"
) -> Any:
    """The mean over the last axis of the cross entropies of independent labels."""
    each = binary_cross_entropy_with_logits(b, input, target, weight, reduction="none")
    return reduced(b, recorded("mean")(b, each, -1), reduction)


@TORCH.macro(f"{_F}ctc_loss")
def ctc_loss(
    b: Builder,
    log_probs: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: Static = 0,
    reduction: Static = "mean",
    zero_infinity: Static = False,
) -> Any:
    """``-ln`` of the probability of the labels, whatever their alignment with the steps.

    ``targets`` has a row for each item; the mean is of the losses over the numbers of labels.
    ``zero_infinity`` makes 0 of what no alignment has.
    """
    logs, labels = b.array(log_probs), b.array(targets)
    lengths = [b.array(n) for n in (input_lengths, target_lengths)]
    single = logs.ndim == 2
    if single:
        logs, labels = recorded("expand_dims")(b, logs, 1), recorded("expand_dims")(b, labels, 0)
        lengths = [recorded("reshape")(b, n, (1,)) for n in lengths]
    loss = recorded("ctc_loss")(b, logs, labels, *lengths, blank)
    if flag(zero_infinity, "zero_infinity"):
        loss = recorded("where")(b, recorded("isinf")(b, loss), 0, loss)
    if reduction == "mean":
        loss = recorded("divide")(b, loss, recorded("maximum")(b, lengths[1], 1))
    elif single:
        loss = recorded("squeeze")(b, loss, 0)
    return reduced(b, loss, reduction)
