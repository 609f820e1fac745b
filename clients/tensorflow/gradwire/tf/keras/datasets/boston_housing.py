"""Prices of 506 houses by 13 features."""

from __future__ import annotations

from gradwire.tf.keras.datasets.sources import ORIGIN, Split, arrays_of, shuffled, split_at


def load_data(path: str = "boston_housing.npz", test_split: float = 0.2, seed: int = 113) -> Split:
    """``(x_train, y_train), (x_test, y_test)``, shuffled by a seed as Keras does.

    Raises:
        FileNotFoundError: says which file has to be put where.
    """
    found = arrays_of(path, origin=f"{ORIGIN}boston_housing.npz")
    x, y = shuffled(seed, found["x"], found["y"])
    return split_at(x, y, test_split)
