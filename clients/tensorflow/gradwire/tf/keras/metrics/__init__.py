"""Figures gathered over batches."""

from __future__ import annotations

from typing import Any

from gradwire.tf.keras.losses import (
    KLD,
    MAE,
    MAPE,
    MSE,
    MSLE,
    binary_crossentropy,
    binary_focal_crossentropy,
    categorical_crossentropy,
    categorical_focal_crossentropy,
    categorical_hinge,
    hinge,
    huber,
    kld,
    kullback_leibler_divergence,
    logcosh,
    mae,
    mape,
    mse,
    msle,
    poisson,
    sparse_categorical_crossentropy,
    squared_hinge,
)  # fmt: skip
from gradwire.tf.keras.metrics.accuracy import *
from gradwire.tf.keras.metrics.base import *
from gradwire.tf.keras.metrics.base import Metric
from gradwire.tf.keras.metrics.counts import *
from gradwire.tf.keras.metrics.curves import *
from gradwire.tf.keras.metrics.errors import *
from gradwire.tf.keras.metrics.errors import (
    MeanAbsoluteError,
    MeanAbsolutePercentageError,
    MeanSquaredError,
    MeanSquaredLogarithmicError,
)
from gradwire.tf.keras.metrics.overlaps import *
from gradwire.tf.keras.metrics.scores import *
from gradwire.tf.keras.names import listed, snake_case
from gradwire.tf.keras.objects import deserialize_keras_object, resolved, serialize_keras_object

_BY_NAME = {
    snake_case(kind.__name__): kind
    for kind in list(globals().values())
    if isinstance(kind, type) and issubclass(kind, Metric)
} | {
    "mse": MeanSquaredError,
    "mae": MeanAbsoluteError,
    "mape": MeanAbsolutePercentageError,
    "msle": MeanSquaredLogarithmicError,
}


def serialize(metric: Any) -> Any:
    """One of these as plain values."""
    return serialize_keras_object(metric)


def deserialize(config: Any, custom_objects: Any = None) -> Any:
    """The metric that a configuration describes."""
    return deserialize_keras_object(config, custom_objects)


def get(identifier: Any) -> Any:
    """A metric by its name, its class, its configuration, or as it is; also any function."""
    is_one = isinstance(identifier, Metric)
    return identifier if is_one else resolved(identifier, "metric", _BY_NAME)


__all__ = [
    *listed(__name__), "KLD", "MAE", "MAPE", "MSE", "MSLE", "binary_crossentropy",
    "binary_focal_crossentropy", "categorical_crossentropy", "categorical_focal_crossentropy",
    "categorical_hinge", "deserialize", "get", "hinge", "huber", "kld",
    "kullback_leibler_divergence", "logcosh", "mae", "mape", "mse", "msle", "poisson", "serialize",
    "sparse_categorical_crossentropy", "squared_hinge",
]  # fmt: skip
