"""Figures gathered over batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gradwire.tf as tf
from gradwire.tf.keras import losses
from gradwire.tf.keras.names import snake_case, unique_name


class Metric:
    """``update_state`` with each batch, then ``result``; ``reset_state`` begins anew."""

    def __init__(self, name: str | None = None, dtype: Any = None) -> None:
        self.name: str = unique_name(snake_case(type(self).__name__)) if name is None else name
        self.dtype: str = "float32"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Update with a batch, and give the result so far."""
        self.update_state(*args, **kwargs)
        return self.result()

    def update_state(self, *args: Any, **kwargs: Any) -> Any:
        """Take a batch into account."""
        raise NotImplementedError(f"{type(self).__name__} must have a method update_state")

    def result(self) -> Any:
        """The figure of all batches since the last reset."""
        raise NotImplementedError(f"{type(self).__name__} must have a method result")

    def reset_state(self) -> None:
        """Forget all batches."""

    reset_states = reset_state


class Sum(Metric):
    """The weighted sum of values."""

    def __init__(self, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(name, dtype)
        self._total: float = 0.0
        self._count: float = 0.0

    def update_state(self, values: Any, sample_weight: Any = None) -> None:
        array = np.asarray(_numbers(values), np.float64)
        weight = 1.0 if sample_weight is None else np.asarray(_numbers(sample_weight), np.float64)
        self._total += float(np.sum(array * weight))
        self._count += float(np.sum(np.broadcast_to(weight, array.shape)))

    def result(self) -> Any:
        return tf.constant(self._total, dtype=tf.float32)

    def reset_state(self) -> None:
        self._total = self._count = 0.0

    reset_states = reset_state


class Mean(Sum):
    """The weighted mean of values."""

    def result(self) -> Any:
        return tf.constant(self._total / self._count if self._count else 0.0, dtype=tf.float32)


class MeanMetricWrapper(Metric):
    """The mean of a function of truth and prediction."""

    def __init__(
        self, fn: Callable[..., Any], name: str | None = None, dtype: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(name or getattr(fn, "__name__", None), dtype)
        self._fn = fn
        self._kwargs = kwargs
        self._mean = Mean(name=self.name)

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        self._mean.update_state(self._fn(y_true, y_pred, **self._kwargs), sample_weight)

    def result(self) -> Any:
        return self._mean.result()

    def reset_state(self) -> None:
        self._mean.reset_state()

    reset_states = reset_state


class _FunctionMetric(MeanMetricWrapper):
    _function: Callable[..., Any] = staticmethod(losses.mean_squared_error)

    def __init__(self, name: str | None = None, dtype: Any = None, **kwargs: Any) -> None:
        super().__init__(
            type(self)._function, name or snake_case(type(self).__name__), dtype, **kwargs
        )


def accuracy(y_true: Any, y_pred: Any) -> Any:
    """Where truth and prediction are equal."""
    return (_numbers(y_true) == _numbers(y_pred)).astype(np.float32)


def binary_accuracy(y_true: Any, y_pred: Any, threshold: float = 0.5) -> Any:
    """The share of elements on the right side of the threshold."""
    right = _numbers(y_true) == (_numbers(y_pred) > threshold)
    return right.astype(np.float32).mean(axis=-1)


def categorical_accuracy(y_true: Any, y_pred: Any) -> Any:
    """Where the greatest score is that of the class, given as a row of a one."""
    return (_numbers(y_true).argmax(-1) == _numbers(y_pred).argmax(-1)).astype(np.float32)


def sparse_categorical_accuracy(y_true: Any, y_pred: Any) -> Any:
    """Where the greatest score is that of the class, given as an integer."""
    truth, scores = _numbers(y_true), _numbers(y_pred)
    if truth.ndim == scores.ndim:
        truth = truth[..., 0]
    return (truth == scores.argmax(-1)).astype(np.float32)


class Accuracy(_FunctionMetric):
    """The share of equal elements."""

    _function = staticmethod(accuracy)


class BinaryAccuracy(_FunctionMetric):
    """The share of elements on the right side of the threshold."""

    _function = staticmethod(binary_accuracy)


class CategoricalAccuracy(_FunctionMetric):
    """The share of right classes, given as rows of a one."""

    _function = staticmethod(categorical_accuracy)


class SparseCategoricalAccuracy(_FunctionMetric):
    """The share of right classes, given as integers."""

    _function = staticmethod(sparse_categorical_accuracy)


class MeanSquaredError(_FunctionMetric):
    """The mean of the squared errors."""


class RootMeanSquaredError(_FunctionMetric):
    """The root of the mean of the squared errors."""

    def result(self) -> Any:
        return tf.sqrt(super().result())


class MeanAbsoluteError(_FunctionMetric):
    """The mean of the errors' sizes."""

    _function = staticmethod(losses.mean_absolute_error)


class BinaryCrossentropy(_FunctionMetric):
    """The mean cross-entropy of yes and no."""

    _function = staticmethod(losses.binary_crossentropy)


class CategoricalCrossentropy(_FunctionMetric):
    """The mean cross-entropy of classes, given as rows of a one."""

    _function = staticmethod(losses.categorical_crossentropy)


class SparseCategoricalCrossentropy(_FunctionMetric):
    """The mean cross-entropy of classes, given as integers."""

    _function = staticmethod(losses.sparse_categorical_crossentropy)


class CosineSimilarity(_FunctionMetric):
    """The mean cosine of the angles."""

    _function = staticmethod(lambda y, p, axis=-1: -losses.cosine_similarity(y, p, axis))


class _Counted(Metric):
    """Counts of right and wrong predictions above and below a threshold."""

    def __init__(
        self, thresholds: float | None = None, name: str | None = None, dtype: Any = None
    ) -> None:
        super().__init__(name, dtype)
        self._threshold: float = 0.5 if thresholds is None else float(thresholds)
        self.reset_state()

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        truth, said = _numbers(y_true) > 0, _numbers(y_pred) > self._threshold
        weight = 1.0 if sample_weight is None else _numbers(sample_weight)
        self._right += float(np.sum((truth & said) * weight))
        self._false += float(np.sum((~truth & said) * weight))
        self._missed += float(np.sum((truth & ~said) * weight))

    def reset_state(self) -> None:
        self._right = self._false = self._missed = 0.0

    reset_states = reset_state


class Precision(_Counted):
    """The share of what was said to be true that is true."""

    def result(self) -> Any:
        said = self._right + self._false
        return tf.constant(self._right / said if said else 0.0, dtype=tf.float32)


class Recall(_Counted):
    """The share of what is true that was said to be."""

    def result(self) -> Any:
        true = self._right + self._missed
        return tf.constant(self._right / true if true else 0.0, dtype=tf.float32)


class _Cells(Metric):
    """The weighted count of one cell of the table of truth and prediction."""

    _true: bool = True
    _said: bool = True

    def __init__(
        self, thresholds: float | None = None, name: str | None = None, dtype: Any = None
    ) -> None:
        super().__init__(name, dtype)
        self._threshold: float = 0.5 if thresholds is None else float(thresholds)
        self._count: float = 0.0

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        truth, said = _numbers(y_true) > 0, _numbers(y_pred) > self._threshold
        weight = 1.0 if sample_weight is None else _numbers(sample_weight)
        self._count += float(np.sum(((truth == self._true) & (said == self._said)) * weight))

    def result(self) -> Any:
        return tf.constant(self._count, dtype=tf.float32)

    def reset_state(self) -> None:
        self._count = 0.0

    reset_states = reset_state


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


class KLDivergence(_FunctionMetric):
    """The mean divergence of distributions."""

    _function = staticmethod(losses.kl_divergence)


class Poisson(_FunctionMetric):
    """The mean of Poisson's loss."""

    _function = staticmethod(losses.poisson)


class Hinge(_FunctionMetric):
    """The mean of the hinge loss."""

    _function = staticmethod(losses.hinge)


class SquaredHinge(_FunctionMetric):
    """The mean of the squared hinge loss."""

    _function = staticmethod(losses.squared_hinge)


class LogCoshError(_FunctionMetric):
    """The mean of ``log(cosh(error))``."""

    _function = staticmethod(losses.log_cosh)


class MeanAbsolutePercentageError(_FunctionMetric):
    """The mean of the errors' sizes in percent of the truth."""

    _function = staticmethod(losses.mean_absolute_percentage_error)


class MeanSquaredLogarithmicError(_FunctionMetric):
    """The mean of the squared errors of logarithms."""

    _function = staticmethod(losses.mean_squared_logarithmic_error)


class TopKCategoricalAccuracy(_FunctionMetric):
    """The share of classes, given as rows of a one, that are among the ``k`` greatest scores."""

    _function = staticmethod(
        lambda y, p, k=5: _among_greatest(_numbers(y).argmax(-1), _numbers(p), k)
    )

    def __init__(self, k: int = 5, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(name, dtype, k=k)


class SparseTopKCategoricalAccuracy(TopKCategoricalAccuracy):
    """The share of classes, given as integers, that are among the ``k`` greatest scores."""

    _function = staticmethod(lambda y, p, k=5: _among_greatest(_numbers(y), _numbers(p), k))


_BY_NAME: dict[str, Callable[[], Metric]] = {
    "accuracy": SparseCategoricalAccuracy,
    "acc": SparseCategoricalAccuracy,
    "mse": MeanSquaredError,
    "mae": MeanAbsoluteError,
} | {
    snake_case(kind.__name__): kind
    for kind in (
        BinaryAccuracy, CategoricalAccuracy, SparseCategoricalAccuracy, MeanSquaredError,
        RootMeanSquaredError, MeanAbsoluteError, BinaryCrossentropy, Precision, Recall,
    )
}  # fmt: skip


def get(identifier: Any) -> Any:
    """A metric by its name, or as it is."""
    if isinstance(identifier, Metric):
        return identifier
    if callable(identifier):
        return MeanMetricWrapper(identifier)
    if snake_case(str(identifier)) not in _BY_NAME:
        raise ValueError(f"Could not interpret metric identifier: {identifier}")
    metric = _BY_NAME[snake_case(str(identifier))]()
    metric.name = str(identifier)
    return metric


def _among_greatest(classes: Any, scores: Any, k: int) -> Any:
    classes = classes.reshape(scores.shape[:-1]).astype(np.int64)
    own = np.take_along_axis(scores, classes[..., None], -1)
    return ((scores > own).sum(-1) < k).astype(np.float32)


def _numbers(value: Any) -> Any:
    return value.numpy() if hasattr(value, "numpy") else np.asarray(value)
