"""Losses: of each example by function, and reduced to a number by class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradwire.tf as tf
from gradwire.tf.keras.names import snake_case

_EPSILON = 1e-7


def mean_squared_error(y_true: Any, y_pred: Any) -> Any:
    """``mean((y_true - y_pred)^2)`` along the last axis."""
    y_true, y_pred = _pair(y_true, y_pred)
    return tf.reduce_mean(tf.square(y_true - y_pred), axis=-1)


def mean_absolute_error(y_true: Any, y_pred: Any) -> Any:
    """``mean(|y_true - y_pred|)`` along the last axis."""
    y_true, y_pred = _pair(y_true, y_pred)
    return tf.reduce_mean(tf.abs(y_true - y_pred), axis=-1)


def mean_absolute_percentage_error(y_true: Any, y_pred: Any) -> Any:
    """``100 mean(|(y_true - y_pred) / y_true|)`` along the last axis."""
    y_true, y_pred = _pair(y_true, y_pred)
    share = (y_true - y_pred) / tf.maximum(tf.abs(y_true), _like(_EPSILON, y_true))
    return 100.0 * tf.reduce_mean(tf.abs(share), axis=-1)


def mean_squared_logarithmic_error(y_true: Any, y_pred: Any) -> Any:
    """``mean((log(1 + y_true) - log(1 + y_pred))^2)`` along the last axis."""
    y_true, y_pred = _pair(y_true, y_pred)
    least = _like(_EPSILON, y_pred)
    first = tf.math.log(tf.maximum(y_pred, least) + 1.0)
    second = tf.math.log(tf.maximum(y_true, least) + 1.0)
    return tf.reduce_mean(tf.square(first - second), axis=-1)


def huber(y_true: Any, y_pred: Any, delta: float = 1.0) -> Any:
    """Quadratic within ``delta``, linear beyond; the mean along the last axis."""
    y_true, y_pred = _pair(y_true, y_pred)
    error = tf.abs(y_pred - y_true)
    value = tf.where(error <= delta, 0.5 * tf.square(error), delta * error - 0.5 * delta * delta)
    return tf.reduce_mean(value, axis=-1)


def log_cosh(y_true: Any, y_pred: Any) -> Any:
    """``mean(log(cosh(y_pred - y_true)))`` along the last axis."""
    y_true, y_pred = _pair(y_true, y_pred)
    error = y_pred - y_true
    value = error + tf.math.softplus(-2.0 * error) - tf.math.log(_like(2.0, y_pred))
    return tf.reduce_mean(value, axis=-1)


def hinge(y_true: Any, y_pred: Any) -> Any:
    """``mean(max(1 - y_true y_pred, 0))``; labels of 0 and 1 are taken for -1 and 1."""
    y_true, y_pred = _signed(y_true, y_pred)
    return tf.reduce_mean(tf.nn.relu(1.0 - y_true * y_pred), axis=-1)


def squared_hinge(y_true: Any, y_pred: Any) -> Any:
    """The mean of the squares of ``hinge``'s terms."""
    y_true, y_pred = _signed(y_true, y_pred)
    return tf.reduce_mean(tf.square(tf.nn.relu(1.0 - y_true * y_pred)), axis=-1)


def categorical_hinge(y_true: Any, y_pred: Any) -> Any:
    """``max(1 + the greatest other score - the true one's, 0)``."""
    y_true, y_pred = _pair(y_true, y_pred)
    right = tf.reduce_sum(y_true * y_pred, axis=-1)
    wrong = tf.reduce_max((1.0 - y_true) * y_pred, axis=-1)
    return tf.nn.relu(wrong - right + 1.0)


def poisson(y_true: Any, y_pred: Any) -> Any:
    """``mean(y_pred - y_true log(y_pred))`` along the last axis."""
    y_true, y_pred = _pair(y_true, y_pred)
    return tf.reduce_mean(y_pred - y_true * tf.math.log(y_pred + _EPSILON), axis=-1)


def kl_divergence(y_true: Any, y_pred: Any) -> Any:
    """``sum(y_true log(y_true / y_pred))`` along the last axis."""
    y_true, y_pred = _pair(y_true, y_pred)
    y_true, y_pred = _within(y_true), _within(y_pred)
    return tf.reduce_sum(y_true * tf.math.log(y_true / y_pred), axis=-1)


def cosine_similarity(y_true: Any, y_pred: Any, axis: int = -1) -> Any:
    """The cosine of the angle between them, negated: the less, the more alike."""
    y_true, y_pred = _pair(y_true, y_pred)
    first, second = (tf.math.l2_normalize(y, axis=axis) for y in (y_true, y_pred))
    return -tf.reduce_sum(first * second, axis=axis)


