"""Synthetic rows of a logistic regression, in Zarr arrays, and its value by NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import zarr
from numpy.typing import NDArray

FEATURES = 100
#: Bytes of a chunk of ``X``.
_CHUNK_BYTES = 32 << 20
_SEED = 2024
Array = NDArray[Any]

#: The mean loss and half the squared norm of the weights over the rows, as scikit-learn with C = 1.
PROGRAM = "z = X @ w\nreturn mean(log(1 + exp(z)) - y * z) + sum(w * w) / (2 * len(y))"


class Rows(NamedTuple):
    """The folder of two arrays, ``X.zarr`` and ``y.zarr``, and how many rows they have."""

    folder: Path
    number: int

    def arrays(self) -> tuple[Any, Any]:
        """Both, opened."""
        return tuple(zarr.open_array(str(self.folder / f"{n}.zarr"), mode="r") for n in "Xy")

    def chunks(self) -> Iterator[tuple[Array, Array]]:
        """The rows chunk by chunk, in double precision."""
        X, y = self.arrays()
        for start in range(0, self.number, X.chunks[0]):
            part = slice(start, start + X.chunks[0])
            yield X[part].astype(np.float64), y[part].astype(np.float64)


def write(folder: Path, gigabytes: float) -> Rows:
    """Write so many 10⁹ bytes of float32 features, and their labels; the same each time."""
    count = max(int(gigabytes * 1e9) // (4 * FEATURES), 1)
    step = min(_CHUNK_BYTES // (4 * FEATURES), count)
    options: dict[str, Any] = {"dtype": np.float32, "compressors": None, "overwrite": True}
    X = zarr.create_array(
        str(folder / "X.zarr"), shape=(count, FEATURES), chunks=(step, FEATURES), **options
    )
    y = zarr.create_array(str(folder / "y.zarr"), shape=(count,), chunks=(step,), **options)
    weights = weights_of(0)
    for number, start in enumerate(range(0, count, step)):
        rng = np.random.default_rng((_SEED, number))
        rows = rng.standard_normal((min(step, count - start), FEATURES), dtype=np.float32)
        chances = 1 / (1 + np.exp(-(rows @ weights)))
        X[start : start + step] = rows
        y[start : start + step] = rng.random(len(rows)) < chances
    return Rows(folder, count)


def weights_of(seed: int) -> Array:
    """Weights of the size of those that generate the labels."""
    return np.random.default_rng((_SEED, -seed - 1 & 0xFFFF)).standard_normal(FEATURES) / 8


def value_and_gradient(rows: Rows, w: Array) -> tuple[float, Array]:
    """The program's value and gradient by NumPy, chunk by chunk."""
    value, gradient = 0.5 * float(w @ w), w.copy()
    for X, y in rows.chunks():
        z = X @ w
        value += float(np.sum(np.logaddexp(0, z) - y * z))
        gradient += X.T @ (1 / (1 + np.exp(-z)) - y)
    return value / rows.number, gradient / rows.number
