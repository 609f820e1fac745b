"""Losses in which what is said well counts less: focal and generalised cross-entropies."""

from __future__ import annotations

from typing import Any

import gradwire.tf as tf
from gradwire.tf.keras.configurable import configurable
from gradwire.tf.keras.losses.classes import FunctionLoss
from gradwire.tf.keras.losses.functions import as_pair, binary_terms, smoothed
from gradwire.tf.keras.settings import epsilon
from gradwire.tf.logits import remember

__all__ = [
    "BinaryFocalCrossentropy", "CategoricalFocalCrossentropy", "CategoricalGeneralizedCrossEntropy",
    "binary_focal_crossentropy", "categorical_focal_crossentropy",
    "categorical_generalized_cross_entropy",
]  # fmt: skip


def binary_focal_crossentropy(
    y_true: Any,
    y_pred: Any,
    apply_class_balancing: bool = False,
    alpha: float = 0.25,
    gamma: float = 2.0,
    from_logits: bool = False,
    label_smoothing: float = 0.0,
    axis: int = -1,
) -> Any:
    """Lin's: each term of ``binary_crossentropy`` times ``(1 - p)^gamma`` of the true side."""
    y_true, y_pred = as_pair(y_true, y_pred)
    y_true = smoothed(y_true, label_smoothing, 2.0)
    if from_logits:
        y_pred = remember(tf.sigmoid(y_pred), y_pred, "Sigmoid")
    right = y_true * y_pred + (1.0 - y_true) * (1.0 - y_pred)
    value = (1.0 - right) ** gamma * binary_terms(y_true, y_pred, from_logits=False)
    if apply_class_balancing:
        value = (y_true * alpha + (1.0 - y_true) * (1.0 - alpha)) * value
    return tf.reduce_mean(value, axis=axis)


def categorical_focal_crossentropy(
    y_true: Any,
    y_pred: Any,
    alpha: Any = 0.25,
    gamma: float = 2.0,
    from_logits: bool = False,
    label_smoothing: float = 0.0,
    axis: int = -1,
) -> Any:
    """Lin's: ``-sum(alpha (1 - p)^gamma y_true log(p))`` along an axis."""
    y_true, y_pred = as_pair(y_true, y_pred)
    y_true = smoothed(y_true, label_smoothing, float(tuple(y_true.shape)[-1]))
    if from_logits:
        y_pred = tf.nn.softmax(y_pred, axis=axis)
    p = y_pred / tf.reduce_sum(y_pred, axis=axis, keepdims=True)
    p = tf.clip_by_value(p, epsilon(), 1.0 - epsilon())
    factor = (1.0 - p) ** gamma * tf.constant(alpha, p.dtype)
    return tf.reduce_sum(factor * (-y_true * tf.math.log(p)), axis=axis)


def categorical_generalized_cross_entropy(y_true: Any, y_pred: Any, q: float) -> Any:
    """Zhang and Sabuncu's: ``(1 - p^q) / q`` of the class that an integer names."""
    y_pred = tf.convert_to_tensor(y_pred)
    labels = tf.cast(tf.convert_to_tensor(y_true), tf.int32)
    classes = tf.one_hot(labels, tuple(y_pred.shape)[-1], dtype=y_pred.dtype)
    return (1.0 - tf.reduce_sum(y_pred * classes, axis=-1) ** q) / q


@configurable
class BinaryFocalCrossentropy(FunctionLoss, of=binary_focal_crossentropy):
    """The cross-entropy of yes and no, in which what is said well counts less."""

    apply_class_balancing: bool = False
    alpha: float = 0.25
    gamma: float = 2.0
    from_logits: bool = False
    label_smoothing: float = 0.0
    axis: int = -1
    reduction: str | None = "sum_over_batch_size"
    name: Any = None
    dtype: Any = None


@configurable
class CategoricalFocalCrossentropy(FunctionLoss, of=categorical_focal_crossentropy):
    """The cross-entropy of classes, in which what is said well counts less."""

    alpha: Any = 0.25
    gamma: float = 2.0
    from_logits: bool = False
    label_smoothing: float = 0.0
    axis: int = -1
    reduction: str | None = "sum_over_batch_size"
    name: Any = None
    dtype: Any = None


@configurable
class CategoricalGeneralizedCrossEntropy(FunctionLoss, of=categorical_generalized_cross_entropy):
    """A cross-entropy between that of classes and the mean absolute error."""

    q: float = 0.5
    reduction: str | None = "sum_over_batch_size"
    name: Any = None
    dtype: Any = None

    def __post_init__(self) -> None:
        if not 0 < self.q < 1:
            raise ValueError(f"`q` must lie between 0 and 1, and be neither; got {self.q}")
