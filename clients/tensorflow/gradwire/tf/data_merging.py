"""Merging of datasets: elements chosen from several, and grouped by a key."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

import numpy as np

from gradwire.tf import gfile
from gradwire.tf.conversion import convert_to_tensor, tensor_of
from gradwire.tf.data_draws import Orders
from gradwire.tf.data_groups import Grouped, called
from gradwire.tf.dtypes import int64
from gradwire.tf.errors import invalid
from gradwire.tf.random.stateless import stateless_categorical

_NONE = object()


class Merged(Grouped):
    """The methods of a dataset that choose among several, or group elements by a key."""

    @classmethod
    def counter(
        cls, start: Any = 0, step: Any = 1, dtype: Any = int64, name: str | None = None
    ) -> Self:
        """Numbers from ``start`` on, each ``step`` more than the one before, without end."""
        return cls(
            lambda: (convert_to_tensor(each, dtype) for each in itertools.count(start, step)),
            math.inf,
        )

    @classmethod
    def list_files(
        cls,
        file_pattern: Any,
        shuffle: bool | None = None,
        seed: int | None = None,
        name: str | None = None,
    ) -> Any:
        """The names of the files that a pattern fits, in random order unless ``shuffle=False``."""
        given = np.ravel(convert_to_tensor(file_pattern)._value())
        found = sorted(gfile.glob([each.decode() for each in given]))
        if not found:
            raise invalid(f"No files matched pattern: {', '.join(map(str, given))}")
        names = cls(lambda: map(convert_to_tensor, found), len(found))
        return names if shuffle is False else names.shuffle(len(found), seed=seed)

    @classmethod
    def random(
        cls,
        seed: int | None = None,
        rerandomize_each_iteration: bool | None = None,
        name: str | None = None,
    ) -> Self:
        """Random integers of 32 bits, without end."""
        orders = Orders(seed, bool(rerandomize_each_iteration))
        return cls(lambda: (tensor_of(np.int64(each), int64) for each in orders.next()), math.inf)

    @classmethod
    def sample_from_datasets(
        cls,
        datasets: Sequence[Any],
        weights: Any = None,
        seed: int | None = None,
        stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: bool | None = None,
    ) -> Self:
        """The next element of a dataset that is drawn, with probabilities or evenly.

        Where a dataset has come to its end, so does the result, or others are drawn.
        """
        if not datasets:
            raise ValueError("`datasets` is empty")
        if weights is not None and len(weights) != len(datasets):
            raise ValueError(
                f"`weights` has {len(weights)} numbers for {len(datasets)} datasets; give each one"
            )
        shares = np.ones(len(datasets)) if weights is None else np.asarray(weights)
        with np.errstate(divide="ignore"):
            logits = np.log(shares[None]) if weights is not None else shares[None]
        seeds = cls.random(seed, rerandomize_each_iteration).batch(2)
        choices = seeds.map(
            lambda pair: stateless_categorical(np.float32(logits), 1, seed=pair)[0, 0]
        )
        return cls.choose_from_datasets(datasets, choices, stop_on_empty_dataset)

    @classmethod
    def choose_from_datasets(
        cls, datasets: Sequence[Any], choice_dataset: Any, stop_on_empty_dataset: bool = True
    ) -> Self:
        """The next element of the dataset that a number of ``choice_dataset`` chooses.

        Where a dataset has come to its end, so does the result, or the choice is left out.
        """
        if not datasets:
            raise ValueError("`datasets` is empty")

        def elements() -> Iterator[Any]:
            sources: list[Any] = [iter(each) for each in datasets]
            for choice in choice_dataset:
                at = int(choice)
                if at >= len(sources):
                    raise invalid(f"Selector index out of range: {at} >= {len(sources)}")
                element = next(sources[at], _NONE) if sources[at] is not None else _NONE
                if element is not _NONE:
                    yield element
                elif stop_on_empty_dataset:
                    return
                else:
                    sources[at] = None
                    if not any(each is not None for each in sources):
                        return

        return cls(elements)

    def group_by_window(
        self,
        key_func: Callable[..., Any],
        reduce_func: Callable[[Any, Any], Any],
        window_size: Any = None,
        window_size_func: Callable[[Any], Any] | None = None,
        name: str | None = None,
    ) -> Self:
        """The results of ``reduce_func(key, window)`` for windows of elements with the same key.

        Windows come as they are full, in the end those that are not, by their keys.
        """
        if (window_size is None) == (window_size_func is None):
            raise ValueError(
                "Either the `window_size` or the `window_size_func` must be specified."
            )

        def elements() -> Iterator[Any]:
            groups: dict[int, list[Any]] = {}
            for each in self:
                key = int(called(key_func, each))
                group = groups.setdefault(key, [])
                group.append(each)
                size = window_size if window_size_func is None else window_size_func(_key(key))
                if len(group) == int(size):
                    yield from reduce_func(_key(key), self._of(groups.pop(key)))
            for key in sorted(groups):
                yield from reduce_func(_key(key), self._of(groups[key]))

        return type(self)(elements)

    def bucket_by_sequence_length(
        self,
        element_length_func: Callable[..., Any],
        bucket_boundaries: Sequence[int],
        bucket_batch_sizes: Sequence[int],
        padded_shapes: Any = None,
        padding_values: Any = None,
        pad_to_bucket_boundary: bool = False,
        no_padding: bool = False,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Self:
        """Batches of elements of similar length, filled up to the longest of each batch."""
        if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
            raise ValueError(
                f"{len(bucket_boundaries)} `bucket_boundaries` make {len(bucket_boundaries) + 1} "
                f"buckets, but `bucket_batch_sizes` has {len(bucket_batch_sizes)} numbers"
            )
        if pad_to_bucket_boundary and padded_shapes is None:
            raise NotImplementedError(
                "bucket_by_sequence_length does not implement pad_to_bucket_boundary=True without "
                "padded_shapes="
            )

        def bucket(*element: Any) -> int:
            length = int(element_length_func(*element))
            return int(np.searchsorted(bucket_boundaries, length, side="right"))

        def batched(key: Any, window: Any) -> Any:
            size, shapes = bucket_batch_sizes[int(key)], padded_shapes
            if no_padding:
                return window.batch(size, drop_remainder=drop_remainder)
            if pad_to_bucket_boundary:
                if int(key) == len(bucket_boundaries):
                    raise invalid(
                        "with `pad_to_bucket_boundary` every element must be shorter than "
                        f"{max(bucket_boundaries)}, the last boundary"
                    )
                shapes = _filled(padded_shapes, bucket_boundaries[int(key)] - 1)
            return window.padded_batch(size, shapes, padding_values, drop_remainder)

        return self.group_by_window(
            bucket, batched, window_size_func=lambda key: bucket_batch_sizes[int(key)]
        )

    def rebatch(
        self, batch_size: Any, drop_remainder: bool = False, name: str | None = None
    ) -> Self:
        """Batches of other sizes, which come by turns where there are several."""
        sizes = [int(each) for each in np.ravel(batch_size)]

        def elements() -> Iterator[Any]:
            source = iter(self.unbatch())
            for size in itertools.cycle(sizes):
                rows = self._of(list(itertools.islice(source, size)))
                made = list(rows.batch(size, drop_remainder=drop_remainder))
                if not made:
                    return
                yield made[0]

        return type(self)(elements)

    def _of(self, elements: list[Any]) -> Any:
        return type(self)(lambda: iter(elements), len(elements))


def _key(key: int) -> Any:
    return convert_to_tensor(key, int64)


def _filled(shapes: Any, length: int) -> Any:
    """Shapes in which a length that is not known is this one."""
    if isinstance(shapes, dict):
        return {key: _filled(each, length) for key, each in shapes.items()}
    parts = list(shapes)
    if all(each is None or isinstance(each, int) for each in parts):
        return [length if each in (None, -1) else each for each in parts]
    return tuple(_filled(each, length) for each in parts)
