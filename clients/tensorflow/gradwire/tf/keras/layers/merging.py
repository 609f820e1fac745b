"""Layers of several inputs."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import gradwire.tf as tf
from gradwire.tf.keras.configurable import configurable
from gradwire.tf.keras.layers.base import Layer
from gradwire.tf.keras.masks import is_masked, mask_of, set_mask
from gradwire.tf.variants import variant

__all__ = [
    "Add", "Average", "Concatenate", "Dot", "Maximum", "Minimum", "Multiply", "Subtract", "add",
    "average", "concatenate", "dot", "maximum", "minimum", "multiply", "subtract",
]  # fmt: skip


class Merge(Layer):
    """A function of several inputs; shorter shapes get axes of 1 behind the batch's.

    The result has a mask if all inputs have one: of the steps that count in any.
    """

    supports_masking = True

    def merged(self, inputs: Sequence[Any]) -> Any:
        """The function of inputs of as many axes."""
        raise NotImplementedError(f"{type(self).__name__} must have a method merged")

    def compute_mask(self, inputs: Any, mask: Any) -> Any:
        del inputs  # for subclasses
        if mask is None or any(each is None for each in mask):
            return None
        return reduce(tf.logical_or, mask)

    def call(self, inputs: Any) -> Any:
        if not isinstance(inputs, (list, tuple)):
            raise ValueError(f"{type(self).__name__} combines a list of tensors; got {inputs}")
        most = max(len(part.shape) for part in inputs)
        return self.merged([_ranked(part, most) for part in inputs])

    def _two(self, inputs: Sequence[Any]) -> tuple[Any, Any]:
        if len(inputs) != 2:
            raise ValueError(
                f"{type(self).__name__} combines two tensors; got {len(inputs)}: {inputs}"
            )
        return inputs[0], inputs[1]


class Add(Merge):
    """The sum of the inputs."""

    def merged(self, inputs: Sequence[Any]) -> Any:
        return reduce(operator.add, inputs)


class Subtract(Merge):
    """The first input less the second."""

    def merged(self, inputs: Sequence[Any]) -> Any:
        first, second = self._two(inputs)
        return first - second


class Average(Merge):
    """The mean of the inputs."""

    def merged(self, inputs: Sequence[Any]) -> Any:
        return reduce(operator.add, inputs) / float(len(inputs))


class Multiply(Merge):
    """The product of the inputs, element by element; of those that count, where masks say so."""

    def merged(self, inputs: Sequence[Any]) -> Any:
        wide = [_wide(part) for part in inputs]
        filled = [
            part if counts is None else tf.where(counts, part, tf.ones((), part.dtype))
            for part, counts in zip(inputs, wide, strict=True)
        ]
        value = reduce(operator.mul, filled)
        if any(counts is None for counts in wide):
            return value
        counts = reduce(tf.logical_or, wide)
        value = tf.where(counts, value, tf.zeros((), value.dtype))
        set_mask(value, tf.reduce_any(counts, axis=-1))
        return value


class Maximum(Merge):
    """The greatest of the inputs, element by element; of those that count, where masks say so."""

    _greater: Callable[..., Any] = staticmethod(tf.maximum)

    def merged(self, inputs: Sequence[Any]) -> Any:
        value, counts = inputs[0], _wide(inputs[0])
        for each in inputs[1:]:
            own = _wide(each)
            part = each if own is None else tf.where(own, each, value)
            value = value if counts is None else tf.where(counts, value, part)
            both = own is not None and counts is not None
            counts = tf.logical_or(counts, own) if both else None
            value = type(self)._greater(value, part)
        if counts is not None:
            set_mask(value, tf.reduce_any(counts, axis=-1))
        return value


class Minimum(Maximum):
    """The least of the inputs, element by element; of those that count, where masks say so."""

    _greater = staticmethod(tf.minimum)


@configurable
class Concatenate(Merge):
    """The inputs behind one another, along an axis."""

    axis: int = -1

    def merged(self, inputs: Sequence[Any]) -> Any:
        return tf.concat(inputs, axis=self.axis)

    def compute_mask(self, inputs: Any, mask: Any) -> Any:
        if mask is None or not is_masked(mask):
            return None
        wide = [
            tf.ones_like(part, dtype=tf.bool) if each is None else _spread(each, part)
            for part, each in zip(inputs, mask, strict=True)
        ]
        return tf.reduce_any(tf.concat(wide, axis=self.axis), axis=-1)


@configurable
class Dot(Merge):
    """The inner products of the examples of two inputs, along one axis of each."""

    axes: Any
    normalize: bool = False

    def __post_init__(self) -> None:
        self.axes = self.axes if isinstance(self.axes, int) else tuple(self.axes)

    def compute_mask(self, inputs: Any, mask: Any) -> Any:
        del inputs, mask  # no steps are left
        return None

    def call(self, inputs: Any) -> Any:
        first, second = self._two(inputs)
        one, two = (self.axes, self.axes) if isinstance(self.axes, int) else self.axes
        if self.normalize:
            first = tf.math.l2_normalize(first, axis=one)
            second = tf.math.l2_normalize(second, axis=two)
        if len(first.shape) == 2 and len(second.shape) == 2:
            return tf.reduce_sum(first * second, axis=1, keepdims=True)
        letters = "abcdefghijklmnop"
        left = letters[1 : len(first.shape)]
        right = letters[8 : 7 + len(second.shape)]
        summed = left[one % len(first.shape) - 1]
        right = right.replace(right[two % len(second.shape) - 1], summed)
        rest = [letter for letter in left + right if letter != summed]
        return tf.einsum(f"a{left},a{right}->a{''.join(rest)}", first, second)


def _merging(inputs: Any, **kwargs: Any) -> Callable[..., Any]:
    return lambda kind: kind(**kwargs)(inputs)


@variant(_merging, Add)
def add() -> Any:
    """The sum of the inputs."""


@variant(_merging, Subtract)
def subtract() -> Any:
    """The first input less the second."""


@variant(_merging, Multiply)
def multiply() -> Any:
    """The product of the inputs."""


@variant(_merging, Average)
def average() -> Any:
    """The mean of the inputs."""


@variant(_merging, Maximum)
def maximum() -> Any:
    """The greatest of the inputs."""


@variant(_merging, Minimum)
def minimum() -> Any:
    """The least of the inputs."""


def concatenate(inputs: Any, axis: int = -1, **kwargs: Any) -> Any:
    """The inputs behind one another."""
    return Concatenate(axis=axis, **kwargs)(inputs)


def dot(inputs: Any, axes: Any = -1, **kwargs: Any) -> Any:
    """The inner products of two inputs."""
    return Dot(axes=axes, **kwargs)(inputs)


def _ranked(value: Any, count: int) -> Any:
    """A value of so many axes, new ones behind that of the batch."""
    shape = tuple(value.shape)
    if len(shape) == count:
        return value
    return tf.reshape(value, (*shape[:1], *(1,) * (count - len(shape)), *shape[1:]))


def _wide(value: Any) -> Any:
    """The mask that a value carries, for each element."""
    mask = mask_of(value)
    return None if mask is None else _spread(mask, value)


def _spread(mask: Any, value: Any) -> Any:
    if len(mask.shape) == len(value.shape):
        return mask
    return tf.logical_and(tf.expand_dims(mask, -1), tf.ones_like(value, dtype=tf.bool))
