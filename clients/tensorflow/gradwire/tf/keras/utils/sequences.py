"""Data that gives its batches by number, and windows of a series as batches."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np

import gradwire.tf as tf
from gradwire.tf.arguments import only

__all__ = [
    "PyDataset", "Sequence", "pack_x_y_sample_weight", "timeseries_dataset_from_array",
    "unpack_x_y_sample_weight",
]  # fmt: skip


class PyDataset:
    """Batches by number: subclasses have ``__getitem__`` and ``__len__``.

    Workers are for speed: here, batches are made when they are needed.
    """

    def __init__(
        self, workers: int = 1, use_multiprocessing: bool = False, max_queue_size: int = 10
    ) -> None:
        self.workers: int = workers
        self.use_multiprocessing: bool = use_multiprocessing
        self.max_queue_size: int = max_queue_size

    def __getitem__(self, index: int) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must have a method __getitem__")

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} must have a method __len__")

    @property
    def num_batches(self) -> int:
        """The number of batches."""
        return len(self)

    def on_epoch_begin(self) -> None:
        """Called before each epoch, for subclasses."""

    def on_epoch_end(self) -> None:
        """Called after each epoch, for subclasses."""

    def __iter__(self) -> Iterator[Any]:
        return self.epoch()

    def epoch(self, shuffle: bool = False) -> Iterator[Any]:
        """The batches of an epoch, in Keras's random order if they are shuffled."""
        order = list(range(self.num_batches))
        self.on_epoch_begin()
        if shuffle:
            random.shuffle(order)
        for index in order:
            yield self[index]
        self.on_epoch_end()


Sequence = PyDataset


def timeseries_dataset_from_array(
    data: Any,
    targets: Any,
    sequence_length: int,
    sequence_stride: int = 1,
    sampling_rate: int = 1,
    batch_size: int | None = 128,
    shuffle: bool = False,
    seed: int | None = None,
    start_index: int | None = None,
    end_index: int | None = None,
    format: str = "tf",
) -> Any:
    """Windows of a series, each with its target, as batches.

    A window begins ``sequence_stride`` rows after the one before, and takes each
    ``sampling_rate``-th row.
    """
    only("timeseries_dataset_from_array", format=(format, "tf"))
    for name, value in (("sampling_rate", sampling_rate), ("sequence_stride", sequence_stride)):
        if not 0 < value < len(data):
            raise ValueError(
                f"`{name}` must be at least 1 and less than the {len(data)} rows of the data; got "
                f"{value}"
            )
    first, last = start_index or 0, len(data) if end_index is None else end_index
    if not 0 <= first < last <= len(data):
        raise ValueError(
            f"`start_index` and `end_index` must enclose some of the {len(data)} rows of the data; "
            f"got {start_index} and {end_index}"
        )
    rows = np.asarray(data)[first:last]
    count = len(rows) - (sequence_length - 1) * sampling_rate
    if targets is not None:
        count = min(count, len(targets))
    places = np.arange(0, count, sequence_stride)
    if shuffle:
        seed = int(np.random.randint(1_000_000)) if seed is None else seed
        np.random.RandomState(seed).shuffle(places)
    within = np.arange(sequence_length) * sampling_rate
    windows = rows[places[:, None] + within]
    chosen = windows if targets is None else (windows, np.asarray(targets)[first:last][places])
    dataset = tf.data.Dataset.from_tensor_slices(chosen)
    if shuffle:
        dataset = dataset.shuffle(1024 if batch_size is None else batch_size * 8, seed=seed)
    return dataset if batch_size is None else dataset.batch(batch_size)


def unpack_x_y_sample_weight(data: Any) -> tuple[Any, Any, Any]:
    """Inputs, targets and weights of what ``train_step`` is given, None for those that lack."""
    given = tuple(data) if isinstance(data, (list, tuple)) else (data,)
    if not 1 <= len(given) <= 3:
        raise ValueError(f"data have one to three parts: inputs, targets, weights; got {data}")
    x, y, sample_weight = (*given, None, None)[:3]
    return x, y, sample_weight


def pack_x_y_sample_weight(x: Any, y: Any = None, sample_weight: Any = None) -> Any:
    """Inputs, targets and weights as one, without those that are None."""
    if y is None:
        return (x,) if isinstance(x, (tuple, list)) else x
    return (x, y) if sample_weight is None else (x, y, sample_weight)
