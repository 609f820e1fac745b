"""Optimizers: their steps are ordinary operations on the variables."""

from __future__ import annotations

from typing import Any

from gradwire.tf.keras import schedules
from gradwire.tf.keras.names import listed
from gradwire.tf.keras.objects import deserialize_keras_object, resolved, serialize_keras_object
from gradwire.tf.keras.optimizers.adam import *
from gradwire.tf.keras.optimizers.adaptive import *
from gradwire.tf.keras.optimizers.base import *
from gradwire.tf.keras.optimizers.base import Optimizer
from gradwire.tf.keras.optimizers.descent import *
from gradwire.tf.keras.optimizers.layerwise import *
from gradwire.tf.keras.optimizers.scaling import *

_BY_NAME = {
    kind.__name__.lower(): kind
    for kind in list(globals().values())
    if isinstance(kind, type) and issubclass(kind, Optimizer)
}


def serialize(optimizer: Any) -> Any:
    """One of these as plain values."""
    return serialize_keras_object(optimizer)


def deserialize(config: Any, custom_objects: Any = None) -> Any:
    """The optimizer that a configuration describes."""
    return deserialize_keras_object(config, custom_objects)


def get(identifier: Any) -> Any:
    """An optimizer by its name, its class, its configuration, or as it is."""
    is_one = isinstance(identifier, Optimizer)
    found = identifier if is_one else resolved(identifier, "optimizer", _BY_NAME)
    if not isinstance(found, Optimizer):
        raise ValueError(f"Could not interpret optimizer identifier: {identifier}")
    return found


__all__ = [*listed(__name__), "deserialize", "get", "schedules", "serialize"]
