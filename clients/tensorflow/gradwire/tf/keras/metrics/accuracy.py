"""Metrics of right classes: shares of examples whose class was said."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradwire.tf as tf
from gradwire.tf.keras.configurable import configurable
from gradwire.tf.keras.losses.ranks import same_rank
from gradwire.tf.keras.metrics.base import FunctionMetric, numbers
from gradwire.tf.keras.settings import floatx

__all__ = [
    "Accuracy", "BinaryAccuracy", "CategoricalAccuracy", "SparseCategoricalAccuracy",
    "SparseTopKCategoricalAccuracy", "TopKCategoricalAccuracy", "accuracy", "binary_accuracy",
    "categorical_accuracy", "sparse_categorical_accuracy", "sparse_top_k_categorical_accuracy",
    "top_k_categorical_accuracy",
]  # fmt: skip


def accuracy(y_true: Any, y_pred: Any) -> Any:
    """1 where truth and prediction are equal, else 0."""
    true, said = same_rank(numbers(y_true), numbers(y_pred))
    return _yes(true == said)


def binary_accuracy(y_true: Any, y_pred: Any, threshold: float = 0.5) -> Any:
    """1 where elements are on the right side of the threshold, else 0."""
    true, said = same_rank(numbers(y_true), numbers(y_pred))
    return _yes(true == (said > threshold))


def categorical_accuracy(y_true: Any, y_pred: Any) -> Any:
    """1 where the greatest score is that of the class, given as a row of a one, else 0."""
    return _yes(numbers(y_true).argmax(-1) == numbers(y_pred).argmax(-1))


def sparse_categorical_accuracy(y_true: Any, y_pred: Any) -> Any:
    """1 where the greatest score is that of the class, given as an integer, else 0."""
    truth, scores = numbers(y_true), numbers(y_pred)
    if truth.ndim == scores.ndim:
        truth = truth[..., 0]
    return _yes(truth == scores.argmax(-1))


def top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: int = 5) -> Any:
    """1 where the class, given as a row of a one, is among the ``k`` greatest scores, else 0."""
    return sparse_top_k_categorical_accuracy(numbers(y_true).argmax(-1), y_pred, k)


def sparse_top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: int = 5) -> Any:
    """1 where the class, given as an integer, is among the ``k`` greatest scores, else 0."""
    scores = numbers(y_pred)
    classes = numbers(y_true).reshape(scores.shape[:-1]).astype(np.int64)
    own = np.take_along_axis(scores, classes[..., None], -1)
    return _yes((scores > own).sum(-1) < k)


def _yes(right: Any) -> Any:
    return tf.constant(np.asarray(right, np.float32), tf.as_dtype(floatx()))


class Accuracy(FunctionMetric, of=accuracy, best="up"):
    """The share of equal elements."""


@configurable
class BinaryAccuracy(FunctionMetric, of=binary_accuracy, best="up"):
    """The share of elements on the right side of the threshold."""

    name: Any = None
    dtype: Any = None
    threshold: float = 0.5


class CategoricalAccuracy(FunctionMetric, of=categorical_accuracy, best="up"):
    """The share of right classes, given as rows of a one."""


class SparseCategoricalAccuracy(FunctionMetric, of=sparse_categorical_accuracy, best="up"):
    """The share of right classes, given as integers."""


@configurable
class TopKCategoricalAccuracy(FunctionMetric, of=top_k_categorical_accuracy, best="up"):
    """The share of classes, given as rows of a one, that are among the ``k`` greatest scores."""

    k: int = 5
    name: Any = None
    dtype: Any = None


class SparseTopKCategoricalAccuracy(
    TopKCategoricalAccuracy, of=sparse_top_k_categorical_accuracy, best="up"
):
    """The share of classes, given as integers, that are among the ``k`` greatest scores."""
