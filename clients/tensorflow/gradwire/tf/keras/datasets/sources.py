"""Files of data sets in Keras's folder, in the formats that Keras keeps them in."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from gradwire.tf.keras.utils.cache import get_file

#: Examples and their targets, for training and for tests.
Split: TypeAlias = tuple[tuple[Any, Any], tuple[Any, Any]]

ORIGIN = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"
#: The names in pickled arrays; nothing else is unpickled.
_ALLOWED = {
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "_reconstruct"),
}


class ArrayUnpickler(pickle.Unpickler):
    """Reads pickled arrays of NumPy, lists and numbers, and refuses all else."""

    def find_class(self, module_name: str, global_name: str) -> Any:
        """One of the few classes that are allowed."""
        if (module_name, global_name) not in _ALLOWED:
            raise pickle.UnpicklingError(
                f"`{module_name}.{global_name}` does not belong in a file of arrays, and is not "
                "loaded; the file may be damaged or forged"
            )
        return super().find_class(module_name, global_name)


def arrays_of(name: str, file_hash: str | None = None, origin: str | None = None) -> dict[str, Any]:
    """The arrays of an ``.npz`` file; those of objects, which are pickled, are lists of lists."""
    path = Path(get_file(name, origin or ORIGIN + name, file_hash=file_hash))
    with zipfile.ZipFile(path) as archive:
        return {
            member.removesuffix(".npy"): _array(archive.read(member))
            for member in archive.namelist()
        }


def _array(content: bytes) -> Any:
    file = io.BytesIO(content)
    version = np.lib.format.read_magic(file)
    read = (
        np.lib.format.read_array_header_1_0
        if version == (1, 0)
        else np.lib.format.read_array_header_2_0
    )
    _, _, dtype = read(file)
    if dtype.hasobject:
        return ArrayUnpickler(file).load()
    return np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)


def word_index(name: str, path: str) -> dict[str, int]:
    """The rank of each word of a data set."""
    file = Path(get_file(path, f"{ORIGIN}{name}_word_index.json"))
    found: dict[str, int] = json.loads(file.read_text(encoding="utf-8"))
    return found


def shuffled(seed: int, *arrays: Any) -> tuple[Any, ...]:
    """Arrays in the order that Keras's data sets have for a seed."""
    order = np.arange(len(arrays[0]))
    np.random.RandomState(seed).shuffle(order)
    return tuple(array[order] for array in arrays)


def split_at(x: Any, y: Any, share: float) -> Split:
    """The first rows, and the last ones: a share of them."""
    if not 0 <= share < 1:
        raise ValueError(f"`test_split` must be at least 0 and below 1; got {share}")
    first = int(len(x) * (1 - share))
    return (np.array(x[:first]), np.array(y[:first])), (np.array(x[first:]), np.array(y[first:]))
