"""Losses: of each example by function, and reduced to a number by class."""

from __future__ import annotations

from typing import Any

from gradwire.tf.keras.losses.classes import (
    BinaryCrossentropy,
    CategoricalCrossentropy,
    CategoricalHinge,
    CosineSimilarity,
    FunctionLoss,
    Hinge,
    Huber,
    KLDivergence,
    LogCosh,
    Loss,
    LossFunctionWrapper,
    MeanAbsoluteError,
    MeanAbsolutePercentageError,
    MeanSquaredError,
    MeanSquaredLogarithmicError,
    Poisson,
    Reduction,
    SparseCategoricalCrossentropy,
    SquaredHinge,
)
from gradwire.tf.keras.losses.functions import (
    KLD,
    MAE,
    MAPE,
    MSE,
    MSLE,
    binary_crossentropy,
    categorical_crossentropy,
    categorical_hinge,
    cosine_similarity,
    hinge,
    huber,
    kl_divergence,
    kld,
    log_cosh,
    logcosh,
    mae,
    mape,
    mean_absolute_error,
    mean_absolute_percentage_error,
    mean_squared_error,
    mean_squared_logarithmic_error,
    mse,
    msle,
    poisson,
    sparse_categorical_crossentropy,
    squared_hinge,
)
from gradwire.tf.keras.names import snake_case
from gradwire.tf.keras.objects import deserialize_keras_object, resolved, serialize_keras_object

__all__ = [
    "KLD",
    "MAE",
    "MAPE",
    "MSE",
    "MSLE",
    "BinaryCrossentropy",
    "CategoricalCrossentropy",
    "CategoricalHinge",
    "CosineSimilarity",
    "Hinge",
    "Huber",
    "KLDivergence",
    "LogCosh",
    "Loss",
    "LossFunctionWrapper",
    "MeanAbsoluteError",
    "MeanAbsolutePercentageError",
    "MeanSquaredError",
    "MeanSquaredLogarithmicError",
    "Poisson",
    "Reduction",
    "SparseCategoricalCrossentropy",
    "SquaredHinge",
    "binary_crossentropy",
    "categorical_crossentropy",
    "categorical_hinge",
    "cosine_similarity",
    "deserialize",
    "get",
    "hinge",
    "huber",
    "kl_divergence",
    "kld",
    "log_cosh",
    "logcosh",
    "mae",
    "mape",
    "mean_absolute_error",
    "mean_absolute_percentage_error",
    "mean_squared_error",
    "mean_squared_logarithmic_error",
    "mse",
    "msle",
    "poisson",
    "serialize",
    "sparse_categorical_crossentropy",
    "squared_hinge",
]

_BY_NAME: dict[str, type[FunctionLoss]] = {
    snake_case(kind.__name__): kind
    for kind in (
        MeanSquaredError, MeanAbsoluteError, MeanAbsolutePercentageError,
        MeanSquaredLogarithmicError, Huber, LogCosh, Hinge, SquaredHinge, CategoricalHinge,
        Poisson, CosineSimilarity, BinaryCrossentropy, CategoricalCrossentropy,
        SparseCategoricalCrossentropy,
    )
} | {
    "kl_divergence": KLDivergence, "mse": MeanSquaredError, "mae": MeanAbsoluteError,
    "mape": MeanAbsolutePercentageError, "msle": MeanSquaredLogarithmicError,
}  # fmt: skip


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
