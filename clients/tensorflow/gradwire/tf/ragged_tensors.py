"""Tensors whose rows have any lengths."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gradwire.tf import ragged_parts, ragged_reductions
from gradwire.tf.arguments import only_int64
from gradwire.tf.calls import call
from gradwire.tf.conversion import convert_to_tensor, tensor_of
from gradwire.tf.dtypes import DType, int64
from gradwire.tf.errors import invalid
from gradwire.tf.nodes import Spec
from gradwire.tf.ragged_factories import Factories
from gradwire.tf.scatter_host import Integers, integers, placed, taken
from gradwire.tf.shapes import TensorShape
from gradwire.tf.sparse_tensors import SparseTensor
from gradwire.tf.tensors import METHODS, Tensor

__all__ = ["RaggedTensor"]


class RaggedTensor(Factories):
    """Row ``i`` is ``values[row_splits[i]:row_splits[i + 1]]``.

    It is made by ``tf.ragged.constant`` and by ``from_row_splits`` and the like; ``values`` may be
    ragged itself. Gradients have its form.
    """

    def __init__(
        self, values: Any, splits: Any, *, dtype: DType = int64, uniform: int | None = None
    ) -> None:
        self._values: Any = (
            values if isinstance(values, RaggedTensor) else convert_to_tensor(values)
        )
        self._splits: Integers = np.asarray(splits, np.int64)
        self._splits_dtype: DType = dtype
        self._uniform: int | None = uniform

    @property
    def values(self) -> Any:
        """All rows' elements, one row after another."""
        return self._values

    @property
    def flat_values(self) -> Tensor:
        """The same without any rows."""
        inner = self._values
        flat: Tensor = inner.flat_values if isinstance(inner, RaggedTensor) else inner
        return flat

    @property
    def row_splits(self) -> Tensor:
        """The limits of rows, one after another."""
        return self._ints(self._splits)

    @property
    def nested_row_splits(self) -> tuple[Tensor, ...]:
        """The splits of all ragged dimensions, the outermost first."""
        inner = self._values.nested_row_splits if isinstance(self._values, RaggedTensor) else ()
        return (self.row_splits, *inner)

    @property
    def ragged_rank(self) -> int:
        """The number of dimensions that are made of rows."""
        return 1 + (self._values.ragged_rank if isinstance(self._values, RaggedTensor) else 0)

    @property
    def uniform_row_length(self) -> Tensor | None:
        """The rows' length where they were made with one."""
        return None if self._uniform is None else self._ints(np.asarray(self._uniform))

    @property
    def dtype(self) -> DType:
        """The elements' type."""
        return self.flat_values.dtype

    @property
    def shape(self) -> TensorShape:
        """Its lengths, ``None`` for those of rows."""
        return TensorShape([len(self._splits) - 1, self._uniform, *self._values.shape[1:]])

    def get_shape(self) -> TensorShape:
        """Its lengths, ``None`` for those of rows."""
        return self.shape

    def nrows(self, out_type: Any = None, name: str | None = None) -> Tensor:
        """The number of rows."""
        only_int64("RaggedTensor.nrows", out_type=out_type)
        return self._ints(np.asarray(len(self._splits) - 1))

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Any:
        """Each row's length."""
        if axis == 0:
            return self.nrows()
        if axis == 1:
            return self._ints(self._lengths())
        return self.with_values(self._values.row_lengths(axis - 1))

    def nested_row_lengths(self, name: str | None = None) -> tuple[Tensor, ...]:
        """The row lengths of all ragged dimensions, the outermost first."""
        inner = self._values.nested_row_lengths() if isinstance(self._values, RaggedTensor) else ()
        return (self.row_lengths(), *inner)

    def row_starts(self, name: str | None = None) -> Tensor:
        """The place where each row begins."""
        return self._ints(self._splits[:-1])

    def row_limits(self, name: str | None = None) -> Tensor:
        """The place where each row ends."""
        return self._ints(self._splits[1:])

    def value_rowids(self, name: str | None = None) -> Tensor:
        """The row of each value."""
        return self._ints(self._rowids())

    def nested_value_rowids(self, name: str | None = None) -> tuple[Tensor, ...]:
        """The row of each value of all ragged dimensions, the outermost first."""
        inner = self._values.nested_value_rowids() if isinstance(self._values, RaggedTensor) else ()
        return (self.value_rowids(), *inner)

    def bounding_shape(
        self, axis: Any = None, name: str | None = None, out_type: Any = None
    ) -> Tensor:
        """The shape of the smallest tensor that has room for all rows."""
        only_int64("RaggedTensor.bounding_shape", out_type=out_type)
        full = np.asarray(ragged_parts.bounds(self), np.int64)
        return self._ints(full if axis is None else full[axis])

    def with_values(self, new_values: Any) -> RaggedTensor:
        """Rows of other values."""
        return RaggedTensor(
            new_values, self._splits, dtype=self._splits_dtype, uniform=self._uniform
        )

    def with_flat_values(self, new_values: Any) -> RaggedTensor:
        """Rows, or rows of rows, of other values."""
        inner = self._values
        return self.with_values(
            inner.with_flat_values(new_values) if isinstance(inner, RaggedTensor) else new_values
        )

    def merge_dims(self, outer_axis: int, inner_axis: int) -> Any:
        """Without the divisions between two axes."""
        if outer_axis > 0:
            if outer_axis > 1 or not isinstance(self._values, RaggedTensor):
                return self.with_values(self._values.merge_dims(outer_axis - 1, inner_axis - 1))
            merged = self
            for _ in range(inner_axis - outer_axis):
                inner = merged._values
                merged = RaggedTensor(inner._values, inner._splits[merged._splits])
            return merged
        rows: Any = self
        for _ in range(inner_axis):
            rows = rows._values if isinstance(rows, RaggedTensor) else ragged_parts.merged(rows)
        return rows

    def to_tensor(
        self, default_value: Any = None, name: str | None = None, shape: Any = None
    ) -> Tensor:
        """All rows filled up to one length with ``default_value``, by default zero."""
        limits: list[int | None] = [None] * 2 if shape is None else list(TensorShape(shape))
        inner: Any = self._values
        if isinstance(inner, RaggedTensor):
            rest = None if shape is None else [None, *limits[2:]]
            inner = inner.to_tensor(default_value, shape=rest)
        lengths = self._lengths()
        rows = len(lengths) if limits[0] is None else limits[0]
        width = int(lengths.max(initial=0)) if limits[1] is None else limits[1]
        places = np.stack([self._rowids(), ragged_parts.positions(lengths)], axis=-1)
        within = np.flatnonzero((places < [rows, width]).all(axis=1))
        default = default_value
        if default is not None:
            default = convert_to_tensor(default, self.dtype)
        whole = (rows, width, *inner._lengths()[1:])
        return placed(taken(inner, within), places[within], whole, default)

    def to_sparse(self, name: str | None = None) -> SparseTensor:
        """The same with coordinates for each element."""
        flat = self.flat_values
        count = int(np.prod(flat._lengths(), dtype=np.int64))
        values = call("np.reshape", flat, (count,), spec=Spec(flat.dtype, (count,)))
        return SparseTensor(ragged_parts.coordinates(self), values, ragged_parts.bounds(self))

    def to_list(self) -> list[Any]:
        """Nested lists."""
        inner = self._values
        rows = inner.to_list() if isinstance(inner, RaggedTensor) else inner._value().tolist()
        return [rows[start:stop] for start, stop in self._ranges()]

    def numpy(self) -> Any:
        """An array of the rows' arrays; of numbers where all rows have one length."""
        rows = [row.numpy() for row in self]
        if len({np.shape(row) for row in rows}) == 1:
            return np.stack(rows)
        found = np.empty(len(rows), object)
        for i, row in enumerate(rows):
            found[i] = row
        return found

    def consumers(self) -> list[Any]:
        """Nobody, as in eager TensorFlow."""
        return []

    def _components(self) -> list[Tensor]:
        return [self.flat_values]

    def _with_components(self, parts: list[Any]) -> RaggedTensor | None:
        return None if parts[0] is None else self.with_flat_values(parts[0])

    def _elementwise(self, function: Callable[..., Any], *operands: Any) -> RaggedTensor:
        """A function's results for the elements of operands of which this is one."""
        flat = [ragged_parts.flat_beside(self, operand) for operand in operands]
        return self.with_flat_values(function(*flat))

    def _reduced(
        self, name: str, function: Callable[..., Any], axis: Any, keepdims: bool = False
    ) -> Any:
        """The result of a reduction, such as ``tf.reduce_sum``, along axes."""
        return ragged_reductions.reduced(self, name, function, axis, keepdims)

    def _gather(self, indices: Any, axis: Any, batch_dims: int) -> Any:
        """Some rows."""
        if axis not in (None, 0) or batch_dims:
            raise ValueError("of ragged tensors, rows are gathered: axis 0 without batch_dims")
        which = integers(indices)
        wrong = which[(which < 0) | (which >= len(self))]
        if wrong.size:
            raise invalid(f"indices = {wrong[0]} is not in [0, {len(self)})")
        return self._rows(which) if which.ndim else self[int(which)]

    def _rows(self, which: Integers) -> RaggedTensor:
        """Some rows."""
        lengths = self._lengths()[which]
        starts = self._splits[:-1][which]
        places = np.repeat(starts, lengths) + ragged_parts.positions(lengths)
        return RaggedTensor(
            ragged_parts.part(self._values, places),
            np.cumsum([0, *lengths]),
            dtype=self._splits_dtype,
            uniform=self._uniform,
        )

    def _lengths(self) -> Integers:
        return np.diff(self._splits)

    def _rowids(self) -> Integers:
        lengths = self._lengths()
        return np.repeat(np.arange(len(lengths)), lengths)

    def _ranges(self) -> Iterator[tuple[int, int]]:
        return zip(self._splits[:-1].tolist(), self._splits[1:].tolist(), strict=True)

    def _ints(self, value: Integers) -> Tensor:
        return tensor_of(value.astype(self._splits_dtype.storage), self._splits_dtype)

    def __getitem__(self, key: Any) -> Any:
        return ragged_parts.indexed(self, key if isinstance(key, tuple) else (key,))

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __len__(self) -> int:
        return len(self._splits) - 1

    def __repr__(self) -> str:
        return f"<tf.RaggedTensor {self.to_list()}>"


def _operator(name: str, *, reflected: bool = False) -> Callable[[RaggedTensor, Any], Any]:
    def operator(self: RaggedTensor, other: Any) -> Any:
        operands = (other, self) if reflected else (self, other)
        return self._elementwise(METHODS[name], *operands)

    return operator


def _sign(name: str) -> Callable[[RaggedTensor], Any]:
    def operator(self: RaggedTensor) -> Any:
        return self._elementwise(METHODS[name], self)

    return operator


for _method, _name in {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "truediv",
    "floordiv": "floordiv",
    "mod": "mod",
    "pow": "pow",
    "and": "and",
    "or": "or",
    "xor": "xor",
}.items():
    setattr(RaggedTensor, f"__{_method}__", _operator(_name))
    setattr(RaggedTensor, f"__r{_method}__", _operator(_name, reflected=True))
for _method, _name in {
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "eq": "same",
    "ne": "differs",
}.items():
    setattr(RaggedTensor, f"__{_method}__", _operator(_name))
for _method, _name in {"neg": "negative", "abs": "abs", "invert": "invert"}.items():
    setattr(RaggedTensor, f"__{_method}__", _sign(_name))
