"""Datasets' methods on several elements at once: windows, padding, states, merging."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np

from gradwire.tf import nest
from gradwire.tf.absent import missing
from gradwire.tf.conversion import convert_to_tensor, tensor_of
from gradwire.tf.data_draws import Drawing, look, loop
from gradwire.tf.data_options import Options
from gradwire.tf.errors import OutOfRangeError
from gradwire.tf.specs import TensorSpec


class DatasetIterator(Iterator[Any]):
    """One loop over the elements of a dataset."""

    def __init__(self, dataset: Grouped) -> None:
        self._dataset: Grouped = dataset
        self._elements: Iterator[Any] = loop(dataset._elements)

    @property
    def element_spec(self) -> Any:
        """The shape and dtype of elements."""
        return self._dataset.element_spec

    def __next__(self) -> Any:
        return next(self._elements)

    def get_next(self) -> Any:
        """The next element.

        Raises:
            OutOfRangeError: there is none.
        """
        for element in self:
            return element
        raise OutOfRangeError(None, None, "End of sequence")

    next = get_next


class _Named(type):
    """The class of datasets, which says what TensorFlow's have besides."""

    def __getattr__(cls, name: str) -> Any:
        raise missing(cls, f"type object {cls.__name__!r}", "data.Dataset", name)


