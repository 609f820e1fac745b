"""Handwritten digits: 60,000 and 10,000 images of 28 by 28."""

from __future__ import annotations

from gradwire.tf.keras.datasets.sources import ORIGIN, Split, arrays_of


def load_data(path: str = "mnist.npz") -> Split:
    """``(x_train, y_train), (x_test, y_test)`` of ``datasets/mnist.npz`` in Keras's folder.

    Raises:
        FileNotFoundError: says which file has to be put where.
    """
    found = arrays_of(path, origin=f"{ORIGIN}mnist.npz")
    return (found["x_train"], found["y_train"]), (found["x_test"], found["y_test"])
