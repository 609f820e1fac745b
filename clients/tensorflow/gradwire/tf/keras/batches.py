"""Data for training: arrays cut in batches, or whatever yields batches by itself."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, TypeAlias

import numpy as np

import gradwire.tf as tf
from gradwire.tf.keras.settings import floatx
from gradwire.tf.keras.utils.sequences import (
    PyDataset,
    pack_x_y_sample_weight,
    unpack_x_y_sample_weight,
)
from gradwire.tf.random.stateful import permutation
from gradwire.tf.seeds import SEEDS, Draws

#: Inputs, targets and weights of examples; the last two may be missing.
Batch: TypeAlias = tuple[Any, Any, Any]

_BOTH_WEIGHTS = "pass `class_weight` or `sample_weight`, not both"


class Batches:
    """The batches of each epoch. Arrays are cut by ``batch_size``, and shuffled anew each time."""

    def __init__(
        self,
        x: Any,
        y: Any = None,
        sample_weight: Any = None,
        batch_size: int | None = None,
        steps: int | None = None,
        shuffle: bool | str = False,
        class_weight: Mapping[int, float] | None = None,
    ) -> None:
        self._steps = steps
        self._source: Iterator[Batch] | None = None
        self._taken: int = 0
        self._is_dataset: bool = False
        #: True if the last epoch ended where its number of batches was not known.
        self.ended_unforeseen: bool = False
        if yields_batches(x):
            if y is not None or sample_weight is not None:
                raise ValueError(
                    "`x` yields its targets and weights itself; leave out `y` and `sample_weight`"
                )
            self._is_dataset = isinstance(x, tf.data.Dataset)
            source = (
                partial(x.epoch, bool(shuffle)) if isinstance(x, PyDataset) else partial(iter, x)
            )
            self._begin: Callable[[], Iterator[Batch]] = lambda: _yielded(source(), class_weight)
            self.count: int | None = _length(x)
            return
        if class_weight is not None:
            if sample_weight is not None:
                raise ValueError(_BOTH_WEIGHTS)
            sample_weight = weights_by_class(y, class_weight)
        _assert_arrays(x, y, sample_weight)
        arrays = tuple(mapped(_array, part) for part in (x, y, sample_weight))
        rows = _rows(arrays)
        size = batch_size or (math.ceil(rows / steps) if steps else 32)
        seed = SEEDS.first  # of the function that shuffles, which is made once
        self._begin = lambda: _cut(arrays, rows, size, shuffle, Draws(seed))
        self.count = math.ceil(rows / size)

    @property
    def steps(self) -> int | None:
        """The number of batches of an epoch, if it is known."""
        return self._steps or self.count

    def reset(self) -> None:
        """Begin the next epoch with the first batch."""
        self._source, self._taken = None, 0

    def epoch(self) -> Iterator[Batch]:
        """The batches of the next epoch; with ``steps``, where the last one ended."""
        self.ended_unforeseen = False
        if self._steps is None:
            yield from self._begin()
            self.ended_unforeseen = self.count is None
            if self._is_dataset:
                self._begin()  # as Keras does: a shuffled dataset's next order is not seen
            return
        for step in range(self._steps):
            self._source = self._begin() if self._source is None else self._source
            batch = next(self._source, None)
            if batch is None:
                self._source, self._taken = None, 0
                self.ended_unforeseen = self.count is None
                warnings.warn(
                    f"the data ended after {step} batches, and so does the training. Ask for fewer "
                    "`steps_per_epoch` or `epochs`, or end the dataset with `.repeat()`.",
                    stacklevel=3,
                )
                return
            self._taken += 1
            yield batch
        if self.count is not None and self._taken >= self.count:
            self._source, self._taken = self._begin() if self._is_dataset else None, 0


def yields_batches(x: Any) -> bool:
    """True if data are batches already: a Dataset, a generator, any iterable that is no array."""
    return not hasattr(x, "shape") and not isinstance(x, (list, tuple, dict)) and x is not None


unpacked: Callable[[Any], Batch] = unpack_x_y_sample_weight


def packed(batch: Batch) -> Any:
    """The argument of ``train_step``: a batch without its missing parts."""
    return pack_x_y_sample_weight(*batch)


def split(batch: Batch, share: float) -> tuple[Batch, Batch]:
    """Data without their last rows, a share of them, and those rows."""
    if yields_batches(batch[0]):
        raise ValueError(
            "`validation_split` divides arrays, not data that come in batches; pass "
            "`validation_data` instead"
        )
    arrays = tuple(mapped(_array, part) for part in batch)
    rows = _rows(arrays)
    first = math.floor(rows * (1.0 - share))
    if first in (0, rows):
        raise ValueError(
            f"`validation_split={share}` of {rows} samples leaves none on one side; pass another "
            "share or more data"
        )
    x, y, weight = (mapped(lambda part: part[:first], each) for each in arrays)
    later = (mapped(lambda part: part[first:], each) for each in arrays)
    return (x, y, weight), tuple(later)


def weights_by_class(y: Any, class_weight: Mapping[int, float]) -> Any:
    """A weight for each example by its class, 1 for classes that are not named."""
    if isinstance(y, (dict, list, tuple)) and not np.asarray(y).ndim:
        raise ValueError("`class_weight` is for one output, and `y` has several")
    classes = np.asarray(y.numpy() if hasattr(y, "numpy") else y)
    if classes.ndim > 1:
        one_hot = classes.shape[-1] != 1
        classes = classes.argmax(axis=-1) if one_hot else classes[..., 0]
    found = [class_weight.get(int(each), 1.0) for each in np.round(classes).astype(np.int32)]
    return np.asarray(found, np.float32)


def mapped(f: Callable[[Any], Any], value: Any) -> Any:
    """A function of each array in lists, tuples and dictionaries; None stays None."""
    if isinstance(value, dict):
        return {key: mapped(f, part) for key, part in value.items()}
    if isinstance(value, (list, tuple)) and any(
        hasattr(part, "shape") or isinstance(part, dict) for part in value
    ):
        return type(value)([mapped(f, part) for part in value])
    return None if value is None else f(value)


def as_arrays(value: Any) -> Any:
    """Values as NumPy's arrays, nested ones too."""
    return mapped(_array, value)


