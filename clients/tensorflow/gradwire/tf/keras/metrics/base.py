"""The base of metrics: figures gathered over batches, their sums and means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

import gradwire.tf as tf
from gradwire.tf.keras.configurable import configurable, parameters
from gradwire.tf.keras.losses.ranks import same_rank
from gradwire.tf.keras.names import snake_case, unique_name
from gradwire.tf.keras.objects import (
    Configured,
    is_ours,
    serialize_keras_object,
)
from gradwire.tf.keras.settings import floatx
from gradwire.tf.keras.weights import state
from gradwire.tf.steps import again

__all__ = ["Mean", "MeanMetricWrapper", "Metric", "Sum"]


class Metric(Configured):
    """``update_state`` with each batch, then ``result``; ``reset_state`` begins anew.

    Subclasses gather in variables from ``add_weight``, or in metrics that are attributes.
    """

    #: The better direction: "up" or "down"; None where it is not known.
    _direction: str | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in ("update_state", "result", "reset_state"):
            if name in vars(cls) and is_ours(cls):
                setattr(cls, name, again()(vars(cls)[name]))

    def __init__(self, dtype: Any = None, name: str | None = None) -> None:
        self.name: str = unique_name(snake_case(type(self).__name__)) if name is None else name
        self.dtype: str = floatx() if dtype is None else tf.as_dtype(dtype).name
        self._own_variables: list[Any] = []

    def __repr__(self) -> str:
        return f"<{type(self).__name__} name={self.name}>"

    def add_variable(
        self,
        shape: Any,
        initializer: Any,
        dtype: Any = None,
        aggregation: str | None = "sum",
        name: str | None = None,
    ) -> Any:
        """A new variable of this metric; ``aggregation`` is for devices, of which there is one."""
        if "_own_variables" not in self.__dict__:
            raise RuntimeError(
                f"{type(self).__name__}.__init__ must call `super().__init__()` before it adds "
                "variables"
            )
        variable = state(self.name, shape, initializer, dtype or self.dtype, name)
        self._own_variables.append(variable)
        return variable

    def add_weight(
        self,
        shape: Any = (),
        initializer: Any = None,
        dtype: Any = None,
        name: str | None = None,
    ) -> Any:
        """The same with a shape of its own."""
        return self.add_variable(shape, initializer, dtype, name=name)

    @property
    def variables(self) -> list[Any]:
        """Its variables, and those of the metrics within."""
        inner = [each for each in vars(self).values() if isinstance(each, Metric)]
        return [*self._own_variables, *(v for each in inner for v in each.variables)]

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
        """Forget all batches: zero in all variables."""
        for variable in self._own_variables:
            variable.assign(tf.zeros_like(variable))
        for each in vars(self).values():
            if isinstance(each, Metric):
                each.reset_state()

    def reset_states(self) -> None:
        """The same by its earlier name."""
        self.reset_state()

    def get_config(self) -> dict[str, Any]:
        """The arguments that would make another."""
        config = {"name": self.name, "dtype": self.dtype}
        if is_ours(type(self)):
            own = [name for name in parameters(type(self)) if name not in (*config, "fn")]
            config |= {name: serialize_keras_object(getattr(self, name)) for name in own}
        return config

    def _figure(self, value: Any) -> Any:
        return tf.constant(value, dtype=self.dtype)


@configurable
class Sum(Metric):
    """The weighted sum of values."""

    name: Any = "sum"
    dtype: Any = None

    def __post_init__(self) -> None:
        self.reset_state()

    def update_state(self, values: Any, sample_weight: Any = None) -> None:
        values, _ = samplewise(values, sample_weight, np.sum)
        self._total += float(np.sum(values))

    def result(self) -> Any:
        return self._figure(self._total)

    def reset_state(self) -> None:
        self._total: float = 0.0


class _Averaged(Metric):
    """A weighted mean of values."""

    _total: float = 0.0
    _count: float = 0.0

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


@configurable
class Mean(_Averaged):
    """The weighted mean of values."""

    name: Any = "mean"
    dtype: Any = None

    def update_state(self, values: Any, sample_weight: Any = None) -> None:
        self._take(values, sample_weight)


class MeanMetricWrapper(_Averaged):
    """The mean of a function of truth and prediction, which is given further arguments.

    What a mask of the prediction leaves out does not count.
    """

    _is_masked: bool = True

    def __init__(
        self, fn: Callable[..., Any], name: str | None = None, dtype: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(dtype, name or getattr(fn, "__name__", None))
        self._fn = fn
        self._parameters = kwargs

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        mask = getattr(y_pred, "_keras_mask", None) if self._is_masked else None
        weight = sample_weight if mask is None else masked(sample_weight, mask)
        self._take(self._fn(y_true, y_pred, **self._parameters), weight)

    def get_config(self) -> dict[str, Any]:
        """The function, and the arguments that would make another."""
        config = super().get_config()
        if type(self) is MeanMetricWrapper:
            config |= serialize_keras_object({"fn": self._fn, **self._parameters})
        return config


class FunctionMetric(MeanMetricWrapper):
    """The mean of a function: ``class Hinge(FunctionMetric, of=losses.hinge, best="down")``.

    What a class takes besides, its function takes.
    """

    _function: ClassVar[Callable[..., Any]]
    _called: ClassVar[str]

    def __init_subclass__(
        cls,
        of: Callable[..., Any] | None = None,
        best: str | None = None,
        called: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init_subclass__(**kwargs)
        if of is not None:
            cls._function, cls._direction = staticmethod(of), best
            cls._called = called or snake_case(cls.__name__)

    def __init__(self, name: str | None = None, dtype: Any = None) -> None:
        name = self._called if name is None else name
        super().__init__(type(self)._function, name, dtype)

    def _option(self, name: str, value: Any) -> Any:
        self._parameters[name] = value
        return value


def numbers(value: Any) -> Any:
    """A tensor, or what NumPy takes for an array, as an array."""
    return value.numpy() if hasattr(value, "numpy") else np.asarray(value)


def masked(weights: Any, mask: Any) -> Any:
    """Weights of examples, or 1, and 0 where a mask leaves them out."""
    counts = np.asarray(numbers(mask), np.float64)
    if weights is None:
        return counts
    counts, weights = same_rank(counts, np.asarray(numbers(weights), np.float64))
    return weights * counts


def samplewise(values: Any, weights: Any, reduced: Callable[..., Any]) -> tuple[Any, Any]:
    """One weighted value for each example, and the weights of examples, by Keras's rule."""
    mask = getattr(values, "_keras_mask", None)
    values = np.asarray(numbers(values), np.float64)
    if weights is not None:
        weights = np.asarray(numbers(weights), np.float64)
        weights = weights if mask is None else masked(weights, mask)
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
