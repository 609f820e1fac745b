"""Metrics of a score's curve: its area, and the best of one share where another is reached."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

import gradwire.tf as tf
from gradwire.tf.keras.configurable import configurable
from gradwire.tf.keras.metrics.counts import Counted, safe_ratio, share
from gradwire.tf.keras.metrics.tallies import evenly, tally
from gradwire.tf.keras.settings import epsilon

__all__ = [
    "AUC", "PrecisionAtRecall", "RecallAtPrecision", "SensitivityAtSpecificity",
    "SpecificityAtSensitivity",
]  # fmt: skip

_RECALL = ("true_positives", "false_negatives")
_PRECISION = ("true_positives", "false_positives")
_SPECIFICITY = ("true_negatives", "false_positives")
_CURVES = ("PR", "ROC", "PRGAIN")
_HEIGHTS: dict[str, Callable[..., Any]] = {
    "interpolation": lambda first, second: (first + second) / 2.0,
    "majoring": np.maximum,
    "minoring": np.minimum,
}


@configurable
class AUC(Counted):
    """The area below the curve of true against false positives, or of precision against recall.

    Between thresholds, the area under precision is Davis and Goadrich's (2006), in which the
    counts are linear and precision is not.
    """

    _direction = "up"
    num_thresholds: int = 200
    curve: str = "ROC"
    summation_method: str = "interpolation"
    name: Any = None
    dtype: Any = None
    thresholds: Any = None
    multi_label: bool = False
    num_labels: int | None = None
    label_weights: Any = None
    from_logits: bool = False

    def __post_init__(self) -> None:
        if self.curve.upper() not in _CURVES:
            raise ValueError(f"`curve` must be one of {list(_CURVES)}; got {self.curve!r}")
        if self.summation_method.lower() not in _HEIGHTS:
            raise ValueError(
                f"`summation_method` must be one of {list(_HEIGHTS)}; got {self.summation_method!r}"
            )
        if self.thresholds is None and self.num_thresholds <= 1:
            raise ValueError(f"`num_thresholds` must be at least 2; got {self.num_thresholds}")
        if self.num_labels and not self.multi_label:
            raise ValueError(
                f"`num_labels` has no use without `multi_label=True`; got {self.num_labels}"
            )
        self.curve = self.curve.upper()
        self.summation_method = self.summation_method.lower()
        given = self.thresholds
        inner = evenly(self.num_thresholds)[1:-1] if given is None else sorted(given)
        # Beyond 0 and 1, so that all scores are above the first and none above the last.
        self._thresholds = [-epsilon(), *inner, 1.0 + epsilon()]
        self.num_thresholds = len(self._thresholds)
        self.reset_state()

    def _tally(self, y_true: Any, y_pred: Any, sample_weight: Any) -> Any:
        return tally(
            self._thresholds,
            y_true,
            tf.sigmoid(tf.convert_to_tensor(y_pred)) if self.from_logits else y_pred,
            sample_weight,
            label_weights=None if self.multi_label else self.label_weights,
            by_label=self.multi_label,
        )

    def reset_state(self) -> None:
        super().reset_state()
        if self.multi_label:
            self._counts = self._counts[..., None]

    def result(self) -> Any:
        between = self.summation_method == "interpolation" and self.curve == "PR"
        areas = (self._between() if between else self._steps()).sum(axis=0)
        if not self.multi_label:
            return self._figure(areas)
        if self.label_weights is None:
            return self._figure(np.mean(areas))
        weights = np.asarray(self.label_weights, np.float64)
        return self._figure(safe_ratio(np.sum(areas * weights), np.sum(weights)))

    def _steps(self) -> Any:
        """The area of each step of the curve."""
        x, y = self._points()
        return (x[:-1] - x[1:]) * _HEIGHTS[self.summation_method](y[:-1], y[1:])

    def _points(self) -> tuple[Any, Any]:
        recall = share(self._counts, *_RECALL)
        if self.curve == "ROC":
            return share(self._counts, "false_positives", "true_negatives"), recall
        if self.curve == "PR":
            return recall, share(self._counts, *_PRECISION)
        true, false, negative, missed = self._counts
        scale = safe_ratio(true + missed, negative + false)
        gains = [1.0 - scale * safe_ratio(wrong, true) for wrong in (missed, false)]
        recall_gain = np.where(true == 0, 0.0, gains[0])
        return np.maximum(recall_gain, 0.0), np.where(true == 0, 1.0, gains[1])

    def _between(self) -> Any:
        """The area under precision between thresholds, with linear counts."""
        true, false, _, missed = self._counts
        said = true + false
        change = true[:-1] - true[1:]
        slope = safe_ratio(change, np.maximum(said[:-1] - said[1:], 0.0))
        offset = true[1:] - slope * said[1:]
        ratio = np.where((said[:-1] > 0) & (said[1:] > 0), safe_ratio(said[:-1], said[1:]), 1.0)
        area = slope * (change + offset * np.log(ratio))
        return safe_ratio(area, true[1:] + missed[1:])


class _Best(Counted):
    """The best of one share at the thresholds where another is reached."""

    _direction = "up"
    #: The parameter that the other share reaches.
    _named: ClassVar[str]
    _reached: ClassVar[tuple[str, str]]
    _best: ClassVar[tuple[str, str]]
    num_thresholds: int
    class_id: int | None

    def __post_init__(self) -> None:
        least = getattr(self, self._named)
        if not 0 <= least <= 1:
            raise ValueError(f"`{self._named}` must lie between 0 and 1; got {least}")
        if self.num_thresholds <= 0:
            raise ValueError(f"`num_thresholds` must be at least 1; got {self.num_thresholds}")
        self._thresholds = [0.5] if self.num_thresholds == 1 else evenly(self.num_thresholds)
        self._least: float = least
        self.reset_state()

    def _tally(self, y_true: Any, y_pred: Any, sample_weight: Any) -> Any:
        return tally(self._thresholds, y_true, y_pred, sample_weight, class_id=self.class_id)

    def result(self) -> Any:
        reached, best = (share(self._counts, *each) for each in (self._reached, self._best))
        return self._figure(np.max(np.where(reached >= self._least, best, 0.0)))


@configurable
class PrecisionAtRecall(_Best):
    """The best precision where recall is reached."""

    _reached, _best = _RECALL, _PRECISION
    _named = "recall"
    recall: float
    num_thresholds: int = 200
    class_id: int | None = None
    name: Any = None
    dtype: Any = None


@configurable
class RecallAtPrecision(_Best):
    """The best recall where precision is reached."""

    _reached, _best = _PRECISION, _RECALL
    _named = "precision"
    precision: float
    num_thresholds: int = 200
    class_id: int | None = None
    name: Any = None
    dtype: Any = None


@configurable
class SensitivityAtSpecificity(_Best):
    """The best recall where the share of what is false that was said to be is reached."""

    _reached, _best = _SPECIFICITY, _RECALL
    _named = "specificity"
    specificity: float
    num_thresholds: int = 200
    class_id: int | None = None
    name: Any = None
    dtype: Any = None


@configurable
class SpecificityAtSensitivity(_Best):
    """The best share of what is false that was said to be where recall is reached."""

    _reached, _best = _RECALL, _SPECIFICITY
    _named = "sensitivity"
    sensitivity: float
    num_thresholds: int = 200
    class_id: int | None = None
    name: Any = None
    dtype: Any = None
