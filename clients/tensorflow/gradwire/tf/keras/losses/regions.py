"""Losses of whole regions, sequences and batches: overlaps, alignments, pairwise distances."""

from __future__ import annotations

import math
from typing import Any

import gradwire.tf as tf
from gradwire.tf.keras.configurable import configurable
from gradwire.tf.keras.losses.classes import FunctionLoss
from gradwire.tf.keras.losses.functions import as_pair
from gradwire.tf.keras.masks import set_mask
from gradwire.tf.keras.settings import epsilon

__all__ = ["CTC", "Circle", "Dice", "Tversky", "circle", "ctc", "dice", "tversky"]


def dice(y_true: Any, y_pred: Any, axis: Any = None) -> Any:
    """``1 - 2 sum(t p) / (sum(t) + sum(p))``."""
    y_true, y_pred = as_pair(y_true, y_pred)
    both = tf.reduce_sum(y_true * y_pred, axis=axis)
    either = tf.reduce_sum(y_true, axis=axis) + tf.reduce_sum(y_pred, axis=axis)
    return 1.0 - 2.0 * both / (either + epsilon())


def tversky(
    y_true: Any, y_pred: Any, alpha: float = 0.5, beta: float = 0.5, axis: Any = None
) -> Any:
    """``1 - sum(t p) / (sum(t p) + alpha sum(t (1 - p)) + beta sum((1 - t) p))``."""
    y_true, y_pred = as_pair(y_true, y_pred)
    both = tf.reduce_sum(y_true * y_pred, axis=axis)
    first = tf.reduce_sum((1.0 - y_pred) * y_true, axis=axis)
    second = tf.reduce_sum(y_pred * (1.0 - y_true), axis=axis)
    return 1.0 - both / (both + first * alpha + second * beta + epsilon())


def ctc(y_true: Any, y_pred: Any) -> Any:
    """Connectionist temporal classification: labels of 0 are padding, class 0 is the blank."""
    y_true, y_pred = tf.convert_to_tensor(y_true), tf.convert_to_tensor(y_pred)
    if len(y_true.shape) != 2:
        raise ValueError(
            f"`y_true` has an axis of examples and one of labels; got shape {tuple(y_true.shape)}"
        )
    if len(y_pred.shape) != 3:
        raise ValueError(
            f"`y_pred` has axes of examples, steps and classes; got shape {tuple(y_pred.shape)}"
        )
    labels = tf.cast(y_true, tf.int32)
    return tf.nn.ctc_loss(
        labels=labels,
        logits=y_pred,
        label_length=tf.reduce_sum(tf.cast(labels != 0, tf.int32), axis=-1),
        logit_length=tf.fill([y_pred.shape[0]], y_pred.shape[1]),
        logits_time_major=False,
        blank_index=0,
    )


def circle(
    y_true: Any,
    y_pred: Any,
    ref_labels: Any = None,
    ref_embeddings: Any = None,
    remove_diagonal: bool = True,
    gamma: float = 80,
    margin: float = 0.4,
) -> Any:
    """Sun's loss of cosine distances within and between the classes of normalised vectors.

    Examples without a loss do not count in the mean.
    """
    y_pred = tf.convert_to_tensor(y_pred)
    labels = tf.reshape(tf.cast(tf.convert_to_tensor(y_true), tf.int32), [-1])
    others = y_pred if ref_embeddings is None else tf.convert_to_tensor(ref_embeddings)
    of_others = labels
    if ref_labels is not None:
        of_others = tf.reshape(tf.cast(tf.convert_to_tensor(ref_labels), tf.int32), [-1])
    distances = tf.maximum(1.0 - tf.matmul(y_pred, others, transpose_b=True), 0.0)
    same = labels[:, None] == of_others[None, :]
    different = ~same
    if remove_diagonal:
        if same.shape[0] == same.shape[1]:
            same = same & ~tf.eye(same.shape[0], dtype=tf.bool)
        else:
            raise NotImplementedError(
                "circle does not implement remove_diagonal=True with ref_embeddings of another "
                "length than the embeddings"
            )
    near = -gamma * tf.maximum(margin + distances, 0.0) * (margin - distances)
    far = gamma * tf.maximum(1.0 + margin - distances, 0.0) * (1.0 - margin - distances)
    least = tf.constant(-math.inf, distances.dtype)
    parts = [
        tf.reduce_logsumexp(tf.where(chosen, part, least), axis=1)
        for chosen, part in ((same, near), (different, far))
    ]
    value = tf.math.softplus(parts[0] + parts[1])
    set_mask(value, value > 0.0)
    return value


class CTC(FunctionLoss, of=ctc):
    """Connectionist temporal classification of labels and logits."""


@configurable
class Dice(FunctionLoss, of=dice):
    """Sørensen and Dice's overlap, taken from 1."""

    reduction: str | None = "sum_over_batch_size"
    name: Any = None
    axis: Any = None
    dtype: Any = None


@configurable
class Tversky(FunctionLoss, of=tversky):
    """Tversky's overlap, taken from 1."""

    alpha: float = 0.5
    beta: float = 0.5
    reduction: str | None = "sum_over_batch_size"
    name: Any = None
    axis: Any = None
    dtype: Any = None


@configurable
class Circle(FunctionLoss, of=circle):
    """Sun's loss of distances within and between classes."""

    gamma: float = 80.0
    margin: float = 0.4
    remove_diagonal: bool = True
    reduction: str | None = "sum_over_batch_size"
    name: Any = None
    dtype: Any = None
