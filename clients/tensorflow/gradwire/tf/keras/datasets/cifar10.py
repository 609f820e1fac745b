"""Photographs of ten classes: 50,000 and 10,000 images of 32 by 32 in three colours."""

from __future__ import annotations

import numpy as np

from gradwire.tf.keras.datasets.cifar import batch, folder
from gradwire.tf.keras.datasets.sources import Split

_ORIGIN = "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz"


def load_data() -> Split:
    """``(x_train, y_train), (x_test, y_test)`` of the archive in Keras's folder.

    Raises:
        FileNotFoundError: says which file has to be put where.
    """
    path = folder("cifar-10-batches-py", _ORIGIN)
    parts = [batch(path / f"data_batch_{i}", "labels") for i in range(1, 6)]
    x_train, y_train = (np.concatenate(each) for each in zip(*parts, strict=True))
    x_test, y_test = batch(path / "test_batch", "labels")
    return (x_train, y_train.astype(np.uint8)), (x_test, y_test.astype(np.uint8))
