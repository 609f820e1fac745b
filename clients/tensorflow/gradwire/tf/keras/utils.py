"""Keras's small functions on data."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwire.tf.keras.seeds import set_random_seed


def to_categorical(x: Any, num_classes: int | None = None) -> Any:
    """Integers as rows of a one."""
    classes = np.asarray(x.numpy() if hasattr(x, "numpy") else x).astype(np.int64)
    if classes.ndim > 1 and classes.shape[-1] == 1:
        classes = classes[..., 0]
    return np.eye(num_classes or int(classes.max()) + 1)[classes]


def normalize(x: Any, axis: int = -1, order: int = 2) -> Any:
    """An array whose norm along an axis is 1."""
    array = np.asarray(x)
    norms = np.linalg.norm(array, order, axis, keepdims=True)
    return array / np.where(norms == 0, 1, norms)


__all__ = ["normalize", "set_random_seed", "to_categorical"]