def first_array(value: Any) -> Any:
    """The first array in nested ones."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        found = (first_array(part) for part in value)
        return next((each for each in found if each is not None), None)
    return value


def _assert_arrays(x: Any, y: Any, sample_weight: Any) -> None:
    """Refuse lists of numbers, as Keras does: they might be lists of inputs."""
    if all(
        hasattr(part, "shape")
        for part in tf.nest.flatten((x, y, sample_weight))
        if part is not None
    ):
        return
    given = {"x": x, "y": y, "sample_weight": sample_weight}
    text = ", ".join(f"{name}={value}" for name, value in given.items() if value is not None)
    raise ValueError(f"Unrecognized data type: {text} (of type {type(x)})")


def _array(value: Any) -> Any:
    array = value.numpy() if hasattr(value, "numpy") else np.asarray(value)
    floats = array.dtype.kind in "fV"  # bfloat16, too
    return array.astype(tf.as_dtype(floatx()).as_numpy_dtype) if floats else array


def _rows(arrays: tuple[Any, ...]) -> int:
    counts: set[int] = set()
    for part in arrays:
        mapped(lambda array: counts.add(len(array)), part)
    if len(counts) != 1:
        raise ValueError(f"all arrays need equally many rows; these have {sorted(counts)}")
    return counts.pop()


def _cut(
    arrays: tuple[Any, ...], rows: int, size: int, shuffle: bool | str, draws: Draws
) -> Iterator[Batch]:
    order = np.arange(rows)
    if shuffle and shuffle != "batch":
        with SEEDS.running(draws):
            order = permutation(rows)
    for start in range(0, rows, size):
        chosen = order[start : start + size]
        if shuffle == "batch":
            with SEEDS.running(draws):
                chosen = chosen[permutation(len(chosen))]
        rows_of = partial(_rows_of, chosen)
        x, y, weight = (mapped(rows_of, each) for each in arrays)
        yield x, y, weight


def _rows_of(chosen: Any, array: Any) -> Any:
    return tf.convert_to_tensor(array[chosen])


def _yielded(source: Iterator[Any], class_weight: Mapping[int, float] | None) -> Iterator[Batch]:
    for batch in source:
        x, y, weight = unpacked(batch)
        if class_weight is not None:
            if weight is not None:
                raise ValueError(_BOTH_WEIGHTS)
            weight = weights_by_class(y, class_weight)
        yield x, y, weight


def _length(source: Any) -> int | None:
    try:
        return len(source)
    except TypeError:
        return None