def binary_crossentropy(
    y_true: Any, y_pred: Any, from_logits: bool = False, label_smoothing: float = 0.0
) -> Any:
    """``-mean(y_true log(p) + (1 - y_true) log(1 - p))`` along the last axis."""
    y_true, y_pred = _pair(y_true, y_pred)
    if label_smoothing:
        y_true = y_true * (1.0 - label_smoothing) + 0.5 * label_smoothing
    if from_logits:
        value = tf.nn.sigmoid_cross_entropy_with_logits(labels=y_true, logits=y_pred)
    else:
        p = _within(y_pred, 1.0 - _EPSILON)
        value = -(y_true * tf.math.log(p) + (1.0 - y_true) * tf.math.log(1.0 - p))
    return tf.reduce_mean(value, axis=-1)


def categorical_crossentropy(
    y_true: Any,
    y_pred: Any,
    from_logits: bool = False,
    label_smoothing: float = 0.0,
    axis: int = -1,
) -> Any:
    """``-sum(y_true log(p))`` along an axis."""
    y_true, y_pred = _pair(y_true, y_pred)
    if label_smoothing:
        classes = float(tuple(y_true.shape)[axis])
        y_true = y_true * (1.0 - label_smoothing) + label_smoothing / classes
    if from_logits:
        return -tf.reduce_sum(y_true * tf.nn.log_softmax(y_pred, axis=axis), axis=axis)
    p = y_pred / tf.reduce_sum(y_pred, axis=axis, keepdims=True)
    return -tf.reduce_sum(y_true * tf.math.log(_within(p, 1.0 - _EPSILON)), axis=axis)


def sparse_categorical_crossentropy(
    y_true: Any, y_pred: Any, from_logits: bool = False, axis: int = -1
) -> Any:
    """``-log(p)`` of the class that an integer names."""
    y_pred = _tensor(y_pred)
    labels = tf.cast(_tensor(y_true), tf.int32)
    if len(labels.shape) == len(y_pred.shape) and tuple(labels.shape)[-1] == 1:
        labels = tf.squeeze(labels, axis=-1)
    classes = tf.one_hot(labels, tuple(y_pred.shape)[axis], dtype=y_pred.dtype)
    if from_logits:
        return -tf.reduce_sum(classes * tf.nn.log_softmax(y_pred, axis=axis), axis=axis)
    p = _within(y_pred / tf.reduce_sum(y_pred, axis=axis, keepdims=True), 1.0 - _EPSILON)
    return -tf.reduce_sum(classes * tf.math.log(p), axis=axis)


class Reduction:
    """How a loss of each example becomes one number."""

    NONE: str = "none"
    SUM: str = "sum"
    SUM_OVER_BATCH_SIZE: str = "sum_over_batch_size"
    AUTO: str = "sum_over_batch_size"


class Loss:
    """A loss, with its reduction; ``call`` gives it of each example."""

    def __init__(
        self, reduction: str = "sum_over_batch_size", name: str | None = None, dtype: Any = None
    ) -> None:
        self.reduction: str | None = reduction
        self.name: str = snake_case(type(self).__name__) if name is None else name

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """The loss, reduced."""
        value = _tensor(self.call(_floating(y_true), _floating(y_pred)))
        if sample_weight is not None:
            weight = tf.cast(_tensor(sample_weight), value.dtype)
            if len(weight.shape) == len(value.shape) + 1:
                weight = tf.squeeze(weight, axis=-1)
            value = value * weight
        if self.reduction in ("none", None):
            return value
        if self.reduction == "sum":
            return tf.reduce_sum(value)
        return tf.reduce_mean(value)

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """The loss of each example."""
        raise NotImplementedError(f"{type(self).__name__} must have a method call")


def _floating(value: Any) -> Any:
    """Floating point as Keras' layers have it; labels that are integers stay so."""
    tensor = _tensor(value)
    return tf.cast(tensor, tf.float32) if tensor.dtype == tf.float64 else tensor


class _FunctionLoss(Loss):
    """A loss by one of the functions, with its further parameters."""

    _function: Callable[..., Any] = staticmethod(mean_squared_error)

    def __init__(
        self,
        reduction: str = "sum_over_batch_size",
        name: str | None = None,
        dtype: Any = None,
        **parameters: Any,
    ) -> None:
        super().__init__(reduction, name, dtype)
        self._parameters = parameters

    def call(self, y_true: Any, y_pred: Any) -> Any:
        return type(self)._function(y_true, y_pred, **self._parameters)


class MeanSquaredError(_FunctionLoss):
    """The mean of the squared errors."""


class MeanAbsoluteError(_FunctionLoss):
    """The mean of the errors' sizes."""

    _function = staticmethod(mean_absolute_error)


class MeanAbsolutePercentageError(_FunctionLoss):
    """The mean of the errors' sizes, in percent of the truth."""

    _function = staticmethod(mean_absolute_percentage_error)


class MeanSquaredLogarithmicError(_FunctionLoss):
    """The mean of the squared errors of ``log(1 + y)``."""

    _function = staticmethod(mean_squared_logarithmic_error)


class Huber(_FunctionLoss):
    """Quadratic within ``delta``, linear beyond."""

    _function = staticmethod(huber)

    def __init__(self, delta: float = 1.0, **kwargs: Any) -> None:
        super().__init__(delta=delta, **kwargs)


