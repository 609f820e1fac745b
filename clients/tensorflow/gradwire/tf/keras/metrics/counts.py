"""Metrics of yes and no: counts of right and wrong predictions beyond a threshold."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from gradwire.tf.arguments import only
from gradwire.tf.keras.configurable import configurable
from gradwire.tf.keras.losses.ranks import same_rank
from gradwire.tf.keras.metrics.base import Metric, numbers

__all__ = [
    "FalseNegatives", "FalsePositives", "Precision", "Recall", "TrueNegatives", "TruePositives",
]  # fmt: skip


class _Marked(Metric):
    """A figure of what is true and what was said to be: what is above a threshold."""

    thresholds: Any

    def __post_init__(self) -> None:
        if np.ndim(self.thresholds):
            raise NotImplementedError(
                f"{type(self).__name__} does not implement thresholds={self.thresholds!r}; one "
                "threshold is possible"
            )
        self._threshold = 0.5 if self.thresholds is None else float(self.thresholds)
        self.reset_state()

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        self._count(*_marked(y_true, y_pred, sample_weight, self._threshold))

    def _count(self, truth: Any, said: Any, weight: Any) -> None:
        raise NotImplementedError(f"{type(self).__name__} must have a method _count")


class _Share(_Marked):
    """The share that is right of what was said to be true, or of what is true."""

    _direction = "up"
    _is_recall: ClassVar[bool] = False
    top_k: int | None
    class_id: int | None

    def __post_init__(self) -> None:
        name = type(self).__name__
        only(name, top_k=(self.top_k, None), class_id=(self.class_id, None))
        super().__post_init__()

    def _count(self, truth: Any, said: Any, weight: Any) -> None:
        wrong = truth & ~said if self._is_recall else ~truth & said
        self._right += float(np.sum((truth & said) * weight))
        self._wrong += float(np.sum(wrong * weight))

    def result(self) -> Any:
        counted = self._right + self._wrong
        return self._figure(self._right / counted if counted else 0.0)

    def reset_state(self) -> None:
        self._right = self._wrong = 0.0


@configurable
class Precision(_Share):
    """The share of what was said to be true that is true."""

    thresholds: Any = None
    top_k: int | None = None
    class_id: int | None = None
    name: Any = None
    dtype: Any = None


@configurable
class Recall(_Share):
    """The share of what is true that was said to be."""

    _is_recall = True
    thresholds: Any = None
    top_k: int | None = None
    class_id: int | None = None
    name: Any = None
    dtype: Any = None


@configurable
class _Cell(_Marked):
    """The weighted count of one cell of the table of truth and prediction."""

    _true: ClassVar[bool] = True
    _said: ClassVar[bool] = True
    thresholds: Any = None
    name: Any = None
    dtype: Any = None

    def _count(self, truth: Any, said: Any, weight: Any) -> None:
        self._total += float(np.sum(((truth == self._true) & (said == self._said)) * weight))

    def result(self) -> Any:
        return self._figure(self._total)

    def reset_state(self) -> None:
        self._total = 0.0


class TruePositives(_Cell):
    """The count of true elements that were predicted true."""


class TrueNegatives(_Cell):
    """The count of false elements that were predicted false."""

    _true = _said = False


class FalsePositives(_Cell):
    """The count of false elements that were predicted true."""

    _true = False


class FalseNegatives(_Cell):
    """The count of true elements that were predicted false."""

    _said = False


def _marked(y_true: Any, y_pred: Any, sample_weight: Any, threshold: float) -> Any:
    """The truth, the prediction and the weight of each element."""
    true, said = same_rank(numbers(y_true), numbers(y_pred))
    if sample_weight is None:
        return true != 0, said > threshold, 1.0
    weight = numbers(sample_weight)
    said, weight = same_rank(said, weight)
    weight = weight.reshape(weight.shape + (1,) * (said.ndim - weight.ndim))
    return true.reshape(said.shape) != 0, said > threshold, weight
