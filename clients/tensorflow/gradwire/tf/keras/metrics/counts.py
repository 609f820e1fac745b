"""Metrics of yes and no: counts of right and wrong predictions beyond thresholds."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from gradwire.tf.keras.configurable import configurable
from gradwire.tf.keras.metrics.base import Metric
from gradwire.tf.keras.metrics.tallies import CELLS, NO_SCORE, in_range, tally

__all__ = [
    "FalseNegatives", "FalsePositives", "Precision", "Recall", "TrueNegatives", "TruePositives",
]  # fmt: skip


class Counted(Metric):
    """A figure of the table of truth and prediction, at each of some thresholds."""

    _thresholds: list[float]
    _counts: Any

    def _tally(self, y_true: Any, y_pred: Any, sample_weight: Any) -> Any:
        return tally(self._thresholds, y_true, y_pred, sample_weight)

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        self._counts = self._counts + self._tally(y_true, y_pred, sample_weight)

    def reset_state(self) -> None:
        self._counts = np.zeros((len(CELLS), len(self._thresholds)))

    def _at_each(self, values: Any) -> Any:
        return self._figure(values[0] if len(values) == 1 else values)


@configurable
class _Share(Counted):
    """The share that is right of what was said to be true, or of what is true."""

    _direction = "up"
    _wrong: ClassVar[str]
    thresholds: Any = None
    top_k: int | None = None
    class_id: int | None = None
    name: Any = None
    dtype: Any = None

    def __post_init__(self) -> None:
        if self.thresholds is not None:
            self._thresholds = in_range(self.thresholds)
        else:
            self._thresholds = [0.5 if self.top_k is None else NO_SCORE]
        self.reset_state()

    def _tally(self, y_true: Any, y_pred: Any, sample_weight: Any) -> Any:
        return tally(self._thresholds, y_true, y_pred, sample_weight, self.top_k, self.class_id)

    def result(self) -> Any:
        return self._at_each(share(self._counts, "true_positives", self._wrong))


class Precision(_Share):
    """The share of what was said to be true that is true."""

    _wrong = "false_positives"


class Recall(_Share):
    """The share of what is true that was said to be."""

    _wrong = "false_negatives"


@configurable
class _Cell(Counted):
    """The weighted count of one cell of the table of truth and prediction."""

    _cell: ClassVar[str]
    thresholds: Any = None
    name: Any = None
    dtype: Any = None

    def __post_init__(self) -> None:
        self._thresholds = in_range(0.5 if self.thresholds is None else self.thresholds)
        self.reset_state()

    def result(self) -> Any:
        return self._at_each(self._counts[CELLS.index(self._cell)])


class TruePositives(_Cell):
    """The count of true elements that were predicted true."""

    _cell = "true_positives"


class TrueNegatives(_Cell):
    """The count of false elements that were predicted false."""

    _cell = "true_negatives"


class FalsePositives(_Cell):
    """The count of false elements that were predicted true."""

    _cell = "false_positives"


class FalseNegatives(_Cell):
    """The count of true elements that were predicted false."""

    _cell = "false_negatives"


def share(counts: Any, right: str, wrong: str) -> Any:
    """The share of one cell in the sum of two, or 0 of nothing."""
    part, other = counts[CELLS.index(right)], counts[CELLS.index(wrong)]
    return safe_ratio(part, part + other)


def safe_ratio(part: Any, whole: Any) -> Any:
    """The ratio of two arrays, 0 where the second is."""
    return np.divide(part, whole, out=np.zeros(np.shape(whole)), where=np.asarray(whole) != 0)
