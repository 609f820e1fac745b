"""Metrics of yes and no: counts of right and wrong predictions beyond a threshold."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwire.tf.keras.losses.ranks import same_rank
from gradwire.tf.keras.metrics.base import Metric, numbers


class _Counted(Metric):
    """Counts of right and wrong predictions above and below a threshold."""

    def __init__(
        self, thresholds: float | None = None, name: str | None = None, dtype: Any = None
    ) -> None:
        super().__init__(dtype, name)
        self.thresholds: Any = thresholds
        self._threshold: float = _threshold(type(self).__name__, thresholds)
        self.reset_state()

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        truth, said, weight = _marked(y_true, y_pred, sample_weight, self._threshold)
        self._right += float(np.sum((truth & said) * weight))
        self._false += float(np.sum((~truth & said) * weight))
        self._missed += float(np.sum((truth & ~said) * weight))

    def reset_state(self) -> None:
        self._right = self._false = self._missed = 0.0


class Precision(_Counted):
    """The share of what was said to be true that is true."""

    _direction = "up"

    def result(self) -> Any:
        said = self._right + self._false
        return self._figure(self._right / said if said else 0.0)


class Recall(_Counted):
    """The share of what is true that was said to be."""

    _direction = "up"

    def result(self) -> Any:
        true = self._right + self._missed
        return self._figure(self._right / true if true else 0.0)


class _Cells(Metric):
    """The weighted count of one cell of the table of truth and prediction."""

    _true: bool = True
    _said: bool = True

    def __init__(
        self, thresholds: float | None = None, name: str | None = None, dtype: Any = None
    ) -> None:
        super().__init__(dtype, name)
        self.thresholds: Any = thresholds
        self._threshold: float = _threshold(type(self).__name__, thresholds)
        self._count: float = 0.0

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        truth, said, weight = _marked(y_true, y_pred, sample_weight, self._threshold)
        self._count += float(np.sum(((truth == self._true) & (said == self._said)) * weight))

    def result(self) -> Any:
        return self._figure(self._count)

    def reset_state(self) -> None:
        self._count = 0.0


class TruePositives(_Cells):
    """What is true and was said to be."""


class TrueNegatives(_Cells):
    """What is false and was said to be."""

    _true = _said = False


class FalsePositives(_Cells):
    """What was said to be true and is not."""

    _true = False


class FalseNegatives(_Cells):
    """What is true and was said not to be."""

    _said = False


def _threshold(metric: str, thresholds: Any) -> float:
    if np.ndim(thresholds):
        raise NotImplementedError(
            f"{metric} does not implement thresholds={thresholds!r}; one threshold is possible"
        )
    return 0.5 if thresholds is None else float(thresholds)


def _marked(y_true: Any, y_pred: Any, sample_weight: Any, threshold: float) -> Any:
    """What is true, what was said to be, and the weight of each element."""
    true, said = same_rank(numbers(y_true), numbers(y_pred))
    if sample_weight is None:
        return true != 0, said > threshold, 1.0
    weight = numbers(sample_weight)
    said, weight = same_rank(said, weight)
    weight = weight.reshape(weight.shape + (1,) * (said.ndim - weight.ndim))
    return true.reshape(said.shape) != 0, said > threshold, weight
