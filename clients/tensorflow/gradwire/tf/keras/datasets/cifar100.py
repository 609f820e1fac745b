"""Photographs of a hundred classes: 50,000 and 10,000 images of 32 by 32 in three colours."""

from __future__ import annotations

from gradwire.tf.keras.datasets.cifar import batch, folder
from gradwire.tf.keras.datasets.sources import Split

_ORIGIN = "https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz"


def load_data(label_mode: str = "fine") -> Split:
    """``(x_train, y_train), (x_test, y_test)`` of the archive in Keras's folder.

    ``label_mode`` is ``"fine"``, for the hundred classes, or ``"coarse"``, for twenty.

    Raises:
        FileNotFoundError: says which file has to be put where.
    """
    if label_mode not in ("fine", "coarse"):
        raise ValueError(f"`label_mode` is 'fine' or 'coarse', not {label_mode!r}")
    path = folder("cifar-100-python", _ORIGIN)
    labels = f"{label_mode}_labels"
    return batch(path / "train", labels), batch(path / "test", labels)
