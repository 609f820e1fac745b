"""Layers of several inputs."""

from __future__ import annotations

from functools import reduce
from typing import Any

import gradwire.tf as tf
from gradwire.tf.keras.layers.base import Layer


class Add(Layer):
    """The sum of the inputs."""

    def call(self, inputs: Any) -> Any:
        return reduce(lambda x, y: x + y, inputs)


class Subtract(Layer):
    """The first input less the second."""

    def call(self, inputs: Any) -> Any:
        first, second = inputs
        return first - second


class Multiply(Layer):
    """The product of the inputs, element by element."""

    def call(self, inputs: Any) -> Any:
        return reduce(lambda x, y: x * y, inputs)


class Average(Layer):
    """The mean of the inputs."""

    def call(self, inputs: Any) -> Any:
        return reduce(lambda x, y: x + y, inputs) / float(len(inputs))


class Maximum(Layer):
    """The greatest of the inputs, element by element."""

    def call(self, inputs: Any) -> Any:
        return reduce(tf.maximum, inputs)


class Minimum(Layer):
    """The least of the inputs, element by element."""

    def call(self, inputs: Any) -> Any:
        return reduce(tf.minimum, inputs)


class Concatenate(Layer):
    """The inputs behind one another, along an axis."""

    def __init__(self, axis: int = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis: int = axis

    def call(self, inputs: Any) -> Any:
        return tf.concat(inputs, axis=self.axis)


class Dot(Layer):
    """The inner products of the examples of two inputs, along one axis of each."""

    def __init__(self, axes: Any, normalize: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axes: tuple[int, int] = (axes, axes) if isinstance(axes, int) else tuple(axes)
        self.normalize: bool = normalize

    def call(self, inputs: Any) -> Any:
        first, second = inputs
        one, two = self.axes
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


def add(inputs: Any, **kwargs: Any) -> Any:
    """The sum of the inputs."""
    return Add(**kwargs)(inputs)


def subtract(inputs: Any, **kwargs: Any) -> Any:
    """The first input less the second."""
    return Subtract(**kwargs)(inputs)


def multiply(inputs: Any, **kwargs: Any) -> Any:
    """The product of the inputs."""
    return Multiply(**kwargs)(inputs)


def average(inputs: Any, **kwargs: Any) -> Any:
    """The mean of the inputs."""
    return Average(**kwargs)(inputs)


def maximum(inputs: Any, **kwargs: Any) -> Any:
    """The greatest of the inputs."""
    return Maximum(**kwargs)(inputs)


def minimum(inputs: Any, **kwargs: Any) -> Any:
    """The least of the inputs."""
    return Minimum(**kwargs)(inputs)


def concatenate(inputs: Any, axis: int = -1, **kwargs: Any) -> Any:
    """The inputs behind one another."""
    return Concatenate(axis=axis, **kwargs)(inputs)
