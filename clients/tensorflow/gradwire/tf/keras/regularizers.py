"""Penalties on weights, added to a layer's ``losses``."""

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


class Regularizer(Configured):
    """A function of a weight that gives its penalty."""

    def __call__(self, x: Any) -> Any:
        """The penalty."""
        raise NotImplementedError(f"{type(self).__name__} must be callable")


@configurable
class L1L2(Regularizer):
    """``l1 sum(|x|) + l2 sum(x^2)``."""

    l1: float = 0.0
    l2: float = 0.0

    def __post_init__(self) -> None:
        self.l1, self.l2 = float(self.l1), float(self.l2)

    def __call__(self, x: Any) -> Any:
        value: Any = tf.constant(0.0, dtype=x.dtype)
        if self.l1:
            value = value + self.l1 * tf.reduce_sum(tf.abs(x))
        if self.l2:
            value = value + self.l2 * tf.reduce_sum(tf.square(x))
        return value


class L1(L1L2):
    """``l1 sum(|x|)``."""

    def __init__(self, l1: float = 0.01) -> None:
        super().__init__(l1=l1)


class L2(L1L2):
    """``l2 sum(x^2)``."""

    def __init__(self, l2: float = 0.01) -> None:
        super().__init__(l2=l2)


l1 = L1
l2 = L2
L1_L2 = L1L2
l1_l2 = L1L2


def serialize(regularizer: Any) -> Any:
    """One of these as plain values."""
    return serialize_keras_object(regularizer)


def deserialize(config: Any, custom_objects: Any = None) -> Any:
    """The regularizer that a configuration describes."""
    return deserialize_keras_object(config, custom_objects)


def get(identifier: Any) -> Any:
    """A penalty by its name, its class, its configuration, or as it is."""
    return resolved(identifier, "regularizer", {"l1": L1, "l2": L2, "l1_l2": L1L2, "l1l2": L1L2})
