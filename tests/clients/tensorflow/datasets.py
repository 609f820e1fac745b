"""Small files in the formats of Keras's data sets, and how the loaders are called on them."""

import gzip
import io
import json
import pickle
import tarfile
from pathlib import Path
from typing import Any

import numpy as np

#: Calls of loaders: the data set, its function, and the arguments.
CALLS: list[tuple[str, str, dict[str, Any]]] = [
    ("mnist", "load_data", {}),
    ("fashion_mnist", "load_data", {}),
    ("cifar100", "load_data", {}),
    ("cifar100", "load_data", {"label_mode": "coarse"}),
    ("boston_housing", "load_data", {}),
    ("boston_housing", "load_data", {"test_split": 0.5, "seed": 7}),
    ("california_housing", "load_data", {}),
    ("california_housing", "load_data", {"version": "small", "test_split": 0.1}),
    ("imdb", "load_data", {}),
    ("imdb", "load_data", {"num_words": 9, "skip_top": 2, "maxlen": 6, "seed": 3}),
    ("imdb", "load_data", {"start_char": None, "oov_char": None, "num_words": 8}),
    ("imdb", "get_word_index", {}),
    ("reuters", "load_data", {}),
    ("reuters", "load_data", {"num_words": 9, "maxlen": 6, "test_split": 0.4}),
    ("reuters", "get_word_index", {}),
]


def _numbers(*shape: int) -> Any:
    return (np.arange(np.prod(shape)) * 7 % 251).astype(np.uint8).reshape(shape)


def _texts(count: int) -> Any:
    texts = np.empty(count, dtype=object)
    texts[:] = [[1 + (i * j) % 11 for j in range(1, 2 + i % 7)] for i in range(count)]
    return texts


def _npz(path: Path, **arrays: Any) -> None:
    np.savez(path, **arrays, allow_pickle=True)


def _archive(path: Path, files: dict[str, Any]) -> None:
    with tarfile.open(path, "w:gz") as archive:
        for name, value in files.items():
            content = pickle.dumps(value, protocol=3)
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def _images(count: int, **labels: Any) -> dict[bytes, Any]:
    return {b"data": _numbers(count, 3072)} | {key.encode(): v for key, v in labels.items()}


def make_files(home: Path) -> None:
    """Make all files below a folder that is to be ``KERAS_HOME``."""
    folder = home / "datasets"
    fashion = folder / "fashion-mnist"
    fashion.mkdir(parents=True)
    _npz(folder / "mnist.npz", x_train=_numbers(3, 28, 28), y_train=_numbers(3),
         x_test=_numbers(2, 28, 28), y_test=_numbers(2))  # fmt: skip
    for part, count in (("train", 3), ("t10k", 2)):
        images, labels = _numbers(count, 28, 28).tobytes(), _numbers(count).tobytes()
        with gzip.open(fashion / f"{part}-images-idx3-ubyte.gz", "wb") as file:
            file.write(bytes(16) + images)
        with gzip.open(fashion / f"{part}-labels-idx1-ubyte.gz", "wb") as file:
            file.write(bytes(8) + labels)
    inner = "cifar-10-batches-py"
    batches = [f"{inner}/data_batch_{i}" for i in range(1, 6)]
    _archive(
        folder / f"{inner}-target_archive",
        {name: _images(2, labels=[i, i + 1]) for i, name in enumerate(batches)}
        | {f"{inner}/test_batch": _images(4, labels=[3, 1, 2, 0])},
    )
    inner = "cifar-100-python"
    parts = {
        f"{inner}/{part}": _images(count, fine_labels=list(range(count)), coarse_labels=[1] * count)
        for part, count in (("train", 5), ("test", 2))
    }
    _archive(folder / f"{inner}-target_archive", parts)
    x = np.arange(39.0).reshape(13, 3)
    _npz(folder / "boston_housing.npz", x=x, y=np.arange(13.0))
    x = np.arange(1400.0).reshape(700, 2)
    _npz(folder / "california_housing.npz", x=x, y=np.arange(700.0))
    _npz(folder / "imdb.npz", x_train=_texts(12), y_train=np.arange(12) % 2,
         x_test=_texts(8), y_test=np.arange(8) % 2)  # fmt: skip
    _npz(folder / "reuters.npz", x=_texts(15), y=np.arange(15) % 4)
    for name in ("imdb", "reuters"):
        (folder / f"{name}_word_index.json").write_text(json.dumps({"the": 1, "a": 2}))


def plain(found: Any) -> Any:
    """What a loader gives, for JSON: shapes, dtypes, sums, and the first elements."""
    if isinstance(found, tuple):
        return [plain(part) for part in found]
    if not isinstance(found, np.ndarray):
        return found
    if found.dtype == object:
        return {"dtype": "object", "value": [list(map(int, each)) for each in found]}
    return {
        "dtype": found.dtype.name,
        "shape": list(found.shape),
        "sum": float(found.sum(dtype=np.float64)),
        "first": [float(value) for value in found.ravel()[:40]],
    }