class Grouped(metaclass=_Named):
    """The methods of a dataset that look at more than one element."""

    def __init__(self, elements: Callable[[], Iterator[Any]], count: float | None = None) -> None:
        self._elements: Callable[[], Iterator[Any]] = elements
        #: The number of elements, infinity without end, None where it is not known.
        self._count: float | None = count
        #: True if the last element may be of fewer rows than the others.
        self._is_open: bool = False
        self._options: Options | None = None

    def __getattr__(self, name: str) -> Any:
        raise missing(type(self), f"{type(self).__name__!r} object", "data.Dataset", name)

    def __iter__(self) -> DatasetIterator:
        return DatasetIterator(self)

    @property
    def element_spec(self) -> Any:
        """The shape and dtype of elements, as the first one has them."""
        with look():
            first, *others = itertools.islice(self, 2)
        rest = others[0] if others else first

        def spec(one: Any, other: Any) -> TensorSpec:
            lengths: list[int | None] = [
                a if a == b else None for a, b in zip(one._lengths(), other._lengths(), strict=True)
            ]
            return TensorSpec([None, *lengths[1:]] if self._is_open else lengths, one.dtype)

        return nest.map_structure(spec, first, rest)

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Self:
        """The elements before the first for which a function gives false."""
        kept = Drawing(predicate)
        return type(self)(lambda: itertools.takewhile(lambda x: bool(called(kept, x)), iter(self)))

    def window(
        self,
        size: Any,
        shift: Any = None,
        stride: Any = 1,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Self:
        """Datasets of so many elements, each beginning ``shift`` after the one before."""
        length, step = int(size), int(stride)
        apart = length if shift is None else int(shift)

        def elements(source: Iterator[Any]) -> Iterator[Any]:
            waiting: list[Any] = []
            reach = (length - 1) * step + 1
            while True:
                waiting += itertools.islice(source, max(reach - len(waiting), 0))
                part = waiting[:reach:step]
                if not part or (len(part) < length and drop_remainder):
                    return
                yield type(self)(functools.partial(iter, part), len(part))
                skipped = apart - len(waiting)
                waiting = waiting[apart:]
                if skipped > 0:
                    next(itertools.islice(source, skipped - 1, skipped), None)

        return type(self)(lambda: elements(iter(self)))

    def padded_batch(
        self,
        batch_size: Any,
        padded_shapes: Any = None,
        padding_values: Any = None,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Self:
        """So many elements stacked, the shorter ones filled up."""
        size = int(batch_size)

        def elements(source: Iterator[Any]) -> Iterator[Any]:
            while some := list(itertools.islice(source, size)):
                if len(some) < size and drop_remainder:
                    return
                flat = [nest.flatten(each) for each in some]
                fills = _for_each(padding_values, len(flat[0]), None)
                shapes = _for_each(padded_shapes, len(flat[0]), None)
                made = [
                    _padded(parts, fill, shape)
                    for parts, fill, shape in zip(
                        zip(*flat, strict=True), fills, shapes, strict=True
                    )
                ]
                yield nest.pack_sequence_as(some[0], made)

        count = in_groups(self._count, size, drop_remainder)
        return type(self)(lambda: elements(iter(self)), count)

    def scan(
        self, initial_state: Any, scan_func: Callable[..., Any], name: str | None = None
    ) -> Self:
        """The outputs of a function from state and element to the next state and an output."""
        function = Drawing(scan_func)

        def elements(source: Iterator[Any]) -> Iterator[Any]:
            state = nest.map_structure(convert_to_tensor, initial_state)
            for each in source:
                state, output = function(state, each)
                yield nest.map_structure(convert_to_tensor, output)

        return type(self)(lambda: elements(iter(self)), self._count)

    def shard(self, num_shards: Any, index: Any, name: str | None = None) -> Self:
        """Every so manieth element from an index on."""
        first, step = int(index), int(num_shards)
        count = None if self._count is None else in_groups(max(self._count - first, 0), step, False)
        return type(self)(lambda: itertools.islice(iter(self), first, None, step), count)

    def unique(self, name: str | None = None) -> Self:
        """Each element once."""

        def elements(source: Iterator[Any]) -> Iterator[Any]:
            seen: set[Any] = set()
            for each in source:
                key = each.numpy().tobytes() if each.dtype.name != "string" else each.numpy()
                if key not in seen:
                    seen.add(key)
                    yield each

        return type(self)(lambda: elements(iter(self)))

    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: Any = 1,
        block_length: Any = 1,
        num_parallel_calls: Any = None,
        deterministic: Any = None,
        name: str | None = None,
    ) -> Self:
        """The elements of datasets that a function gives, of ``cycle_length`` of them by turns."""
        size, block = max(int(cycle_length or 1), 1), int(block_length or 1)

        function = Drawing(map_func)

        def elements(source: Iterator[Any]) -> Iterator[Any]:
            places: list[Any] = [None] * size
            at, ended = 0, False
            while not ended or any(places):
                if places[at] is None and not ended:
                    following = next(source, self)
                    ended = following is self
                    if not ended:
                        places[at] = iter(called(function, following))
                    continue
                part = list(itertools.islice(places[at] or (), block))
                yield from part
                if len(part) < block:
                    places[at] = None
                at = (at + 1) % size

        return type(self)(lambda: elements(iter(self)))

    def get_single_element(self, name: str | None = None) -> Any:
        """The only element."""
        found = list(itertools.islice(self, 2))
        if len(found) != 1:
            few = "empty" if not found else "longer"
            raise ValueError(f"the dataset must have one element, and is {few}")
        return found[0]

    def apply(self, transformation_func: Callable[[Any], Any]) -> Any:
        """The result of a function for the dataset."""
        return transformation_func(self)

    def with_options(self, options: Options, name: str | None = None) -> Self:
        """The same dataset with options, which change nothing and which ``options`` returns."""
        made = type(self)(self._elements, self._count)
        made._is_open, made._options = self._is_open, options
        return made

    def options(self) -> Options:
        """The options that were set last."""
        return Options() if self._options is None else self._options


def called(function: Callable[..., Any], element: Any) -> Any:
    """The result of a function for an element, whose parts are its arguments if it is a tuple."""
    return function(*element) if isinstance(element, tuple) else function(element)


def in_groups(count: float | None, size: int, drop_remainder: bool) -> float | None:
    """The number of groups of a size among so many elements."""
    if count is None or count == math.inf:
        return count
    return int(count) // size if drop_remainder else -(-int(count) // size)


def _for_each(given: Any, count: int, otherwise: Any) -> list[Any]:
    if given is None:
        return [otherwise] * count
    if count == 1:
        return [given[0] if isinstance(given, tuple) else given]
    return list(given.values()) if isinstance(given, dict) else list(given)


def _padded(parts: tuple[Any, ...], fill: Any, shape: Any) -> Any:
    arrays = [part.numpy() for part in parts]
    lengths = np.max([np.shape(array) for array in arrays], axis=0).astype(int)
    wanted = [None] * len(lengths) if shape is None else list(shape)
    full = [
        int(length) if each in (None, -1) else int(each)
        for length, each in zip(lengths, wanted, strict=True)
    ]
    text = parts[0].dtype.name == "string"
    blank: Any = (b"" if text else 0) if fill is None else fill
    made = np.full((len(arrays), *full), blank, object if text else parts[0].dtype.storage)
    for i, array in enumerate(arrays):
        row = made[i, ...]  # a view, of a single number too
        row[tuple(map(slice, np.shape(array)))] = array
    return tensor_of(made, parts[0].dtype)
