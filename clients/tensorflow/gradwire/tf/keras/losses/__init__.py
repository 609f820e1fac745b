"""Losses: of each example by function, and reduced to a number by class."""

from __future__ import annotations

from typing import Any

from gradwire.tf.keras.losses.classes import *
from gradwire.tf.keras.losses.classes import (
    FunctionLoss,
    Loss,
    LossFunctionWrapper,
    MeanAbsoluteError,
    MeanAbsolutePercentageError,
    MeanSquaredError,
    MeanSquaredLogarithmicError,
)
from gradwire.tf.keras.losses.functions import *
from gradwire.tf.keras.names import listed, snake_case
from gradwire.tf.keras.objects import deserialize_keras_object, resolved, serialize_keras_object

_BY_NAME = {
    snake_case(kind.__name__): kind
    for kind in list(globals().values())
    if isinstance(kind, type) and issubclass(kind, FunctionLoss)
} | {
    "mse": MeanSquaredError,
    "mae": MeanAbsoluteError,
    "mape": MeanAbsolutePercentageError,
    "msle": MeanSquaredLogarithmicError,
}


def serialize(loss: Any) -> Any:
    """One of these as plain values."""
    return serialize_keras_object(loss)


def deserialize(name: Any, custom_objects: Any = None) -> Any:
    """What plain values say."""
    return deserialize_keras_object(name, custom_objects)


def get(identifier: Any) -> Any:
    """A loss by its name, its class, its configuration, or any function of truth and prediction."""
    if isinstance(identifier, Loss):
        return identifier
    found = resolved(identifier, "loss", _BY_NAME)
    return found if found is None or isinstance(found, Loss) else LossFunctionWrapper(found)


__all__ = [*listed(__name__), "deserialize", "get", "serialize"]
