"""Keras's losses: one number for each example."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.tensorflow.names import TF
from gradwire_engine.ops.axes import axis_of, flag
from gradwire_engine.ops.base import Static
from gradwire_engine.ops.conversion import floating
from gradwire_engine.ops.promotion import inexact_promoted

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var

_L = "keras.losses."
#: Keras keeps probabilities this far from 0 and 1 before it takes logarithms.
_FUZZ = 1e-7


def _pair(b: Builder, y_true: Any, y_pred: Any) -> list[Var]:
    return b.promote(y_true, y_pred, rule=inexact_promoted)


def _least(b: Builder, x: Var, least: float = _FUZZ) -> Var:
    z: Var = recorded("maximum")(b, x, least)
    return z


def _inside(b: Builder, x: Var) -> Var:
    z: Var = recorded("clip")(b, x, _FUZZ, 1 - _FUZZ)
    return z


def _mean(b: Builder, loss: Any) -> Any:
    return recorded("mean")(b, loss, -1)


@TF.macro(f"{_L}mse {_L}MSE")
def mean_squared_error(b: Builder, y_true: Any, y_pred: Any) -> Any:
    """Mean over the last axis of ``(y_true - y_pred)²``."""
    true, pred = _pair(b, y_true, y_pred)
    return _mean(b, recorded("square")(b, true - pred))


@TF.macro(f"{_L}mae {_L}MAE")
def mean_absolute_error(b: Builder, y_true: Any, y_pred: Any) -> Any:
    """Mean over the last axis of ``|y_true - y_pred|``."""
    true, pred = _pair(b, y_true, y_pred)
    return _mean(b, recorded("absolute")(b, true - pred))


@TF.macro(f"{_L}mape {_L}MAPE")
def mean_absolute_percentage_error(b: Builder, y_true: Any, y_pred: Any) -> Any:
    """100 times the mean over the last axis of ``|y_true - y_pred| / max(|y_true|, 1e-7)``."""
    true, pred = _pair(b, y_true, y_pred)
    least = _least(b, recorded("absolute")(b, true))
    return _mean(b, recorded("absolute")(b, (true - pred) / least)) * 100


@TF.macro(f"{_L}msle {_L}MSLE")
def mean_squared_logarithmic_error(b: Builder, y_true: Any, y_pred: Any) -> Any:
    """Mean over the last axis of the squared difference of ``ln(1 + max(y, 1e-7))``."""
    true, pred = (recorded("log1p")(b, _least(b, y)) for y in _pair(b, y_true, y_pred))
    return _mean(b, recorded("square")(b, true - pred))


@TF.macro(f"{_L}huber")
def huber(b: Builder, y_true: Any, y_pred: Any, delta: Any = 1.0) -> Any:
    """Mean over the last axis of Huber's loss."""
    return _mean(b, recorded("huber_loss")(b, y_true, y_pred, "none", delta))


@TF.macro(f"{_L}logcosh")
def log_cosh(b: Builder, y_true: Any, y_pred: Any) -> Any:
    """Mean over the last axis of ``ln cosh(y_pred - y_true)``."""
    true, pred = _pair(b, y_true, y_pred)
    error = pred - true
    return _mean(b, error + recorded("softplus")(b, error * -2) - math.log(2))


@TF.macro(f"{_L}poisson")
def poisson(b: Builder, y_true: Any, y_pred: Any) -> Any:
    """Mean over the last axis of ``y_pred - y_true ln(y_pred + 1e-7)``."""
    true, pred = _pair(b, y_true, y_pred)
    return _mean(b, pred - true * recorded("log")(b, pred + _FUZZ))


@TF.macro(f"{_L}kld {_L}KLD {_L}kullback_leibler_divergence")
def kl_divergence(b: Builder, y_true: Any, y_pred: Any) -> Any:
    """Sum over the last axis of ``y_true ln(y_true / y_pred)``, both held from 1e-7 to 1."""
    true, pred = (recorded("clip")(b, y, _FUZZ, 1) for y in _pair(b, y_true, y_pred))
    return recorded("sum")(b, true * recorded("log")(b, true / pred), -1)


@TF.macro(f"{_L}cosine_similarity")
def cosine_similarity(b: Builder, y_true: Any, y_pred: Any, axis: Static = -1) -> Any:
    """Minus the cosine of the angle between the vectors along ``axis``."""
    true, pred = (recorded("normalize")(b, y, axis) for y in _pair(b, y_true, y_pred))
    return recorded("negative")(b, recorded("sum")(b, true * pred, axis))


@TF.macro(f"{_L}hinge")
def hinge(b: Builder, y_true: Any, y_pred: Any) -> Any:
    """Mean over the last axis of ``max(1 - y_true y_pred, 0)``, for labels of -1 and 1."""
    true, pred = _pair(b, y_true, y_pred)
    return _mean(b, _least(b, 1 - true * pred, 0))


