"""Figures gathered over batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradwire.tf.keras.metrics.accuracy import (
    Accuracy,
    BinaryAccuracy,
    CategoricalAccuracy,
    SparseCategoricalAccuracy,
    SparseTopKCategoricalAccuracy,
    TopKCategoricalAccuracy,
    accuracy,
    binary_accuracy,
    categorical_accuracy,
    sparse_categorical_accuracy,
)
from gradwire.tf.keras.metrics.base import (
    Mean,
    MeanMetricWrapper,
    Metric,
    Sum,
)
from gradwire.tf.keras.metrics.counts import (
    FalseNegatives,
    FalsePositives,
    Precision,
    Recall,
    TrueNegatives,
    TruePositives,
)
from gradwire.tf.keras.metrics.errors import (
    BinaryCrossentropy,
    CategoricalCrossentropy,
    CosineSimilarity,
    Hinge,
    KLDivergence,
    LogCoshError,
    MeanAbsoluteError,
    MeanAbsolutePercentageError,
    MeanSquaredError,
    MeanSquaredLogarithmicError,
    Poisson,
    RootMeanSquaredError,
    SparseCategoricalCrossentropy,
    SquaredHinge,
)
from gradwire.tf.keras.names import snake_case
from gradwire.tf.keras.objects import deserialize_keras_object, resolved, serialize_keras_object

__all__ = [
    "Accuracy",
    "BinaryAccuracy",
    "BinaryCrossentropy",
    "CategoricalAccuracy",
    "CategoricalCrossentropy",
    "CosineSimilarity",
    "FalseNegatives",
    "FalsePositives",
    "Hinge",
    "KLDivergence",
    "LogCoshError",
    "Mean",
    "MeanAbsoluteError",
    "MeanAbsolutePercentageError",
    "MeanMetricWrapper",
    "MeanSquaredError",
    "MeanSquaredLogarithmicError",
    "Metric",
    "Poisson",
    "Precision",
    "Recall",
    "RootMeanSquaredError",
    "SparseCategoricalAccuracy",
    "SparseCategoricalCrossentropy",
    "SparseTopKCategoricalAccuracy",
    "SquaredHinge",
    "Sum",
    "TopKCategoricalAccuracy",
    "TrueNegatives",
    "TruePositives",
    "accuracy",
    "binary_accuracy",
    "categorical_accuracy",
    "deserialize",
    "get",
    "serialize",
    "sparse_categorical_accuracy",
]

_BY_NAME: dict[str, Callable[[], Metric]] = {
    "mse": MeanSquaredError,
    "mae": MeanAbsoluteError,
    "mape": MeanAbsolutePercentageError,
    "msle": MeanSquaredLogarithmicError,
} | {
    snake_case(kind.__name__): kind
    for kind in (
        BinaryAccuracy, CategoricalAccuracy, SparseCategoricalAccuracy, Accuracy,
        TopKCategoricalAccuracy, SparseTopKCategoricalAccuracy,
        MeanSquaredError, RootMeanSquaredError, MeanAbsoluteError, MeanAbsolutePercentageError,
        MeanSquaredLogarithmicError, LogCoshError, KLDivergence, Poisson, CosineSimilarity,
        Hinge, SquaredHinge, BinaryCrossentropy, CategoricalCrossentropy,
        SparseCategoricalCrossentropy, Precision, Recall, TruePositives, TrueNegatives,
        FalsePositives, FalseNegatives, Mean, Sum,
    )
}  # fmt: skip


def serialize(metric: Any) -> Any:
    """One of these as plain values."""
    return serialize_keras_object(metric)


def deserialize(config: Any, custom_objects: Any = None) -> Any:
    """What plain values say."""
    return deserialize_keras_object(config, custom_objects)


def get(identifier: Any) -> Any:
    """A metric by its name, its class, its configuration, or as the mean of a function."""
    if isinstance(identifier, Metric):
        return identifier
    found = resolved(identifier, "metric", _BY_NAME)
    if isinstance(identifier, str):
        found.name = identifier
    return found if found is None or isinstance(found, Metric) else MeanMetricWrapper(found)
