"""Losses as classes, which reduce those of examples to one number."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from typing import Any, ClassVar

import gradwire.tf as tf
from gradwire.tf.keras.configurable import configurable
from gradwire.tf.keras.losses import functions
from gradwire.tf.keras.losses.functions import as_tensor
from gradwire.tf.keras.losses.ranks import same_rank
from gradwire.tf.keras.masks import mask_of
from gradwire.tf.keras.names import snake_case
from gradwire.tf.keras.objects import Configured, serialize_keras_object
from gradwire.tf.keras.settings import floatx

__all__ = [
    "BinaryCrossentropy", "CategoricalCrossentropy", "CategoricalHinge", "CosineSimilarity",
    "Hinge", "Huber", "KLDivergence", "LogCosh", "Loss", "LossFunctionWrapper", "MeanAbsoluteError",
    "MeanAbsolutePercentageError", "MeanSquaredError", "MeanSquaredLogarithmicError", "Poisson",
    "Reduction", "SparseCategoricalCrossentropy", "SquaredHinge",
]  # fmt: skip

_REDUCTIONS = ("sum_over_batch_size", "sum", "mean", "mean_with_sample_weight", "none", None)


class Reduction:
    """The reduction of the losses of examples to one number."""

    NONE: str = "none"
    SUM: str = "sum"
    SUM_OVER_BATCH_SIZE: str = "sum_over_batch_size"
    AUTO: str = "sum_over_batch_size"


class Loss(Configured):
    """A loss, with its reduction; ``call`` gives it of each example."""

    def __init__(
        self,
        name: str | None = None,
        reduction: str | None = "sum_over_batch_size",
        dtype: Any = None,
    ) -> None:
        if reduction not in _REDUCTIONS:
            raise ValueError(f"`reduction` must be one of {_REDUCTIONS}; got {reduction!r}")
        self.reduction: str | None = reduction
        self.name: str = snake_case(type(self).__name__) if name is None else name
        self.dtype: str = floatx() if dtype is None else tf.as_dtype(dtype).name

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """The loss, reduced; of what a mask of the prediction lets count."""
        value = as_tensor(self.call(self._converted(y_true), self._converted(y_pred)))
        masks = [mask for mask in (mask_of(y_pred), mask_of(value)) if mask is not None]
        weight = None if sample_weight is None else tf.cast(as_tensor(sample_weight), value.dtype)
        if masks:
            weight = self._masked(weight, reduce(tf.logical_and, masks), value.dtype)
        if weight is not None:
            value, weight = same_rank(value, weight)
            value = value * weight
        if self.reduction in ("none", None) or tuple(value.shape) in ((), (0,)):
            return value
        if self.reduction == "sum":
            return tf.reduce_sum(value)
        if self.reduction == "mean_with_sample_weight" and weight is not None:
            return tf.math.divide_no_nan(tf.reduce_sum(value), tf.reduce_sum(weight))
        return tf.reduce_mean(value)

    def _masked(self, weight: Any, mask: Any, dtype: Any) -> Any:
        """Weights of 0 for what does not count; means are of the rest alone."""
        counts = tf.cast(mask, dtype)
        if self.reduction in ("mean", "sum_over_batch_size"):
            total = float(math.prod(tuple(mask.shape)))
            counts = counts * tf.math.divide_no_nan(
                tf.constant(total, dtype=dtype), tf.reduce_sum(counts)
            )
        if weight is None:
            return counts
        counts, weight = same_rank(counts, weight)
        return weight * counts

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """The loss of each example."""
        raise NotImplementedError(f"{type(self).__name__} must have a method call")

    def get_config(self) -> dict[str, Any]:
        """The arguments that would make another."""
        return {"name": self.name, "reduction": self.reduction}

    def _converted(self, value: Any) -> Any:
        tensor = as_tensor(value)
        return tensor if tensor.dtype.name == self.dtype else tf.cast(tensor, self.dtype)


class LossFunctionWrapper(Loss):
    """A function of truth and prediction as a loss, with its further parameters."""

    def __init__(
        self,
        fn: Callable[..., Any],
        reduction: str | None = "sum_over_batch_size",
        name: str | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name or getattr(fn, "__name__", None), reduction, dtype)
        self.fn: Callable[..., Any] = fn
        self._parameters = kwargs

    def call(self, y_true: Any, y_pred: Any) -> Any:
        return self.fn(*same_rank(y_true, y_pred), **self._parameters)

    def get_config(self) -> dict[str, Any]:
        """The function, and the arguments that would make another."""
        own: dict[str, Any] = serialize_keras_object({"fn": self.fn, **self._parameters})
        return super().get_config() | own


class FunctionLoss(LossFunctionWrapper):
    """A loss by one of the functions: ``class Hinge(FunctionLoss, of=functions.hinge)``.

    What a class takes besides, its function takes.
    """

    _function: ClassVar[Callable[..., Any]]
    _called: ClassVar[str]

    def __init_subclass__(
        cls, of: Callable[..., Any] | None = None, called: str | None = None, **kwargs: Any
    ) -> None:
        super().__init_subclass__(**kwargs)
        if of is not None:
            cls._function, cls._called = staticmethod(of), called or snake_case(cls.__name__)

    def __init__(
        self,
        reduction: str | None = "sum_over_batch_size",
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        name = self._called if name is None else name
        super().__init__(type(self)._function, reduction, name, dtype)

    def _option(self, name: str, value: Any) -> Any:
        self._parameters[name] = value
        return value

    def get_config(self) -> dict[str, Any]:
        """The arguments that would make another."""
        config = super().get_config()
        del config["fn"]  # which is the class's
        return config


class MeanSquaredError(FunctionLoss, of=functions.mean_squared_error):
    """The mean of the squared errors."""


class MeanAbsoluteError(FunctionLoss, of=functions.mean_absolute_error):
    """The mean of the errors' sizes."""