@TF.macro(f"{_L}squared_hinge")
def squared_hinge(b: Builder, y_true: Any, y_pred: Any) -> Any:
    """Mean over the last axis of ``max(1 - y_true y_pred, 0)²``, for labels of -1 and 1."""
    true, pred = _pair(b, y_true, y_pred)
    return _mean(b, recorded("square")(b, _least(b, 1 - true * pred, 0)))


@TF.macro(f"{_L}categorical_hinge")
def categorical_hinge(b: Builder, y_true: Any, y_pred: Any) -> Any:
    """``max(n - p + 1, 0)``: ``p`` is the score of the true class, ``n`` the largest of others."""
    true, pred = _pair(b, y_true, y_pred)
    right = recorded("sum")(b, true * pred, -1)
    wrong = recorded("max")(b, (1 - true) * pred, -1)
    return _least(b, wrong - right + 1, 0)


@TF.macro(f"{_L}binary_crossentropy")
def binary_crossentropy(
    b: Builder,
    y_true: Any,
    y_pred: Any,
    from_logits: Static = False,
    label_smoothing: Any = 0.0,
    axis: Static = -1,
) -> Any:
    """Mean along ``axis`` of ``-t ln p - (1 - t) ln(1 - p)``, labels moved towards 1/2 by
    ``label_smoothing``; probabilities are held within 1e-7 of 0 and 1, logits are exact.
    """
    true, pred, moved = b.promote(y_true, y_pred, label_smoothing, rule=inexact_promoted)
    true = true * (1 - moved) + moved * 0.5
    if flag(from_logits, "from_logits"):
        loss = recorded("sigmoid_cross_entropy_with_logits")(b, true, pred)
    else:
        pred = _inside(b, pred)
        yes, no = (recorded("log")(b, p) for p in (pred, 1 - pred))
        loss = -(true * yes + (1 - true) * no)
    return recorded("mean")(b, loss, axis)


@TF.macro(f"{_L}categorical_crossentropy")
def categorical_crossentropy(
    b: Builder,
    y_true: Any,
    y_pred: Any,
    from_logits: Static = False,
    label_smoothing: Any = 0.0,
    axis: Static = -1,
) -> Any:
    """``-sum t ln p`` along ``axis``, labels moved towards all equal by ``label_smoothing``;
    probabilities are made to sum to 1 and held within 1e-7 of 0 and 1.
    """
    true, pred, moved = b.promote(y_true, y_pred, label_smoothing, rule=inexact_promoted)
    true = true * (1 - moved) + moved / pred.shape[axis_of(axis, pred.ndim, "crossentropy")]
    if flag(from_logits, "from_logits"):
        return recorded("softmax_cross_entropy_with_logits")(b, true, pred, axis)
    share = _inside(b, pred / recorded("sum")(b, pred, axis, keepdims=True))
    return recorded("negative")(b, recorded("sum")(b, true * recorded("log")(b, share), axis))


@TF.macro(f"{_L}sparse_categorical_crossentropy")
def sparse_categorical_crossentropy(
    b: Builder,
    y_true: Any,
    y_pred: Any,
    from_logits: Static = False,
    ignore_class: Static = None,
) -> Any:
    """``-ln p`` of the class that each integer names, 0 for ``ignore_class``;
    probabilities are held within 1e-7 of 0 and 1 and made to sum to 1.
    """
    labels, scores = b.array(y_true), floating(b, y_pred)
    if not flag(from_logits, "from_logits"):
        scores = recorded("log")(b, _inside(b, scores))
    if ignore_class is None:
        return recorded("sparse_softmax_cross_entropy_with_logits")(b, labels, scores)
    ignored = recorded("equal")(b, labels, ignore_class)
    kept = recorded("where")(b, ignored, 0, labels)
    loss = recorded("sparse_softmax_cross_entropy_with_logits")(b, kept, scores)
    return recorded("where")(b, ignored, 0, loss)


@TF.macro(f"{_L}dice")
def dice(b: Builder, y_true: Any, y_pred: Any, axis: Static = None) -> Any:
    """``1 - 2 sum(t p) / (sum t + sum p + 1e-7)`` over ``axis``."""
    true, pred = _pair(b, y_true, y_pred)
    both, one, other = (recorded("sum")(b, y, axis) for y in (true * pred, true, pred))
    return 1 - both * 2 / (one + other + _FUZZ)


@TF.macro(f"{_L}tversky")
def tversky(
    b: Builder,
    y_true: Any,
    y_pred: Any,
    alpha: Any = 0.5,
    beta: Any = 0.5,
    axis: Static = None,
) -> Any:
    """``1 - s / (s + alpha m + beta f + 1e-7)``, sums over ``axis``: ``s`` of what agrees, ``t p``,
    ``m`` of what is missed, ``t (1 - p)``, ``f`` of what is falsely found, ``(1 - t) p``.
    """
    true, pred, missed, false = b.promote(y_true, y_pred, alpha, beta, rule=inexact_promoted)
    agreeing = recorded("sum")(b, true * pred, axis)
    less = recorded("sum")(b, true * (1 - pred) * missed + (1 - true) * pred * false, axis)
    return 1 - agreeing / (agreeing + less + _FUZZ)
