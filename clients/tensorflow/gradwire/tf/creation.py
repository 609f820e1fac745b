"""Tensors of known values: zeros, ranges, unit matrices. They are made here, not by the service."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradwire.tf import dtypes, static
from gradwire.tf.arrays import expand_dims
from gradwire.tf.conversion import convert_to_tensor, filled, tensor_of
from gradwire.tf.dtypes import DType, as_dtype
from gradwire.tf.errors import invalid
from gradwire.tf.joining import concat
from gradwire.tf.operations.arrays import broadcast_to
from gradwire.tf.operations.types import DTypeLike, Ints, Shape, TensorLike
from gradwire.tf.operators import cast
from gradwire.tf.tensors import Operand, Tensor
from gradwire.tf.variants import variant

__all__ = [
    "eye", "fill", "linspace", "ones", "ones_like", "range", "zeros", "zeros_like",
]  # fmt: skip


def _filled(
    shape: Shape, dtype: DTypeLike = dtypes.float32, name: str | None = None, layout: Any = None
) -> Callable[..., Tensor]:
    return lambda value: filled(lengths_of(shape), value, as_dtype(dtype))


@variant(_filled, 0)
def zeros() -> Tensor:
    """Zeros; empty strings if ``dtype`` is that of strings."""


@variant(_filled, 1)
def ones() -> Tensor:
    """Ones."""


def _filled_like(
    input: TensorLike, dtype: DTypeLike | None = None, name: str | None = None, layout: Any = None
) -> Callable[..., Tensor]:
    tensor = convert_to_tensor(input)
    kind = tensor.dtype if dtype is None else as_dtype(dtype)
    return lambda value: filled(tensor._lengths(), value, kind)


@variant(_filled_like, 0)
def zeros_like() -> Tensor:
    """Zeros, as many as ``input`` has elements."""


@variant(_filled_like, 1)
def ones_like() -> Tensor:
    """Ones, as many as ``input`` has elements."""


def fill(dims: Shape, value: TensorLike, name: str | None = None, layout: Any = None) -> Tensor:
    """One value, as many times as ``dims`` says; its gradient is the sum."""
    if isinstance(value, Operand):
        scalar = convert_to_tensor(value)
        if scalar.dtype != dtypes.string and not scalar._lengths():
            return broadcast_to(scalar, lengths_of(dims))
    array = static.array(value)
    shape = lengths_of(dims)
    if array.ndim:
        raise invalid(
            "value must represent a scalar, got shape "
            f"{static.listed(array.shape)} [Op:Fill] name: "
        )
    return tensor_of(np.broadcast_to(array, shape).copy(), convert_to_tensor(value).dtype)


def lengths_of(shape: Any) -> tuple[int, ...]:
    """The lengths of a shape that is made."""
    if isinstance(shape, (str, bytes, float)) or (
        isinstance(shape, (list, tuple)) and any(isinstance(n, (str, float)) for n in shape)
    ):
        raise TypeError(f"Cannot convert {shape!r} to EagerTensor of dtype int32")
    lengths = static.lengths(shape)
    for length in lengths:
        if length < 0:
            raise invalid(f"Dimension {length} must be >= 0 [Op:Fill] name: ")
    return lengths


def range(
    start: TensorLike,
    limit: TensorLike | None = None,
    delta: TensorLike = 1,
    dtype: DTypeLike | None = None,
    name: str | None = "range",
) -> Tensor:
    """Numbers from ``start`` to before ``limit`` in steps of ``delta``; from 0 if one is given."""
    bounds = (0, start, delta) if limit is None else (start, limit, delta)
    wanted = None if dtype is None else as_dtype(dtype)
    arrays = [_bound(each, wanted) for each in bounds]
    kind = _widest(arrays) if wanted is None else wanted
    first, last, step = (array.astype(kind.storage)[()] for array in arrays)
    if step == 0:
        raise invalid("Requires delta != 0 [Op:Range] name: ")
    if (last < first) if step > 0 else (last > first):
        sign = "<" if step > 0 else ">"
        raise invalid(
            f"Requires start {sign}= limit when delta {'>' if step > 0 else '<'} 0: "
            f"{first}/{last} [Op:Range] name: "
        )
    if kind.is_integer:
        return tensor_of(np.arange(int(first), int(last), int(step)).astype(kind.storage), kind)
    places = np.arange(steps_between(first, last, step)).astype(kind.storage)
    return tensor_of(first + places * step, kind)


def steps_between(first: Any, last: Any, step: Any) -> int:
    """``ceil(|(last - first) / step|)``, each operation rounded to the dtype of the numbers."""
    return int(np.ceil(abs((last - first) / step)))


#: The dtypes of ranges: the last one of bounds' dtypes is that of the range.
_OF_RANGES = ("int32", "int64", "float16", "bfloat16", "float32", "float64")


def _bound(value: Any, dtype: DType | None) -> Any:
    """A bound of a range; Python's numbers are of its dtype if one is asked for."""
    is_typed = isinstance(value, (Operand, np.ndarray, np.generic))
    return static.array(value, None if is_typed else dtype)


def _widest(arrays: Sequence[Any]) -> DType:
    kinds = [dtypes.of_numpy(array.dtype) for array in arrays]
    if unknown := [each.name for each in kinds if each.name not in _OF_RANGES]:
        raise TypeError(f"a range is of {', '.join(_OF_RANGES)}; got {unknown[0]}")
    return max(kinds, key=lambda each: _OF_RANGES.index(each.name))


def linspace(
    start: TensorLike,
    stop: TensorLike,
    num: Ints,
    name: str | None = None,
    axis: int = 0,
) -> Tensor:
    """``num`` numbers from ``start`` to ``stop``, both included, evenly; integers as float64."""
    first = convert_to_tensor(start)
    last = convert_to_tensor(stop, None if isinstance(stop, Operand) else first.dtype)
    if first.dtype.is_integer:
        first, last = cast(first, dtypes.float64), cast(last, dtypes.float64)
    count = static.integer(num)
    if count <= 0:
        return filled((0, *first._lengths()), 0, first.dtype)
    if not isinstance(start, Operand) and not isinstance(stop, Operand):
        low, high = first._value(), last._value()
        step = (high - low) / max(count - 1, 1)
        steps = np.expand_dims(low, 0) + np.arange(count, dtype=low.dtype).reshape(
            -1, *[1] * low.ndim
        ) * np.expand_dims(step, 0)
        if count > 1:
            steps[-1] = high
        return tensor_of(np.moveaxis(steps.astype(low.dtype), 0, axis), first.dtype)
    least, most = expand_dims(first, axis), expand_dims(last, axis)
    if count == 1:
        return least
    rank = len(least._lengths())
    places = [1] * rank
    places[axis % rank] = count - 2
    steps = np.arange(1, count - 1, dtype=first.dtype.storage).reshape(places)
    return concat([least, least + steps * ((most - least) / (count - 1)), most], axis)


def eye(
    num_rows: Ints,
    num_columns: Ints | None = None,
    batch_shape: Shape | None = None,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """The unit matrix, or a batch of them."""
    (rows,) = lengths_of([num_rows])
    (columns,) = (rows,) if num_columns is None else lengths_of([num_columns])
    kind = as_dtype(dtype)
    matrix = np.eye(rows, columns, dtype=kind.storage)
    if batch_shape is not None:
        matrix = np.broadcast_to(matrix, (*static.lengths(batch_shape), rows, columns)).copy()
    return tensor_of(matrix, kind)
