"""Metrics that are means of losses: errors, cross-entropies, divergences."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradwire.tf.keras import losses
from gradwire.tf.keras.losses.ranks import same_rank
from gradwire.tf.keras.metrics.base import FunctionMetric, MeanMetricWrapper, numbers


class MeanSquaredError(FunctionMetric):
    """The mean of the squared errors."""

    _direction = "down"
    _function = staticmethod(losses.mean_squared_error)


class RootMeanSquaredError(MeanMetricWrapper):
    """The root of the mean of the squared errors; masks make no difference to it, as in Keras."""

    _direction = "down"
    _is_masked = False

    def __init__(self, name: str | None = "root_mean_squared_error", dtype: Any = None) -> None:
        super().__init__(_squared_errors, name, dtype)

    def result(self) -> Any:
        return self._figure(math.sqrt(self._mean()))


class MeanAbsoluteError(FunctionMetric):
    """The mean of the errors' sizes."""

    _direction = "down"

    _function = staticmethod(losses.mean_absolute_error)


class BinaryCrossentropy(FunctionMetric):
    """The mean cross-entropy of yes and no."""

    _direction = "down"

    _function = staticmethod(losses.binary_crossentropy)

    def __init__(
        self,
        name: str | None = None,
        dtype: Any = None,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(name, dtype)
        self._parameters = {"from_logits": from_logits, "label_smoothing": label_smoothing}


class CategoricalCrossentropy(FunctionMetric):
    """The mean cross-entropy of classes, given as rows of a one."""

    _direction = "down"

    _function = staticmethod(losses.categorical_crossentropy)

    def __init__(
        self,
        name: str | None = None,
        dtype: Any = None,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        axis: int = -1,
    ) -> None:
        super().__init__(name, dtype)
        self._parameters = {
            "from_logits": from_logits,
            "label_smoothing": label_smoothing,
            "axis": axis,
        }


class SparseCategoricalCrossentropy(FunctionMetric):
    """The mean cross-entropy of classes, given as integers."""

    _direction = "down"

    _function = staticmethod(losses.sparse_categorical_crossentropy)

    def __init__(
        self,
        name: str | None = None,
        dtype: Any = None,
        from_logits: bool = False,
        axis: int = -1,
    ) -> None:
        super().__init__(name, dtype)
        self._parameters = {"from_logits": from_logits, "axis": axis}


class CosineSimilarity(FunctionMetric):
    """The mean cosine of the angles."""

    _direction = "up"

    _function = staticmethod(lambda y, p, axis=-1: -losses.cosine_similarity(y, p, axis))

    def __init__(
        self,
        name: str | None = None,
        dtype: Any = None,
        axis: int = -1,
    ) -> None:
        super().__init__(name, dtype)
        self._parameters = {"axis": axis}


class KLDivergence(FunctionMetric):
    """The mean divergence of distributions."""

    _direction = "down"

    _function = staticmethod(losses.kl_divergence)


class Poisson(FunctionMetric):
    """The mean of Poisson's loss."""

    _direction = "down"

    _function = staticmethod(losses.poisson)


class Hinge(FunctionMetric):
    """The mean of the hinge loss."""

    _direction = "down"

    _function = staticmethod(losses.hinge)


class SquaredHinge(FunctionMetric):
    """The mean of the squared hinge loss."""

    _direction = "down"

    _function = staticmethod(losses.squared_hinge)


class LogCoshError(FunctionMetric):
    """The mean of ``log(cosh(error))``."""

    _direction = "down"

    _function = staticmethod(losses.log_cosh)


class MeanAbsolutePercentageError(FunctionMetric):
    """The mean of the errors' sizes in percent of the truth."""

    _direction = "down"

    _function = staticmethod(losses.mean_absolute_percentage_error)


class MeanSquaredLogarithmicError(FunctionMetric):
    """The mean of the squared errors of logarithms."""

    _direction = "down"

    _function = staticmethod(losses.mean_squared_logarithmic_error)


def _squared_errors(y_true: Any, y_pred: Any) -> Any:
    true, said = same_rank(numbers(y_true), numbers(y_pred))
    return np.square(np.float64(said) - np.float64(true))
