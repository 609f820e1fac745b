"""Metrics that are formulas of sums over all batches: F scores and the share of variance."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from gradwire.tf.keras.configurable import configurable
from gradwire.tf.keras.losses.ranks import same_rank
from gradwire.tf.keras.metrics.base import Metric, numbers
from gradwire.tf.keras.settings import epsilon

__all__ = ["F1Score", "FBetaScore", "R2Score"]

_AVERAGES = (None, "micro", "macro", "weighted")
_AGGREGATIONS = (None, "uniform_average", "variance_weighted_average")


class _Summed(Metric):
    """Sums over the examples of all batches, from which the result is computed."""

    _direction = "up"

    def reset_state(self) -> None:
        self._sums: Any = None

    def _add(self, sums: Any) -> None:
        self._sums = sums if self._sums is None else self._sums + sums

    def _checked(self, y_true: Any, y_pred: Any) -> tuple[Any, Any]:
        """Truth and prediction as matrices."""
        truth, said = (np.float32(numbers(each)) for each in (y_true, y_pred))
        truth, said = same_rank(truth, said)
        if said.ndim != 2 or truth.ndim != 2:
            raise ValueError(
                f"{type(self).__name__} compares matrices of examples and outputs; `y_pred` has "
                f"shape {said.shape}, `y_true` {truth.shape}"
            )
        return truth, said


class _FScore(_Summed):
    average: str | None
    threshold: Any
    beta: Any = 1.0

    def __post_init__(self) -> None:
        if self.average not in _AVERAGES:
            raise ValueError(f"`average` must be one of {_AVERAGES}; got {self.average!r}")
        if not isinstance(self.beta, float) or self.beta <= 0.0:
            raise ValueError(f"`beta` must be a float above 0; got {self.beta!r}")
        limit = self.threshold
        if limit is not None and not (isinstance(limit, float) and 0.0 < limit <= 1.0):
            raise ValueError(f"`threshold` must be a float above 0 and at most 1; got {limit!r}")
        self.reset_state()

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        truth, said = self._checked(y_true, y_pred)
        if self.threshold is None:
            yes = (said >= said.max(axis=-1, keepdims=True)) & (np.abs(said) > 1e-9)
        else:
            yes = said > np.float32(self.threshold)
        said = np.float64(yes)
        weight = 1.0 if sample_weight is None else numbers(sample_weight)[:, None]
        cells = np.stack([said * truth, said * (1 - truth), (1 - said) * truth, truth]) * weight
        self._add(cells.sum(axis=(1, 2) if self.average == "micro" else 1))

    def result(self) -> Any:
        right, wrong, missed, occurs = np.zeros(4) if self._sums is None else self._sums
        precision = right / (right + wrong + epsilon())
        recall = right / (right + missed + epsilon())
        square = self.beta**2
        score = (1 + square) * precision * recall / (square * precision + recall + epsilon())
        if self.average == "weighted":
            return self._figure(np.sum(score * occurs / (np.sum(occurs) + epsilon())))
        return self._figure(score if self.average is None else np.mean(score))


@configurable
class FBetaScore(_FScore):
    """``(1 + b^2) precision recall / (b^2 precision + recall)``, of each class or their mean."""

    average: str | None = None
    beta: Any = 1.0
    threshold: Any = None
    name: Any = "fbeta_score"
    dtype: Any = None


@configurable
class F1Score(_FScore):
    """The harmonic mean of precision and recall, of each class or their mean."""

    average: str | None = None
    threshold: Any = None
    name: Any = "f1_score"
    dtype: Any = None


@configurable
class R2Score(_Summed):
    """``1 - residual / variance``, adjusted for a number of regressors."""

    class_aggregation: str | None = "uniform_average"
    num_regressors: int = 0
    name: Any = "r2_score"
    dtype: Any = None

    def __post_init__(self) -> None:
        if self.class_aggregation not in _AGGREGATIONS:
            raise ValueError(
                f"`class_aggregation` must be one of {_AGGREGATIONS}; got "
                f"{self.class_aggregation!r}"
            )
        if self.num_regressors < 0:
            raise ValueError(f"`num_regressors` must not be negative; got {self.num_regressors}")
        self.reset_state()

    def reset_state(self) -> None:
        super().reset_state()
        self._elements: int = 0

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        truth, said = self._checked(y_true, y_pred)
        weight = np.asarray(1.0 if sample_weight is None else numbers(sample_weight))
        weight = np.broadcast_to(weight[:, None] if weight.ndim == 1 else weight, truth.shape)
        parts = [weight, truth * weight, truth**2 * weight, (truth - said) ** 2 * weight]
        self._add(np.stack(parts).sum(axis=1))
        self._elements += truth.size

    def result(self) -> Any:
        with np.errstate(divide="ignore", invalid="ignore"):
            count, total, squares, residual = np.zeros(4) if self._sums is None else self._sums
            variance = squares - total * (total / count)
            score: Any = 1 - residual / variance
            score = np.where(np.isinf(score), 0.0, score)
            if self.class_aggregation == "uniform_average":
                score = np.mean(score)
            elif self.class_aggregation is not None:
                score = np.sum(variance * score) / np.sum(variance)
        return self._figure(self._adjusted(score))

    def _adjusted(self, score: Any) -> Any:
        free = self._elements - self.num_regressors - 1
        if not self.num_regressors:
            return score
        if free <= 0:
            warnings.warn(
                f"R2 is not adjusted: `num_regressors` is {self.num_regressors}, for only "
                f"{self._elements} values",
                stacklevel=3,
            )
            return score
        return 1.0 - (1.0 - score) * (self._elements - 1.0) / free