class MeanAbsolutePercentageError(FunctionLoss, of=functions.mean_absolute_percentage_error):
    """The mean of the errors' sizes, in percent of the truth."""


class MeanSquaredLogarithmicError(FunctionLoss, of=functions.mean_squared_logarithmic_error):
    """The mean of the squared errors of ``log(1 + y)``."""


@configurable
class Huber(FunctionLoss, of=functions.huber, called="huber_loss"):
    """Quadratic within ``delta``, linear beyond."""

    delta: float = 1.0
    reduction: str | None = "sum_over_batch_size"
    name: Any = None
    dtype: Any = None


class LogCosh(FunctionLoss, of=functions.log_cosh):
    """``log(cosh(error))``."""


class Hinge(FunctionLoss, of=functions.hinge):
    """``max(1 - y_true y_pred, 0)``."""


class SquaredHinge(FunctionLoss, of=functions.squared_hinge):
    """The square of ``Hinge``'s terms."""


class CategoricalHinge(FunctionLoss, of=functions.categorical_hinge):
    """The hinge loss between the true class and the best other."""


class Poisson(FunctionLoss, of=functions.poisson):
    """``y_pred - y_true log(y_pred)``."""


class KLDivergence(FunctionLoss, of=functions.kl_divergence):
    """``sum(y_true log(y_true / y_pred))``."""


@configurable
class CosineSimilarity(FunctionLoss, of=functions.cosine_similarity):
    """The cosine of the angle between them, negated."""

    axis: int = -1
    reduction: str | None = "sum_over_batch_size"
    name: Any = None
    dtype: Any = None


@configurable
class _Crossentropy(FunctionLoss):
    """A cross-entropy of probabilities or of logits."""

    from_logits: bool = False
    label_smoothing: float = 0.0
    axis: int = -1
    reduction: str | None = "sum_over_batch_size"
    name: Any = None
    dtype: Any = None


class BinaryCrossentropy(_Crossentropy, of=functions.binary_crossentropy):
    """The cross-entropy of yes and no."""


class CategoricalCrossentropy(_Crossentropy, of=functions.categorical_crossentropy):
    """The cross-entropy of classes given as rows of a one."""


@configurable
class SparseCategoricalCrossentropy(FunctionLoss, of=functions.sparse_categorical_crossentropy):
    """The cross-entropy of classes given as integers."""

    from_logits: bool = False
    ignore_class: int | None = None
    reduction: str | None = "sum_over_batch_size"
    axis: int = -1
    name: Any = None
    dtype: Any = None
