"""Losses: of each example by function, and reduced to a number by class."""

from __future__ import annotations

from inspect import isfunction
from typing import Any

from gradwire.tf.keras.losses.classes import *
from gradwire.tf.keras.losses.classes import FunctionLoss, Loss
from gradwire.tf.keras.losses.focal import *
from gradwire.tf.keras.losses.functions import *
from gradwire.tf.keras.losses.functions import binary_crossentropy
from gradwire.tf.keras.losses.regions import *
from gradwire.tf.keras.names import listed, snake_case
from gradwire.tf.keras.objects import deserialize_keras_object, resolved, serialize_keras_object

_BY_NAME = {
    snake_case(kind.__name__): kind
    for kind in list(globals().values())
    if isinstance(kind, type) and issubclass(kind, FunctionLoss)
}
_FUNCTIONS = {
    name: each for name, each in globals().items() if isfunction(each) and name in listed(__name__)
} | {"bce": binary_crossentropy, "BCE": binary_crossentropy}


def serialize(loss: Any) -> Any:
    """One of these as plain values."""
    return serialize_keras_object(loss)


def deserialize(name: Any, custom_objects: Any = None) -> Any:
    """The loss that a configuration describes."""
    return deserialize_keras_object(name, custom_objects)


def get(identifier: Any) -> Any:
    """A loss: a function by its name, a class by its own or its configuration, or as it is."""
    if isinstance(identifier, Loss):
        return identifier
    if isinstance(identifier, str) and identifier in _FUNCTIONS:
        return _FUNCTIONS[identifier]
    return resolved(identifier, "loss", _BY_NAME)


__all__ = [*listed(__name__), "deserialize", "get", "serialize"]
