"""``tf.data``: sequences of tensors, nested or not, computed here element by element."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from collections.abc import Iterator as Elements
from pathlib import Path
from typing import Any

import numpy as np

from gradwire.frontends import plain
from gradwire.tf import data_experimental as experimental
from gradwire.tf import errors, nest, static
from gradwire.tf.arguments import only
from gradwire.tf.conversion import convert_to_tensor, tensor_of
from gradwire.tf.data_draws import Branch, Drawing, Orders, loop, shuffled
from gradwire.tf.data_groups import DatasetIterator as Iterator
from gradwire.tf.data_groups import called, in_groups
from gradwire.tf.data_merging import Merged
from gradwire.tf.data_options import Options, ThreadingOptions
from gradwire.tf.dtypes import int64
from gradwire.tf.errors import invalid
from gradwire.tf.gfile import local
from gradwire.tf.records import records
from gradwire.tf.specs import TensorSpec
from gradwire.tf.tensors import Operand, Tensor

__all__ = [
    "AUTOTUNE", "INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "Dataset", "Iterator", "Options",
    "TFRecordDataset", "TextLineDataset", "ThreadingOptions", "experimental",
]  # fmt: skip

AUTOTUNE: int = -1
INFINITE_CARDINALITY: int = -1
UNKNOWN_CARDINALITY: int = -2


class Dataset(Merged):
    """Elements that come one by one, anew for each loop over them."""

    @classmethod
    def from_tensor_slices(cls, tensors: Any, name: str | None = None) -> Dataset:
        """The elements of tensors along their first axes."""
        whole = nest.map_structure(convert_to_tensor, _as_structure(tensors))
        counts = {each._lengths()[0] for each in nest.flatten(whole)}
        if len(counts) != 1:
            raise ValueError(f"tensors have different numbers of elements: {sorted(counts)}")
        (count,) = counts

        def elements() -> Elements[Any]:
            for i in range(count):
                yield nest.map_structure(lambda each, i=i: _at(each, i), whole)

        return cls(elements, count)

    @classmethod
    def from_tensors(cls, tensors: Any, name: str | None = None) -> Dataset:
        """One element."""
        whole = nest.map_structure(convert_to_tensor, _as_structure(tensors))
        return cls(lambda: iter([whole]), 1)

    @classmethod
    def from_generator(
        cls,
        generator: Callable[..., Iterable[Any]],
        output_types: Any = None,
        output_shapes: Any = None,
        args: Any = None,
        output_signature: Any = None,
        name: str | None = None,
    ) -> Any:
        """The values that a function yields, of the dtypes and shapes of ``output_signature``.

        Raises:
            TypeError: no dtypes are given, or both ways.
            InvalidArgumentError: what is given is of another shape or structure.
        """
        if (output_types is None) == (output_signature is None):
            raise TypeError("pass one of `output_signature` and `output_types`")
        if not callable(generator):
            raise TypeError("`generator` must be a Python callable.")
        specs = output_signature
        if specs is None:
            specs = _specs(output_types, output_shapes)
        arguments = args or ()
        return cls(lambda: (_fitted(each, specs) for each in generator(*arguments)))

    @classmethod
    def range(cls, *args: Any, **options: Any) -> Dataset:
        """Numbers as of Python's ``range``."""
        numbers = range(*(int(arg) for arg in args))
        dtype = options.get("output_type", int64)
        return cls(lambda: (convert_to_tensor(i, dtype) for i in numbers), len(numbers))

    @classmethod
    def zip(cls, *args: Any, datasets: Any = None, name: str | None = None) -> Dataset:
        """Elements of several, side by side, as long as all have some."""
        given = datasets if datasets is not None else args[0] if len(args) == 1 else args
        each = nest.flatten(given)
        counts = [one._count for one in each]

        def elements() -> Elements[Any]:
            inputs = [Branch(one, index) for index, one in enumerate(each)]
            return (_packed(given, each, parts) for parts in zip(*inputs, strict=False))

        return cls(elements, None if None in counts else min(c for c in counts if c is not None))

    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: Any = None,
        deterministic: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """The result of a function for each element; a tuple is its arguments."""
        function = Drawing(map_func)
        return Dataset(lambda: (_tensors(called(function, each)) for each in self), self._count)

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements for which a function gives true."""
        kept = Drawing(predicate)
        return Dataset(lambda: (each for each in self if bool(called(kept, each))))

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements of the dataset that a function gives for each element."""
        function = Drawing(map_func)
        return Dataset(
            lambda: itertools.chain.from_iterable(called(function, each) for each in self)
        )

    def batch(
        self,
        batch_size: Any,
        drop_remainder: bool = False,
        num_parallel_calls: Any = None,
        deterministic: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """So many elements stacked to one; the last one may be of fewer."""
        size = int(batch_size)

        def elements(source: Elements[Any]) -> Elements[Any]:
            while some := list(itertools.islice(source, size)):
                if len(some) == size or not drop_remainder:
                    yield nest.map_structure(lambda *parts: _stacked(parts), *some)

        count = in_groups(self._count, size, drop_remainder)
        made = Dataset(lambda: elements(iter(self)), count)
        made._is_open = not drop_remainder
        return made

    def unbatch(self, name: str | None = None) -> Dataset:
        """The elements that were stacked."""
        return Dataset(
            lambda: itertools.chain.from_iterable(Dataset.from_tensor_slices(x) for x in self)
        )

    def shuffle(
        self,
        buffer_size: Any,
        seed: int | None = None,
        reshuffle_each_iteration: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """The elements in TensorFlow's random order, each drawn among ``buffer_size`` that wait.

        Each loop has another order, unless ``reshuffle_each_iteration`` is false.
        """
        size = int(static.integer(buffer_size))
        if size <= 0 and size != UNKNOWN_CARDINALITY:
            raise errors.invalid(
                "buffer_size must be greater than zero or UNKNOWN_CARDINALITY [Op:ShuffleDatasetV3]"
            )
        number = None if seed is None else static.integer(seed)
        orders = Orders(number, again=reshuffle_each_iteration is not False)
        return Dataset(lambda: shuffled(self, size, orders.next()), self._count)

    def repeat(self, count: int | None = None, name: str | None = None) -> Dataset:
        """All elements again and again, without end or ``count`` times."""
        times = -1 if count is None else static.integer(count)

        def elements() -> Elements[Any]:
            if times == 0:
                return iter(())
            later = itertools.repeat(self) if times < 0 else itertools.repeat(self, times - 1)
            return itertools.chain(iter(self), itertools.chain.from_iterable(later))

        if times < 0:
            total: float | None = 0 if self._count == 0 else math.inf
        else:
            total = self._count and self._count * times if times else 0
        return Dataset(elements, total)

    def take(self, count: Any, name: str | None = None) -> Dataset:
        """The first elements."""
        size = None if int(count) < 0 else int(count)
        total = self._count if size is None or self._count is None else min(size, self._count)
        return Dataset(lambda: itertools.islice(iter(self), size), total)

    def skip(self, count: Any, name: str | None = None) -> Dataset:
        """All but the first elements."""
        size = int(count)
        total = None if self._count is None else max(self._count - size, 0)
        return Dataset(lambda: itertools.islice(iter(self), size, None), total)

    def concatenate(self, dataset: Dataset, name: str | None = None) -> Dataset:
        """These elements and then those of another."""
        counts = (self._count, dataset._count)
        total = None if counts[0] is None or counts[1] is None else counts[0] + counts[1]
        return Dataset(lambda: itertools.chain(Branch(self, 0), _later(dataset)), total)

    def enumerate(self, start: int = 0, name: str | None = None) -> Dataset:
        """Pairs of a number and an element."""
        return Dataset(
            lambda: ((convert_to_tensor(i, int64), x) for i, x in enumerate(iter(self), start)),
            self._count,
        )

    def reduce(
        self, initial_state: Any, reduce_func: Callable[..., Any], name: str | None = None
    ) -> Any:
        """The last state of a function from state and element to state."""
        function = Drawing(reduce_func)

        def elements() -> Elements[Any]:
            state = _as_structure(initial_state)
            for each in self:
                state = _tensors(function(state, each))
            yield state

        return next(loop(elements))

    def prefetch(self, buffer_size: Any = AUTOTUNE, name: str | None = None) -> Dataset:
        """Itself: nothing is fetched ahead."""
        return self

    def cache(self, filename: str = "", name: str | None = None) -> Dataset:
        """The same, kept after the first loop."""
        only("Dataset.cache", filename=(filename, ""))
        kept: list[Any] = []

        def filled(source: Elements[Any]) -> Elements[Any]:
            kept.extend(source)
            yield from kept

        def elements() -> Elements[Any]:
            return iter(list(kept)) if kept else filled(iter(self))

        return Dataset(elements, self._count)

    def cardinality(self, name: str | None = None) -> Tensor:
        """The number of elements, -1 without end, -2 where it is not known."""
        count = UNKNOWN_CARDINALITY if self._count is None else self._count
        count = INFINITE_CARDINALITY if count == math.inf else count
        return tensor_of(np.asarray(count, np.int64), int64)

    def as_numpy_iterator(self) -> Elements[Any]:
        """The elements as NumPy's arrays."""
        return (nest.map_structure(lambda part: part.numpy(), each) for each in self)

    def __len__(self) -> int:
        if self._count is None:
            raise TypeError("The dataset's length is unknown.")
        if self._count == math.inf:
            raise TypeError("The dataset is infinite.")
        return int(self._count)


class TextLineDataset(Dataset):
    """The lines of text files, one after another, without their ends."""

    def __init__(
        self,
        filenames: Any,
        compression_type: str | None = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ) -> None:
        only("TextLineDataset", compression_type=(compression_type or None, None))
        paths = [local(each) for each in np.ravel(convert_to_tensor(filenames)._value())]

        def elements() -> Elements[Any]:
            for path in paths:
                with Path(path).open("rb") as file:
                    for line in file:
                        yield convert_to_tensor(line.removesuffix(b"\n").removesuffix(b"\r"))

        super().__init__(elements)


class TFRecordDataset(Dataset):
    """The records of files, one after another."""

    def __init__(
        self,
        filenames: Any,
        compression_type: str | None = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ) -> None:
        given = [filenames] if not isinstance(filenames, Dataset) else filenames

        def elements() -> Elements[Any]:
            for names in given:
                for path in np.ravel(convert_to_tensor(names)._value()):
                    yield from map(convert_to_tensor, records(path, compression_type or ""))

        super().__init__(elements)


def _later(dataset: Dataset) -> Elements[Any]:
    """The elements of a second input, over which the loop begins when they are needed."""
    yield from Branch(dataset, 1)


def _as_structure(value: Any) -> Any:
    """Lists are tensors; tuples and dictionaries are structures of them."""
    if isinstance(value, tuple):
        parts = [_as_structure(each) for each in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, dict):
        return {key: _as_structure(each) for key, each in value.items()}
    return convert_to_tensor(value)


def _specs(types: Any, shapes: Any) -> Any:
    """Specs of these dtypes, and shapes if they are given."""
    if not nest.is_nested(types):
        return TensorSpec(shapes, types)
    if shapes is None:
        return nest.map_structure(lambda dtype: _specs(dtype, None), types)
    if isinstance(types, dict):
        return {key: _specs(types[key], shapes[key]) for key in types}
    return tuple(_specs(dtype, shape) for dtype, shape in zip(types, shapes, strict=True))


def _fitted(value: Any, specs: Any) -> Any:
    """A generator's value, as tensors of these specs."""
    made = [_as_spec(part, spec) for part, spec in _pairs(value, specs)]
    return nest.pack_sequence_as(specs, made)


def _pairs(value: Any, specs: Any) -> list[tuple[Any, Any]]:
    """The parts of a value, each with its spec; lists within are tensors."""
    if not nest.is_nested(specs):
        return [(value, specs)]
    if not nest.is_nested(value) or len(value) != len(specs):
        raise invalid(f"`generator` yielded {value}, which is not structured as {specs}")
    keys = sorted(specs) if isinstance(specs, dict) else range(len(specs))
    return [pair for key in keys for pair in _pairs(value[key], specs[key])]


def _as_spec(value: Any, spec: TensorSpec) -> Tensor:
    if not isinstance(value, Operand) and spec.dtype.name != "string":
        try:  # as NumPy converts, which cuts off decimals
            value = plain(value, "what `generator` yields", spec.dtype.storage)
        except (TypeError, ValueError) as error:
            raise invalid(f"`generator` yielded {value!r}: {error}") from None
    tensor = convert_to_tensor(value, spec.dtype)
    if not spec.shape.is_compatible_with(tensor.shape):
        raise invalid(f"`generator` yielded shape {tensor.shape}, which does not fit {spec.shape}")
    return tensor


def _tensors(value: Any) -> Any:
    """The result of a function: a list, too, is a structure."""
    is_one = value is None or isinstance(value, Dataset)
    return value if is_one else _as_structure(tuple(value) if isinstance(value, list) else value)


def _at(tensor: Tensor, i: int) -> Tensor:
    value = tensor._value()[i]
    if tensor.dtype.name == "string" and not isinstance(value, np.ndarray):
        return convert_to_tensor(value)
    return tensor_of(np.asarray(value), tensor.dtype)


def _stacked(parts: tuple[Tensor, ...]) -> Tensor:
    return tensor_of(np.stack([part._value() for part in parts]), parts[0].dtype)


def _packed(given: Any, datasets: list[Any], parts: tuple[Any, ...]) -> Any:
    places = iter(parts)
    packed = nest.map_structure(lambda _: next(places), given)
    return tuple(packed) if isinstance(packed, list) else packed
