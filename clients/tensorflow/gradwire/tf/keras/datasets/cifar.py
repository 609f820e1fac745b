"""The files of CIFAR: pickled batches of images of 32 by 32 in three colours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gradwire.tf.keras.datasets.sources import ArrayUnpickler
from gradwire.tf.keras.utils.cache import get_file, keras_home


def folder(name: str, origin: str) -> Path:
    """The folder of the batches: below ``NAME-target``, or ``NAME``, as older Keras has it."""
    old = keras_home() / "datasets" / name
    if old.is_dir():
        return old
    return Path(get_file(f"{name}-target", origin, extract=True)) / name


def batch(path: Path, labels: str) -> tuple[Any, Any]:
    """The images of a batch, channels last, and their labels in a column."""
    with path.open("rb") as file:
        found = ArrayUnpickler(file, encoding="bytes").load()
    images = np.asarray(found[b"data"], np.uint8).reshape(-1, 3, 32, 32)
    return images.transpose(0, 2, 3, 1), np.asarray(found[labels.encode()]).reshape(-1, 1)
