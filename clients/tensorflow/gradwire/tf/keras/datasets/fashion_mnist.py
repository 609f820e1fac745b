"""Articles of clothing: 60,000 and 10,000 images of 28 by 28."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np

from gradwire.tf.keras.datasets.sources import ORIGIN, Split
from gradwire.tf.keras.utils.cache import get_file


def load_data() -> Split:
    """``(x_train, y_train), (x_test, y_test)`` of the four files in ``datasets/fashion-mnist``.

    Raises:
        FileNotFoundError: says which file has to be put where.
    """
    train, test = (
        (_bytes(f"{part}-images-idx3-ubyte.gz", 16), _bytes(f"{part}-labels-idx1-ubyte.gz", 8))
        for part in ("train", "t10k")
    )
    return (train[0].reshape(-1, 28, 28), train[1]), (test[0].reshape(-1, 28, 28), test[1])


def _bytes(name: str, head: int) -> Any:
    """The data after the head of an IDX file: magic number and lengths, four bytes each."""
    folder = str(Path("datasets", "fashion-mnist"))
    with gzip.open(get_file(name, ORIGIN + name, cache_subdir=folder)) as file:
        return np.frombuffer(file.read(), np.uint8, offset=head)
