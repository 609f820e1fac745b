"""Optimizers: their steps are ordinary operations on the variables."""

from __future__ import annotations

from typing import Any

from gradwire.tf.keras import schedules
from gradwire.tf.keras.objects import deserialize_keras_object, resolved, serialize_keras_object
from gradwire.tf.keras.optimizers.adam import Adam, Adamax, AdamW, Nadam
from gradwire.tf.keras.optimizers.adaptive import Adadelta, Adagrad, Ftrl, RMSprop
from gradwire.tf.keras.optimizers.base import Optimizer
from gradwire.tf.keras.optimizers.descent import SGD, Lion

__all__ = [
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Ftrl",
    "Lion",
    "Nadam",
    "Optimizer",
    "RMSprop",
    "deserialize",
    "get",
    "schedules",
    "serialize",
]

_BY_NAME: dict[str, type[Optimizer]] = {
    kind.__name__.lower(): kind
    for kind in (SGD, Adam, AdamW, Adamax, RMSprop, Adagrad, Adadelta, Nadam, Lion, Ftrl)
}


def serialize(optimizer: Any) -> Any:
    """One of these as plain values."""
    return serialize_keras_object(optimizer)


def deserialize(config: Any, custom_objects: Any = None) -> Any:
    """What plain values say."""
    return deserialize_keras_object(config, custom_objects)


def get(identifier: Any) -> Any:
    """An optimizer by its name, its class, its configuration, or as it is."""
    found = resolved(identifier, "optimizer", _BY_NAME)
    if not isinstance(found, Optimizer):
        raise ValueError(f"Could not interpret optimizer identifier: {identifier}")
    return found
