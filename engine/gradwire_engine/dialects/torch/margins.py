"""PyTorch's losses with margins, of what is ranked, embedded or compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.torch.images import pairwise_distance
from gradwire_engine.dialects.torch.losses import numbers, reduced
from gradwire_engine.dialects.torch.names import TORCH
from gradwire_engine.ops.axes import axis_of, flag
from gradwire_engine.ops.base import Static

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var

_F = "nn.functional."


def _above_zero(b: Builder, x: Var) -> Any:
    """``max(x, 0)``, with derivative 1 at 0."""
    return recorded("clip")(b, x, 0, None)


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
    x1, x2, y, gap = numbers(b, input1, input2, target, margin)
    return reduced(b, _above_zero(b, gap - y * (x1 - x2)), reduction)


@TORCH.macro(f"{_F}hinge_embedding_loss")
def hinge_embedding_loss(
    b: Builder, input: Any, target: Any, margin: Any = 1.0, *, reduction: Static = "mean"
) -> Any:
    """``z = x`` for label 1, ``max(0, margin - x)`` for label -1, the sum of both for any other."""
    x, y, gap = numbers(b, input, target, margin)
    alike = recorded("where")(b, y.equals(-1), 0, x)
    apart = recorded("where")(b, y.equals(1), 0, _above_zero(b, gap - x))
    return reduced(b, alike + apart, reduction)


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
    x1, x2, gap = numbers(b, input1, input2, margin)
    products = [recorded("sum")(b, x * y, -1) for x, y in ((x1, x2), (x1, x1), (x2, x2))]
    lengths = (products[1] + 1e-12) * (products[2] + 1e-12)
    cosine = products[0] / recorded("sqrt")(b, lengths)
    alike = recorded("equal")(b, target, 1)
    loss = recorded("where")(b, alike, 1 - cosine, _above_zero(b, cosine - gap))
    return reduced(b, loss, reduction)


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
    return reduced(b, _above_zero(b, gap), reduction)


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
    x, gap = numbers(b, recorded("atleast_1d")(b, input), margin)
    place = recorded("reshape")(b, target, (*x.shape[:-1], 1))
    beyond = _above_zero(b, gap - recorded("take_along_axis")(b, x, place, -1) + x)
    others = recorded("not_equal")(b, recorded("arange")(b, x.type.shape[-1]), place)
    each = recorded("where")(b, others, recorded("power")(b, beyond, p), 0)
    loss = recorded("mean")(b, each, -1)
    weights = None if weight is None else recorded("take")(b, weight, target)
    return reduced(b, loss, reduction, weights)


@TORCH.macro(f"{_F}multilabel_margin_loss")
def multilabel_margin_loss(
    b: Builder, input: Any, target: Any, *, reduction: Static = "mean"
) -> Any:
    """``z = sum_jk max(0, 1 - x[j] + x[k]) / n`` over the labels ``j`` and other classes ``k``.

    A row of ``target`` has the labels as integers, up to the first negative one.
    """
    x, labels = (recorded("atleast_1d")(b, v) for v in (b.inexact(input), target))
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
    return reduced(b, total / x.type.shape[-1], reduction)
