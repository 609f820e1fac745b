"""``tf.ragged``: tensors whose rows have any lengths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradwire.tf.arguments import only, only_int64
from gradwire.tf.conversion import constant as dense_constant
from gradwire.tf.conversion import convert_to_tensor, tensor_of
from gradwire.tf.creation import steps_between
from gradwire.tf.errors import invalid
from gradwire.tf.ragged_joining import stacked
from gradwire.tf.ragged_parts import is_ragged, part
from gradwire.tf.ragged_tensors import RaggedTensor as RaggedTensor
from gradwire.tf.scatter_host import Integers, integers
from gradwire.tf.tensors import Operand, Tensor


def constant(
    pylist: Any,
    dtype: Any = None,
    ragged_rank: int | None = None,
    inner_shape: Any = None,
    name: str | None = None,
    row_splits_dtype: Any = None,
) -> Any:
    """Nested lists, of any lengths, of values at one depth."""
    only_int64("constant", row_splits_dtype=row_splits_dtype)
    depth, exact = _depth(pylist)
    if not exact and inner_shape is None and ragged_rank is None:
        depth = max(depth, 1)
    if depth == 0:
        return dense_constant(pylist, dtype)
    inner = 0 if inner_shape is None else len(tuple(inner_shape))
    rank = depth - 1 - inner if ragged_rank is None else ragged_rank
    if rank <= 0:
        return dense_constant(pylist, dtype)
    splits, rows = [], list(pylist)
    for _ in np.arange(rank):
        splits.append(np.cumsum([0, *(len(row) for row in rows)]))
        rows = [item for row in rows for item in row]
    flat = dense_constant(rows, dtype)
    return RaggedTensor.from_nested_row_splits(flat, splits)


def _depth(value: Any) -> tuple[int, bool]:
    """The depth of nested values, and True if it is certain: empty lists may be deeper."""
    if isinstance(value, np.ndarray):
        return value.ndim, bool(value.size)
    if not isinstance(value, (list, tuple)):
        return 0, True
    found = [_depth(item) for item in value]
    exact = {depth for depth, certain in found if certain}
    at_least = max((depth for depth, _ in found), default=0)
    if len(exact) > 1 or (exact and at_least > max(exact)):
        raise ValueError("the lists hold scalars at different depths")
    return at_least + 1, bool(exact)


def map_flat_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The result of a function for the flat values of ragged tensors that have the same rows."""
    rows = [each for each in [*args, *kwargs.values()] if is_ragged(each)]
    if not rows:
        return op(*args, **kwargs)
    flat = {name: _flat(each) for name, each in kwargs.items()}
    return rows[0].with_flat_values(op(*map(_flat, args), **flat))


def stack(values: Sequence[Any], axis: int = 0, name: str | None = None) -> Any:
    """Tensors, ragged or not, as rows of one that is ragged."""
    if axis != 0:
        raise ValueError("ragged tensors are stacked along axis 0")
    return stacked(values)


def boolean_mask(data: Any, mask: Any, name: str | None = None) -> Any:
    """The rows, or with a ragged mask the elements, where the mask is true."""
    if is_ragged(mask):
        keep = np.flatnonzero(mask.flat_values._value())
        rows = np.bincount(mask._rowids()[keep], minlength=len(mask))
        return RaggedTensor.from_row_lengths(part(_flat(data), keep), rows)
    true = np.asarray(convert_to_tensor(mask)._value())
    if true.ndim == 2:
        keep = np.flatnonzero(true.ravel())
        rows = RaggedTensor.from_tensor(data)
        return RaggedTensor.from_row_lengths(part(rows.values, keep), true.sum(axis=1))
    given = data if is_ragged(data) else convert_to_tensor(data)
    return part(given, np.flatnonzero(true))


def range(
    starts: Any,
    limits: Any = None,
    deltas: Any = 1,
    dtype: Any = None,
    name: str | None = None,
    row_splits_dtype: Any = None,
) -> Any:
    """Rows of numbers from starts (0) up to limits."""
    only("range", dtype=(dtype, None))
    only_int64("range", row_splits_dtype=row_splits_dtype)
    first, last = (0, starts) if limits is None else (starts, limits)
    parts = [convert_to_tensor(each)._value() for each in (first, last, deltas)]
    kind = np.result_type(*parts) if isinstance(starts, Operand) else parts[1].dtype
    bounds = np.broadcast_arrays(*[np.atleast_1d(part.astype(kind)) for part in parts])
    rows = [_row(*row) for row in zip(*bounds, strict=True)]
    flat = np.concatenate([*rows, np.zeros(0, kind)]).astype(kind)
    return RaggedTensor.from_row_lengths(tensor_of(flat), [len(row) for row in rows])


def _row(first: Any, last: Any, step: Any) -> Any:
    """Numbers each of which is computed from the one before, as TensorFlow's kernel does."""
    if step == 0:
        raise invalid("Requires delta != 0 [Op:RaggedRange] name: ")
    count = steps_between(first, last, step) if (last - first) * step > 0 else 0
    return np.cumsum(np.concatenate([[first], np.full(max(count - 1, 0), step)])[:count])


def row_splits_to_segment_ids(splits: Any, name: str | None = None, out_type: Any = None) -> Tensor:
    """The row of each value."""
    only_int64("row_splits_to_segment_ids", out_type=out_type)
    lengths = np.diff(integers(splits))
    return tensor_of(np.repeat(np.arange(len(lengths)), lengths))


def segment_ids_to_row_splits(
    segment_ids: Any, num_segments: Any = None, out_type: Any = None, name: str | None = None
) -> Tensor:
    """The limits of rows, from the row of each value."""
    only_int64("segment_ids_to_row_splits", out_type=out_type)
    ids: Integers = integers(segment_ids)
    count = int(ids.max(initial=-1)) + 1 if num_segments is None else int(num_segments)
    return tensor_of(np.cumsum([0, *np.bincount(ids, minlength=count)]))


def _flat(value: Any) -> Any:
    return value.flat_values if is_ragged(value) else value
