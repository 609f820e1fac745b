"""What every metric is: figures gathered over batches, their sums and means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gradwire.tf as tf
from gradwire.tf.keras.losses.ranks import same_rank
from gradwire.tf.keras.names import snake_case, unique_name
from gradwire.tf.keras.settings import floatx


class Metric:
    """``update_state`` with each batch, then ``result``; ``reset_state`` begins anew."""

    #: Whether more is better, "up", or less, "down"; None where it is not known.
    _direction: str | None = None

    def __init__(self, dtype: Any = None, name: str | None = None) -> None:
        self.name: str = unique_name(snake_case(type(self).__name__)) if name is None else name
        self.dtype: str = floatx() if dtype is None else tf.as_dtype(dtype).name

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

    def _figure(self, value: float) -> Any:
        return tf.constant(value, dtype=self.dtype)


class Sum(Metric):
    """The weighted sum of values."""

    def __init__(self, name: str | None = "sum", dtype: Any = None) -> None:
        super().__init__(dtype, name)
        self._total: float = 0.0

    def update_state(self, values: Any, sample_weight: Any = None) -> None:
        values, _ = samplewise(values, sample_weight, np.sum)
        self._total += float(np.sum(values))

    def result(self) -> Any:
        return self._figure(self._total)

    def reset_state(self) -> None:
        self._total = 0.0

    reset_states = reset_state


class _Averaged(Metric):
    """A weighted mean of values."""

    def __init__(self, dtype: Any, name: str | None) -> None:
        super().__init__(dtype, name)
        self._total: float = 0.0
        self._count: float = 0.0

    def _take(self, values: Any, sample_weight: Any) -> None:
        values, weights = samplewise(values, sample_weight, np.mean)
        self._total += float(np.sum(values))
        if weights is None:
            self._count += len(values) if values.ndim else 1
        else:
            self._count += float(np.sum(weights))

    def _mean(self) -> float:
        return self._total / self._count if self._count else 0.0

    def result(self) -> Any:
        return self._figure(self._mean())

    def reset_state(self) -> None:
        self._total = self._count = 0.0

    reset_states = reset_state


class Mean(_Averaged):
    """The weighted mean of values."""

    def __init__(self, name: str | None = "mean", dtype: Any = None) -> None:
        super().__init__(dtype, name)

    def update_state(self, values: Any, sample_weight: Any = None) -> None:
        self._take(values, sample_weight)


class MeanMetricWrapper(_Averaged):
    """The mean of a function of truth and prediction, which is given further arguments."""

    def __init__(
        self, fn: Callable[..., Any], name: str | None = None, dtype: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(dtype, name or getattr(fn, "__name__", None))
        self._fn = fn
        self._parameters = kwargs

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        self._take(self._fn(y_true, y_pred, **self._parameters), sample_weight)


class FunctionMetric(MeanMetricWrapper):
    """The mean of the function that a subclass names."""

    _function: Callable[..., Any]

    def __init__(self, name: str | None = None, dtype: Any = None) -> None:
        name = snake_case(type(self).__name__) if name is None else name
        super().__init__(type(self)._function, name, dtype)


def numbers(value: Any) -> Any:
    """A tensor, or what NumPy takes for an array, as an array."""
    return value.numpy() if hasattr(value, "numpy") else np.asarray(value)


def samplewise(values: Any, weights: Any, reduced: Callable[..., Any]) -> tuple[Any, Any]:
    """One weighted value for each example, and the weights of examples, by Keras's rule."""
    values = np.asarray(numbers(values), np.float64)
    if weights is not None:
        weights = np.asarray(numbers(weights), np.float64)
        values, weights = same_rank(values, weights)
        axes = weights.ndim
        if values.ndim > axes:
            values = reduced(values, axis=tuple(range(axes, values.ndim)))
        weights = np.broadcast_to(weights, values.shape)
        values = values * weights
        if axes > 1:
            weights = reduced(weights, axis=tuple(range(1, axes)))
    if values.ndim > 1:
        values = reduced(values, axis=tuple(range(1, values.ndim)))
    return values, weights
