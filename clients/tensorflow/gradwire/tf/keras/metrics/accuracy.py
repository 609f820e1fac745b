"""Metrics of right classes: shares of examples whose class was said."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwire.tf.keras.losses.ranks import same_rank
from gradwire.tf.keras.metrics.base import FunctionMetric, numbers


def accuracy(y_true: Any, y_pred: Any) -> Any:
    """Where truth and prediction are equal."""
    true, said = same_rank(numbers(y_true), numbers(y_pred))
    return (true == said).astype(np.float32)


def binary_accuracy(y_true: Any, y_pred: Any, threshold: float = 0.5) -> Any:
    """Where elements are on the right side of the threshold."""
    true, said = same_rank(numbers(y_true), numbers(y_pred))
    return (true == (said > threshold)).astype(np.float32)


def categorical_accuracy(y_true: Any, y_pred: Any) -> Any:
    """Where the greatest score is that of the class, given as a row of a one."""
    return (numbers(y_true).argmax(-1) == numbers(y_pred).argmax(-1)).astype(np.float32)


def sparse_categorical_accuracy(y_true: Any, y_pred: Any) -> Any:
    """Where the greatest score is that of the class, given as an integer."""
    truth, scores = numbers(y_true), numbers(y_pred)
    if truth.ndim == scores.ndim:
        truth = truth[..., 0]
    return (truth == scores.argmax(-1)).astype(np.float32)


def _among_greatest(classes: Any, scores: Any, k: int) -> Any:
    classes = classes.reshape(scores.shape[:-1]).astype(np.int64)
    own = np.take_along_axis(scores, classes[..., None], -1)
    return ((scores > own).sum(-1) < k).astype(np.float32)


class Accuracy(FunctionMetric):
    """The share of equal elements."""

    _direction = "up"

    _function = staticmethod(accuracy)


class BinaryAccuracy(FunctionMetric):
    """The share of elements on the right side of the threshold."""

    _direction = "up"

    _function = staticmethod(binary_accuracy)

    def __init__(self, name: str | None = None, dtype: Any = None, threshold: float = 0.5) -> None:
        super().__init__(name, dtype)
        self._parameters = {"threshold": threshold}


class CategoricalAccuracy(FunctionMetric):
    """The share of right classes, given as rows of a one."""

    _direction = "up"

    _function = staticmethod(categorical_accuracy)


class SparseCategoricalAccuracy(FunctionMetric):
    """The share of right classes, given as integers."""

    _direction = "up"

    _function = staticmethod(sparse_categorical_accuracy)


class TopKCategoricalAccuracy(FunctionMetric):
    """The share of classes, given as rows of a one, that are among the ``k`` greatest scores."""

    _direction = "up"

    _function = staticmethod(
        lambda y, p, k=5: _among_greatest(numbers(y).argmax(-1), numbers(p), k)
    )

    def __init__(self, k: int = 5, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(name, dtype)
        self._parameters = {"k": k}


class SparseTopKCategoricalAccuracy(TopKCategoricalAccuracy):
    """The share of classes, given as integers, that are among the ``k`` greatest scores."""

    _function = staticmethod(lambda y, p, k=5: _among_greatest(numbers(y), numbers(p), k))
