"""Metrics that are means of losses: errors, cross-entropies, divergences."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import gradwire.tf as tf
from gradwire.tf.keras import losses
from gradwire.tf.keras.configurable import configurable
from gradwire.tf.keras.losses.ranks import same_rank
from gradwire.tf.keras.metrics.base import FunctionMetric, MeanMetricWrapper, numbers
from gradwire.tf.keras.settings import epsilon

__all__ = [
    "BinaryCrossentropy", "CategoricalCrossentropy", "CategoricalHinge", "ConcordanceCorrelation",
    "CosineSimilarity", "Hinge", "KLDivergence", "LogCoshError", "MeanAbsoluteError",
    "MeanAbsolutePercentageError", "MeanSquaredError", "MeanSquaredLogarithmicError",
    "PearsonCorrelation", "Poisson", "RootMeanSquaredError", "SparseCategoricalCrossentropy",
    "SquaredHinge", "concordance_correlation", "pearson_correlation",
]  # fmt: skip


class MeanSquaredError(FunctionMetric, of=losses.mean_squared_error, best="down"):
    """The mean of the squared errors."""


class RootMeanSquaredError(MeanMetricWrapper):
    """The root of the mean of the squared errors; masks make no difference to it, as in Keras."""

    _direction = "down"
    _is_masked = False

    def __init__(self, name: str | None = "root_mean_squared_error", dtype: Any = None) -> None:
        super().__init__(_squared_errors, name, dtype)

    def result(self) -> Any:
        return self._figure(math.sqrt(self._mean()))


class MeanAbsoluteError(FunctionMetric, of=losses.mean_absolute_error, best="down"):
    """The mean of the errors' sizes."""


@configurable
class BinaryCrossentropy(FunctionMetric, of=losses.binary_crossentropy, best="down"):
    """The mean cross-entropy of yes and no."""

    name: Any = None
    dtype: Any = None
    from_logits: bool = False
    label_smoothing: float = 0.0


@configurable
class CategoricalCrossentropy(FunctionMetric, of=losses.categorical_crossentropy, best="down"):
    """The mean cross-entropy of classes, given as rows of a one."""

    name: Any = None
    dtype: Any = None
    from_logits: bool = False
    label_smoothing: float = 0.0
    axis: int = -1


@configurable
class SparseCategoricalCrossentropy(
    FunctionMetric, of=losses.sparse_categorical_crossentropy, best="down"
):
    """The mean cross-entropy of classes, given as integers."""

    name: Any = None
    dtype: Any = None
    from_logits: bool = False
    ignore_class: int | None = None
    axis: int = -1


def _cosine(y_true: Any, y_pred: Any, axis: int = -1) -> Any:
    return -losses.cosine_similarity(y_true, y_pred, axis)


@configurable
class _AlongAxis(FunctionMetric):
    """The mean of a function along an axis."""

    name: Any = None
    dtype: Any = None
    axis: int = -1


class CosineSimilarity(_AlongAxis, of=_cosine, best="up"):
    """The mean cosine of the angles."""


class KLDivergence(FunctionMetric, of=losses.kl_divergence, best="down"):
    """The mean divergence of distributions."""


class Poisson(FunctionMetric, of=losses.poisson, best="down"):
    """The mean of Poisson's loss."""


class Hinge(FunctionMetric, of=losses.hinge, best="down"):
    """The mean of the hinge loss."""


class SquaredHinge(FunctionMetric, of=losses.squared_hinge, best="down"):
    """The mean of the squared hinge loss."""


class CategoricalHinge(FunctionMetric, of=losses.categorical_hinge, best="down"):
    """The mean of the hinge loss between the true class and the best other."""


def pearson_correlation(y_true: Any, y_pred: Any, axis: int = -1) -> Any:
    """``mean((t - mean t) (p - mean p)) / (std t std p)`` along an axis."""
    true, said = _centered(y_true, y_pred, axis)
    deviations = [tf.math.reduce_std(each, axis, keepdims=True) for each in (true, said)]
    return tf.reduce_mean(true / deviations[0] * (said / deviations[1]), axis)


def concordance_correlation(y_true: Any, y_pred: Any, axis: int = -1) -> Any:
    """Lin's: ``2 mean((t - mean p) (p - mean p)) / (var t + var p + (mean t - mean p)^2)``.

    It is Keras's formula, in which the first mean is that of the prediction, too.
    """
    true, said = same_rank(*_floats(y_true, y_pred))
    means = [tf.reduce_mean(each, axis, keepdims=True) for each in (true, said)]
    spread = [tf.math.reduce_variance(each, axis, keepdims=True) for each in (true, said)]
    norm = spread[0] + spread[1] + tf.square(means[0] - means[1]) + epsilon()
    return tf.reduce_mean(2.0 * (true - means[1]) * (said - means[1]) / norm, axis)


class PearsonCorrelation(_AlongAxis, of=pearson_correlation, best="up"):
    """The mean correlation."""


class ConcordanceCorrelation(_AlongAxis, of=concordance_correlation, best="up"):
    """The mean concordance correlation."""


class LogCoshError(FunctionMetric, of=losses.log_cosh, best="down", called="logcosh"):
    """The mean of ``log(cosh(error))``."""


class MeanAbsolutePercentageError(
    FunctionMetric, of=losses.mean_absolute_percentage_error, best="down"
):
    """The mean of the errors' sizes in percent of the truth."""


class MeanSquaredLogarithmicError(
    FunctionMetric, of=losses.mean_squared_logarithmic_error, best="down"
):
    """The mean of the squared errors of logarithms."""


def _squared_errors(y_true: Any, y_pred: Any) -> Any:
    true, said = same_rank(numbers(y_true), numbers(y_pred))
    return np.square(np.float64(said) - np.float64(true))


def _floats(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    said = tf.convert_to_tensor(y_pred)
    return tf.cast(tf.convert_to_tensor(y_true), said.dtype), said


def _centered(y_true: Any, y_pred: Any, axis: int) -> tuple[Any, Any]:
    true, said = same_rank(*_floats(y_true, y_pred))
    return tuple(each - tf.reduce_mean(each, axis, keepdims=True) for each in (true, said))
