"""Constraints on weights after a step of an optimizer."""

from __future__ import annotations

from typing import Any

import gradwire.tf as tf
from gradwire.tf.keras.configurable import configurable
from gradwire.tf.keras.objects import (
    Configured,
    deserialize_keras_object,
    resolved,
    serialize_keras_object,
)
from gradwire.tf.keras.settings import epsilon


class Constraint(Configured):
    """A function of a weight that gives the nearest allowed one."""

    def __call__(self, w: Any) -> Any:
        """The weight that is allowed."""
        return w


class NonNeg(Constraint):
    """Nothing below 0."""

    def __call__(self, w: Any) -> Any:
        w = tf.convert_to_tensor(w)
        return w * tf.cast(w >= 0.0, w.dtype)


@configurable
class UnitNorm(Constraint):
    """Norms of 1 along axes."""

    axis: Any = 0

    def __call__(self, w: Any) -> Any:
        w = tf.convert_to_tensor(w)
        return w / (epsilon() + _norms(w, self.axis))


@configurable
class MaxNorm(Constraint):
    """Norms of ``max_value`` at most along axes."""

    max_value: float = 2
    axis: Any = 0

    def __call__(self, w: Any) -> Any:
        w = tf.convert_to_tensor(w)
        norms = _norms(w, self.axis)
        return w * (tf.clip_by_value(norms, 0.0, float(self.max_value)) / (epsilon() + norms))


@configurable
class MinMaxNorm(Constraint):
    """Norms between two bounds along axes, reached by ``rate`` in each step."""

    min_value: float = 0.0
    max_value: float = 1.0
    rate: float = 1.0
    axis: Any = 0

    def __call__(self, w: Any) -> Any:
        w = tf.convert_to_tensor(w)
        norms = _norms(w, self.axis)
        within = tf.clip_by_value(norms, float(self.min_value), float(self.max_value))
        wanted = self.rate * within + (1.0 - self.rate) * norms
        return w * (wanted / (epsilon() + norms))


non_neg = NonNeg
unit_norm = UnitNorm
max_norm = MaxNorm
min_max_norm = MinMaxNorm


def serialize(constraint: Any) -> Any:
    """One of these as plain values."""
    return serialize_keras_object(constraint)


def deserialize(config: Any, custom_objects: Any = None) -> Any:
    """The constraint that a configuration describes."""
    return deserialize_keras_object(config, custom_objects)


_BY_NAME = {
    "non_neg": NonNeg, "unit_norm": UnitNorm, "max_norm": MaxNorm, "min_max_norm": MinMaxNorm
}  # fmt: skip


def get(identifier: Any) -> Any:
    """A constraint by its name, its class, its configuration, or as it is."""
    return resolved(identifier, "constraint", _BY_NAME)


def _norms(w: Any, axis: Any) -> Any:
    return tf.sqrt(tf.reduce_sum(tf.square(w), axis=axis, keepdims=True))