class LogCosh(_FunctionLoss):
    """``log(cosh(error))``."""

    _function = staticmethod(log_cosh)


class Hinge(_FunctionLoss):
    """``max(1 - y_true y_pred, 0)``."""

    _function = staticmethod(hinge)


class SquaredHinge(_FunctionLoss):
    """The square of ``Hinge``'s terms."""

    _function = staticmethod(squared_hinge)


class CategoricalHinge(_FunctionLoss):
    """The hinge loss between the true class and the best other."""

    _function = staticmethod(categorical_hinge)


class Poisson(_FunctionLoss):
    """``y_pred - y_true log(y_pred)``."""

    _function = staticmethod(poisson)


class KLDivergence(_FunctionLoss):
    """``sum(y_true log(y_true / y_pred))``."""

    _function = staticmethod(kl_divergence)


class CosineSimilarity(_FunctionLoss):
    """The cosine of the angle between them, negated."""

    def __init__(self, axis: int = -1, **kwargs: Any) -> None:
        super().__init__(axis=axis, **kwargs)

    _function = staticmethod(cosine_similarity)


class BinaryCrossentropy(_FunctionLoss):
    """The cross-entropy of yes and no."""

    _function = staticmethod(binary_crossentropy)

    def __init__(
        self, from_logits: bool = False, label_smoothing: float = 0.0, **kwargs: Any
    ) -> None:
        super().__init__(from_logits=from_logits, label_smoothing=label_smoothing, **kwargs)


class CategoricalCrossentropy(_FunctionLoss):
    """The cross-entropy of classes given as rows of a one."""

    _function = staticmethod(categorical_crossentropy)

    def __init__(
        self,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        axis: int = -1,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            from_logits=from_logits, label_smoothing=label_smoothing, axis=axis, **kwargs
        )


class SparseCategoricalCrossentropy(_FunctionLoss):
    """The cross-entropy of classes given as integers."""

    _function = staticmethod(sparse_categorical_crossentropy)

    def __init__(self, from_logits: bool = False, **kwargs: Any) -> None:
        kwargs.pop("ignore_class", None)
        super().__init__(from_logits=from_logits, **kwargs)


mse = mean_squared_error
MSE = mean_squared_error
mae = mean_absolute_error
MAE = mean_absolute_error
mape = mean_absolute_percentage_error
MAPE = mean_absolute_percentage_error
msle = mean_squared_logarithmic_error
MSLE = mean_squared_logarithmic_error
kld = kl_divergence
KLD = kl_divergence
logcosh = log_cosh

_CLASSES: dict[str, type[_FunctionLoss]] = {
    snake_case(kind.__name__): kind
    for kind in (
        MeanSquaredError, MeanAbsoluteError, MeanAbsolutePercentageError,
        MeanSquaredLogarithmicError, Huber, LogCosh, Hinge, SquaredHinge, CategoricalHinge,
        Poisson, CosineSimilarity, BinaryCrossentropy, CategoricalCrossentropy,
        SparseCategoricalCrossentropy,
    )
} | {
    "kl_divergence": KLDivergence, "mse": MeanSquaredError, "mae": MeanAbsoluteError,
    "mape": MeanAbsolutePercentageError, "msle": MeanSquaredLogarithmicError,
}  # fmt: skip


def get(identifier: Any) -> Any:
    """A loss by its name, its class, or any function of truth and prediction, reduced."""
    if isinstance(identifier, Loss):
        return identifier
    if isinstance(identifier, type):
        return identifier()
    if callable(identifier):
        return lambda y, p: tf.reduce_mean(identifier(y, p))
    if snake_case(str(identifier)) not in _CLASSES:
        raise ValueError(f"Could not interpret loss identifier: {identifier}")
    return _CLASSES[snake_case(str(identifier))]()


def _tensor(value: Any) -> Any:
    return value if isinstance(value, tf.Tensor) else tf.convert_to_tensor(value)


def _pair(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    y_pred = _tensor(y_pred)
    if not y_pred.dtype.is_floating:
        y_pred = tf.cast(y_pred, tf.float32)
    y_true = tf.cast(_tensor(y_true), y_pred.dtype)
    true, predicted = tuple(y_true.shape), tuple(y_pred.shape)
    if len(true) == len(predicted) + 1 and true[-1] == 1:
        y_true = tf.squeeze(y_true, axis=-1)
    elif len(predicted) == len(true) + 1 and predicted[-1] == 1:
        y_pred = tf.squeeze(y_pred, axis=-1)
    return y_true, y_pred


def _signed(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    y_true, y_pred = _pair(y_true, y_pred)
    binary = bool(tf.reduce_all((y_true == 0.0) | (y_true == 1.0)))
    return (2.0 * y_true - 1.0 if binary else y_true), y_pred


def _like(value: float, tensor: Any) -> Any:
    return tf.constant(value, dtype=tensor.dtype)


def _within(value: Any, most: float = 1.0) -> Any:
    return tf.clip_by_value(value, _EPSILON, most)
