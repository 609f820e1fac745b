"""Prices of houses in 20,640 places by 8 features."""

from __future__ import annotations

from gradwire.tf.keras.datasets.sources import ORIGIN, Split, arrays_of, shuffled, split_at


def load_data(
    version: str = "large",
    path: str = "california_housing.npz",
    test_split: float = 0.2,
    seed: int = 113,
) -> Split:
    """``(x_train, y_train), (x_test, y_test)``, shuffled by a seed as Keras does.

    ``version="small"`` takes the first 600 places.

    Raises:
        FileNotFoundError: says which file has to be put where.
    """
    found = arrays_of(path, origin=f"{ORIGIN}california_housing.npz")
    if version not in ("small", "large"):
        raise ValueError(f"`version` is 'small' or 'large', not {version!r}")
    count = 600 if version == "small" else None
    x, y = shuffled(seed, found["x"][:count], found["y"][:count])
    return split_at(x, y, test_split)
