"""``tf.compat.v1.losses``: losses with weights, which are summed and divided by a reduction.

Collections of losses are graphs' and are not there: ``loss_collection`` has no effect.
"""

from __future__ import annotations

from typing import Any

import gradwire.tf as tf

__all__ = [
    "Reduction", "absolute_difference", "compute_weighted_loss", "cosine_distance", "hinge_loss",
    "huber_loss", "log_loss", "mean_pairwise_squared_error", "mean_squared_error",
    "sigmoid_cross_entropy", "softmax_cross_entropy", "sparse_softmax_cross_entropy",
]  # fmt: skip


class Reduction:
    """The ways in which weighted losses become one number."""

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """All of them."""
        return (
            cls.NONE, cls.SUM, cls.MEAN, cls.SUM_OVER_BATCH_SIZE, cls.SUM_OVER_NONZERO_WEIGHTS,
            cls.SUM_BY_NONZERO_WEIGHTS,
        )  # fmt: skip

    @classmethod
    def validate(cls, key: str) -> None:
        """Raise unless it is one."""
        if key not in cls.all():
            raise ValueError(f"Invalid ReductionKey {key}.")


def compute_weighted_loss(
    losses: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: Any = None,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:
    """``sum(w losses) / n``: n is 1, the sum of weights, the number of losses or of weights != 0.

    Weights have a length of 1 or of the losses along each axis, or are one number.
    """
    Reduction.validate(reduction)
    given = tf.convert_to_tensor(losses)
    values, weight = _floats(given), _floats(weights)
    ours, theirs = list(values.shape), list(weight.shape)
    if theirs and (
        len(ours) != len(theirs) or any(b not in (1, a) for a, b in zip(ours, theirs, strict=True))
    ):
        raise ValueError(
            f"weights can not be broadcast to values. values.shape={ours}. weights.shape={theirs}."
        )
    weighted = values * weight
    if reduction == Reduction.NONE:
        return _as(weighted, given)
    total = tf.reduce_sum(weighted)
    if reduction == Reduction.SUM_OVER_BATCH_SIZE:
        total = tf.math.divide_no_nan(total, float(tf.size(values)))
    elif reduction != Reduction.SUM:
        each = tf.broadcast_to(weight, ours)
        if reduction != Reduction.MEAN:
            each = tf.cast(tf.not_equal(each, 0.0), tf.float32)
        total = tf.math.divide_no_nan(total, tf.reduce_sum(each))
    return _as(total, given)


def absolute_difference(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: Any = None,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:
    """``|p - y|``."""
    said, true = _pair(predictions, labels)
    return compute_weighted_loss(tf.abs(said - true), weights, reduction=reduction)


def mean_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: Any = None,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:
    """``(p - y)^2``."""
    said, true = _pair(predictions, labels)
    return compute_weighted_loss(
        tf.math.squared_difference(said, true), weights, reduction=reduction
    )


def cosine_distance(
    labels: Any,
    predictions: Any,
    axis: int | None = None,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: Any = None,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
    dim: int | None = None,
) -> Any:
    """``1 - sum(p y)`` along an axis, of unit vectors."""
    along = dim if axis is None else axis
    if along is None:
        raise ValueError("You must specify 'axis'.")
    said, true = _pair(predictions, labels)
    losses = 1.0 - tf.reduce_sum(said * true, axis=along, keepdims=True)
    return compute_weighted_loss(losses, weights, reduction=reduction)


def hinge_loss(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: Any = None,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:
    """``max(0, 1 - (2 y - 1) x)``, of labels 0 and 1."""
    said, true = _pair(logits, labels)
    return compute_weighted_loss(
        tf.nn.relu(1.0 - (2.0 * true - 1.0) * said), weights, reduction=reduction
    )


def huber_loss(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    delta: float = 1.0,
    scope: str | None = None,
    loss_collection: Any = None,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:
    """``q^2 / 2 + delta (e - q)`` of the error e, where q is the lesser of e and ``delta``."""
    said, true = _pair(predictions, labels)
    error = tf.abs(said - true)
    square = tf.minimum(error, delta)
    losses = 0.5 * square * square + delta * (error - square)
    return compute_weighted_loss(losses, weights, reduction=reduction)


def log_loss(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    epsilon: float = 1e-07,
    scope: str | None = None,
    loss_collection: Any = None,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:
    """``-y log(p + e) - (1 - y) log(1 - p + e)``."""
    said, true = _pair(predictions, labels)
    losses = -true * tf.math.log(said + epsilon) - (1.0 - true) * tf.math.log(1.0 - said + epsilon)
    return compute_weighted_loss(losses, weights, reduction=reduction)


def mean_pairwise_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: Any = None,
) -> Any:
    """The sum over examples of the mean of ``(d_i - d_j)^2`` over pairs, with ``d = p - y``.

    It is ``2 (sum d^2 / (n - 1) - (sum d)^2 / (n (n - 1)))``. As in TensorFlow n is the number of
    an example's elements where each has a weight, and of all elements where all have the same.
    """
    said, true = _pair(predictions, labels)
    difference = tf.reshape(said - true, (said.shape[0], -1))
    weight = _floats(weights)
    examples, count = map(float, difference._lengths())
    if len(weight.shape):
        weight = tf.reshape(weight, (said.shape[0],))
    else:
        count *= examples
    squares = tf.reduce_sum(difference**2, axis=1)
    sums = tf.reduce_sum(difference, axis=1)
    first = tf.math.divide_no_nan(squares, max(count - 1.0, 0.0))
    second = tf.math.divide_no_nan(sums**2, count * (count - 1.0))
    present = tf.cast(tf.not_equal(weight, 0.0), tf.float32)
    return tf.reduce_sum(2.0 * (first - second) * weight * present)


def sigmoid_cross_entropy(
    multi_class_labels: Any,
    logits: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: Any = None,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:
    """Cross entropy of the logistic function; smoothed labels are ``y (1 - s) + s / 2``."""
    scores = tf.convert_to_tensor(logits)
    labels = tf.cast(multi_class_labels, scores.dtype)
    if label_smoothing > 0:
        labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
    losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=scores)
    return compute_weighted_loss(losses, weights, reduction=reduction)


def softmax_cross_entropy(
    onehot_labels: Any,
    logits: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: Any = None,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:
    """Cross entropy of softmax; smoothed labels are ``y (1 - s) + s / classes``."""
    scores = tf.convert_to_tensor(logits)
    labels = tf.cast(onehot_labels, scores.dtype)
    if label_smoothing > 0:
        labels = labels * (1 - label_smoothing) + label_smoothing / labels._lengths()[-1]
    losses = tf.nn.softmax_cross_entropy_with_logits(tf.stop_gradient(labels), scores)
    return compute_weighted_loss(losses, weights, reduction=reduction)


def sparse_softmax_cross_entropy(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: Any = None,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:
    """Cross entropy of softmax by the classes' numbers."""
    numbers, scores = tf.convert_to_tensor(labels), tf.convert_to_tensor(logits)
    if len(numbers.shape) == len(scores.shape) and numbers.shape[-1] == 1:
        numbers = tf.squeeze(numbers, -1)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(numbers, scores)
    return compute_weighted_loss(losses, weights, reduction=reduction)


def _floats(value: Any) -> Any:
    return tf.cast(value, tf.float32)


def _pair(said: Any, true: Any) -> tuple[Any, Any]:
    """Both as float32, of one shape."""
    one, other = _floats(said), _floats(true)
    if one.shape != other.shape:
        raise ValueError(f"Shapes {one.shape} and {other.shape} are incompatible")
    return one, other


def _as(value: Any, given: Any) -> Any:
    return tf.cast(value, given.dtype)
