"""``tf.data``: sequences of tensors, nested or not, computed here element by element."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from gradwire.tf import errors, nest, static
from gradwire.tf.arguments import only
from gradwire.tf.conversion import convert_to_tensor, tensor_of
from gradwire.tf.data_draws import Branch, Drawing, Orders, loop, shuffled
from gradwire.tf.data_groups import Grouped
from gradwire.tf.dtypes import int64
from gradwire.tf.tensors import Tensor

__all__ = ["AUTOTUNE", "INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "Dataset"]

AUTOTUNE: int = -1
INFINITE_CARDINALITY: int = -1
UNKNOWN_CARDINALITY: int = -2


class Dataset(Grouped):
    """Elements that come one by one, anew for each loop over them."""

    @classmethod
    def from_tensor_slices(cls, tensors: Any, name: str | None = None) -> Dataset:
        """The elements of tensors along their first axes."""
        whole = nest.map_structure(convert_to_tensor, _as_structure(tensors))
        counts = {each._lengths()[0] for each in nest.flatten(whole)}
        if len(counts) != 1:
            raise ValueError(f"tensors have different numbers of elements: {sorted(counts)}")
        (count,) = counts

        def elements() -> Iterator[Any]:
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
        """What a function gives one by one, of the dtypes of ``output_signature``.

        Shapes are those of what is given: ``output_shapes`` is not compared with them.
        """
        del output_shapes
        signature = output_types if output_signature is None else output_signature
        arguments = args or ()

        def elements() -> Iterator[Any]:
            for each in generator(*arguments):
                if signature is None:
                    yield nest.map_structure(convert_to_tensor, _as_structure(each))
                    continue
                wanted = nest.flatten(signature)
                flat = nest.flatten(each) if nest.is_nested(signature) else [each]
                made = [
                    convert_to_tensor(value, getattr(spec, "dtype", spec))
                    for value, spec in zip(flat, wanted, strict=True)
                ]
                yield nest.pack_sequence_as(signature, made)

        return cls(elements)

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

        def elements() -> Iterator[Any]:
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
        """What a function gives for each element; a tuple is its arguments."""
        function = Drawing(map_func)
        return Dataset(lambda: (_tensors(_called(function, each)) for each in self), self._count)

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements for which a function gives true."""
        kept = Drawing(predicate)
        return Dataset(lambda: (each for each in self if bool(_called(kept, each))))

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements of the dataset that a function gives for each element."""
        function = Drawing(map_func)
        return Dataset(
            lambda: itertools.chain.from_iterable(_called(function, each) for each in self)
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

        def elements(source: Iterator[Any]) -> Iterator[Any]:
            while some := list(itertools.islice(source, size)):
                if len(some) == size or not drop_remainder:
                    yield nest.map_structure(lambda *parts: _stacked(parts), *some)

        full, rest = divmod(self._count or 0, size)
        count = None if self._count is None else full + (rest > 0 and not drop_remainder)
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

        def elements() -> Iterator[Any]:
            if times == 0:
                return iter(())
            later = itertools.repeat(self) if times < 0 else itertools.repeat(self, times - 1)
            return itertools.chain(iter(self), itertools.chain.from_iterable(later))

        total = None if times < 0 or self._count is None else self._count * times
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

        def elements() -> Iterator[Any]:
            state = _tensors(initial_state)
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

        def filled(source: Iterator[Any]) -> Iterator[Any]:
            kept.extend(source)
            yield from kept

        def elements() -> Iterator[Any]:
            return iter(list(kept)) if kept else filled(iter(self))

        return Dataset(elements, self._count)

    def cardinality(self, name: str | None = None) -> Tensor:
        """How many elements there are, -2 where it is not known."""
        count = UNKNOWN_CARDINALITY if self._count is None else self._count
        return tensor_of(np.asarray(count, np.int64), int64)

    def as_numpy_iterator(self) -> Iterator[Any]:
        """The elements as NumPy's arrays."""
        return (nest.map_structure(lambda part: part.numpy(), each) for each in self)

    def __len__(self) -> int:
        if self._count is None:
            raise TypeError("The dataset's length is unknown.")
        return self._count


def _later(dataset: Dataset) -> Iterator[Any]:
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


def _tensors(value: Any) -> Any:
    if value is None or isinstance(value, Dataset):
        return value
    return _as_structure(value)


def _called(function: Callable[..., Any], each: Any) -> Any:
    return function(*each) if isinstance(each, tuple) else function(each)


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
