"""Keras's names for what is trained on a tape, written in ``gradwire.tf`` itself."""

import sys

from gradwire.tf import absent
from gradwire.tf.keras import (
    activations,
    backend,
    callbacks,
    constraints,
    datasets,
    dtype_policies,
    initializers,
    layers,
    losses,
    metrics,
    mixed_precision,
    models,
    ops,
    optimizers,
    preprocessing,
    random,
    regularizers,
    saving,
    schedules,
    utils,
)
from gradwire.tf.keras.dtype_policies import DTypePolicy, FloatDTypePolicy
from gradwire.tf.keras.initializers import Initializer
from gradwire.tf.keras.layers import Input, InputSpec, Layer
from gradwire.tf.keras.losses import Loss
from gradwire.tf.keras.metrics import Metric
from gradwire.tf.keras.models import Model, Sequential
from gradwire.tf.keras.optimizers import Optimizer
from gradwire.tf.keras.regularizers import Regularizer
from gradwire.tf.keras.symbolic import KerasTensor

__all__ = [
    "DTypePolicy", "FloatDTypePolicy", "Initializer", "Input", "InputSpec", "KerasTensor", "Layer",
    "Loss", "Metric", "Model", "Optimizer", "Regularizer", "Sequential", "activations", "backend",
    "callbacks", "constraints", "datasets", "dtype_policies", "initializers", "layers", "losses",
    "metrics", "mixed_precision", "models", "ops", "optimizers", "preprocessing", "random",
    "regularizers", "saving", "schedules", "utils",
]  # fmt: skip

absent.name_missing(sys.modules[__name__], "keras")
