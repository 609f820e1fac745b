"""``tf.sparse``: tensors of which only some elements are given.

Gradients flow through the values, and through dense operands.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradwire.tf.arguments import only
from gradwire.tf.calls import call
from gradwire.tf.conversion import convert_to_tensor, filled, tensor_of
from gradwire.tf.dtypes import as_dtype, bool_, float32
from gradwire.tf.errors import invalid
from gradwire.tf.nodes import Spec
from gradwire.tf.scatter_host import Integers, integers, placed, summed, taken
from gradwire.tf.sparse_tensors import SparseTensor as SparseTensor
from gradwire.tf.tensors import Tensor
from gradwire.tf.variants import variant


def from_dense(tensor: Any, name: str | None = None) -> SparseTensor:
    """The elements of a tensor that are not zero."""
    dense = convert_to_tensor(tensor)
    value = dense._value()
    places = np.argwhere(value != (b"" if dense.dtype.name == "string" else 0))
    return SparseTensor(places, taken(_flat(dense), _raveled(places, value.shape)), value.shape)


def to_dense(
    sp_input: SparseTensor,
    default_value: Any = None,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """The whole tensor, with ``default_value`` (zero) where nothing is given."""
    sp_input._check_places("SparseToDense")
    return placed(sp_input.values, sp_input._places, sp_input._lengths, default_value)


def sparse_dense_matmul(
    sp_a: Any,
    b: Any,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of two matrices of which one is sparse, at the cost of its elements."""
    if not isinstance(sp_a, SparseTensor):
        turned = sparse_dense_matmul(b, sp_a, adjoint_a=not adjoint_b, adjoint_b=not adjoint_a)
        return _turned(turned)
    dense = convert_to_tensor(b)
    if adjoint_b:
        dense = _turned(dense)
    rows, columns = sp_a._places[:, int(adjoint_a)], sp_a._places[:, int(not adjoint_a)]
    count, inner = sp_a._lengths[int(adjoint_a)], sp_a._lengths[int(not adjoint_a)]
    if inner != dense._lengths()[0]:
        raise invalid(
            f"Cannot multiply A and B because inner dimension does not match: {inner} vs. "
            f"{dense._lengths()[0]}.  Did you forget a transpose?  Dimensions of A: "
            f"[{sp_a._lengths[0]}, {sp_a._lengths[1]}).  Dimensions of B: {dense.shape}"
        )
    return summed(_column(sp_a.values) * taken(dense, columns), rows, count)


def _reducing(
    sp_input: SparseTensor,
    axis: Any = None,
    keepdims: bool = False,
    output_is_sparse: bool = False,
    name: str | None = None,
) -> Callable[..., Any]:
    return lambda how: _reduced(sp_input, axis, keepdims, output_is_sparse, how)


@variant(_reducing, "sum")
def reduce_sum() -> Any:
    """The sum of all elements, or along axes, as a dense tensor unless asked for a sparse one."""


@variant(_reducing, "max")
def reduce_max() -> Any:
    """The largest of the elements that are given; 0 where there are none."""


def _reduced(
    given: SparseTensor, axis: Any, keepdims: bool, sparse: bool, how: str
) -> Tensor | SparseTensor:
    rank = len(given._lengths)
    gone = set(range(rank)) if axis is None else {a % rank for a in integers(axis).ravel()}
    left = [i for i in range(rank) if i not in gone]
    lengths = [given._lengths[i] for i in left]
    flat = _raveled(given._places[:, left], lengths)
    present, rows = np.unique(flat, return_inverse=True)
    found = summed(given.values, rows.reshape(-1), len(present), how)
    places = np.stack(np.unravel_index(present, lengths), -1) if lengths else present[:, None]
    full = [1 if i in gone else length for i, length in enumerate(given._lengths)]
    kept = full if keepdims else lengths
    if sparse:
        return reshape(SparseTensor(places, found, lengths or [1]), kept)
    whole = placed(found, places, tuple(lengths or [1]))
    return call("np.reshape", whole, tuple(kept), spec=Spec(whole.dtype, tuple(kept)))


def add(a: Any, b: Any, threshold: float = 0) -> Any:
    """The sum: sparse of two sparse tensors, dense where one of them is."""
    if not isinstance(a, SparseTensor):
        a, b = b, a
    if not isinstance(b, SparseTensor):
        dense = convert_to_tensor(b)
        spec = Spec(dense.dtype, dense._lengths())
        return call("tf.tensor_scatter_nd_add", dense, a._places, a.values, spec=spec)
    found = _joined([a, b], "sum")
    if threshold:
        return retain(found, np.abs(found.values._value()) >= threshold)
    return found


def maximum(sp_a: SparseTensor, sp_b: SparseTensor, name: str | None = None) -> SparseTensor:
    """The larger of both at each place where either has an element."""
    return _either(sp_a, sp_b, "max")


def minimum(sp_a: SparseTensor, sp_b: SparseTensor, name: str | None = None) -> SparseTensor:
    """The smaller of both at each place where either has an element."""
    return _either(sp_a, sp_b, "min")


def _either(a: SparseTensor, b: SparseTensor, how: str) -> SparseTensor:
    """Both have an element, zero if not given, wherever either has one."""
    zero = np.zeros(1, a.dtype.storage)
    every = np.unique(np.concatenate([a._places, b._places]), axis=0)
    filled = []
    for each in (a, b):
        place = {tuple(row): i for i, row in enumerate(each._places.tolist())}
        at = np.asarray([place.get(tuple(row), len(place)) for row in every.tolist()], np.int64)
        with_zero = call(
            "np.concatenate", [each.values, zero], spec=Spec(each.dtype, (len(place) + 1,))
        )
        filled.append(SparseTensor(every, taken(with_zero, at), a._lengths))
    return _joined(filled, how)


def _joined(tensors: Sequence[SparseTensor], how: str) -> SparseTensor:
    lengths = tensors[0]._lengths
    if any(each._lengths != lengths for each in tensors):
        raise invalid(f"Operands' shapes do not match: {[each._lengths for each in tensors]}")
    flat = np.concatenate([_raveled(each._places, lengths) for each in tensors])
    present, rows = np.unique(flat, return_inverse=True)
    values = _together([each.values for each in tensors])
    found = summed(values, rows.reshape(-1), len(present), how)
    return SparseTensor(np.stack(np.unravel_index(present, lengths), -1), found, lengths)


def transpose(sp_input: SparseTensor, perm: Any = None, name: str | None = None) -> SparseTensor:
    """Its axes in another order, by default reversed."""
    rank = len(sp_input._lengths)
    order = list(range(rank))[::-1] if perm is None else integers(perm).tolist()
    lengths = [sp_input._lengths[i] for i in order]
    return reorder(SparseTensor(sp_input._places[:, order], sp_input.values, lengths))


def reorder(sp_input: SparseTensor, name: str | None = None) -> SparseTensor:
    """The same with its elements in the order of rows."""
    order = np.argsort(_raveled(sp_input._places, sp_input._lengths), kind="stable")
    return _selected(sp_input, order)


def reshape(sp_input: SparseTensor, shape: Any, name: str | None = None) -> SparseTensor:
    """The same elements, in order, of another shape; one length may be -1."""
    lengths = integers(shape).tolist()
    if -1 in lengths:
        rest = -math.prod(lengths)
        lengths[lengths.index(-1)] = math.prod(sp_input._lengths) // max(rest, 1)
    flat = _raveled(sp_input._places, sp_input._lengths)
    places = np.stack(np.unravel_index(flat, lengths), -1) if lengths else flat[:, None][:, :0]
    return SparseTensor(places, sp_input.values, lengths)


def reset_shape(sp_input: SparseTensor, new_shape: Any = None) -> SparseTensor:
    """A larger shape around the same elements, by default the smallest that holds them."""
    if new_shape is None:
        return SparseTensor(
            sp_input._places, sp_input.values, sp_input._places.max(axis=0, initial=-1) + 1
        )
    return SparseTensor(sp_input._places, sp_input.values, new_shape)


def expand_dims(sp_input: SparseTensor, axis: int | None = None) -> SparseTensor:
    """One more axis, of length 1, by default the last."""
    rank = len(sp_input._lengths)
    at = rank if axis is None else axis % (rank + 1)
    lengths = [*sp_input._lengths[:at], 1, *sp_input._lengths[at:]]
    return SparseTensor(np.insert(sp_input._places, at, 0, axis=1), sp_input.values, lengths)


def retain(sp_input: SparseTensor, to_retain: Any) -> SparseTensor:
    """The elements for which ``to_retain`` is true."""
    return _selected(sp_input, np.flatnonzero(convert_to_tensor(to_retain)._value()))


def slice(sp_input: SparseTensor, start: Any, size: Any, name: str | None = None) -> SparseTensor:
    """The part that begins at ``start`` and has at most ``size``."""
    first = integers(start)
    last = np.minimum(first + integers(size), np.asarray(sp_input._lengths))
    inside = ((sp_input._places >= first) & (sp_input._places < last)).all(axis=1)
    part = _selected(sp_input, np.flatnonzero(inside))
    return SparseTensor(part._places - first, part.values, np.maximum(last - first, 0))


def split(
    sp_input: SparseTensor, num_split: int, axis: int, name: str | None = None
) -> list[SparseTensor]:
    """Parts of equal length along an axis, the first ones longer where it does not divide."""
    axis %= len(sp_input._lengths)
    each, longer = divmod(sp_input._lengths[axis], num_split)
    parts, first = [], 0
    for i in range(num_split):
        start, size = np.zeros(len(sp_input._lengths), np.int64), np.asarray(sp_input._lengths)
        start[axis], size[axis] = first, each + (i < longer)
        parts.append(slice(sp_input, start, size))
        first += int(size[axis])
    return parts


def concat(
    axis: int,
    sp_inputs: Sequence[SparseTensor],
    expand_nonconcat_dims: bool = False,
    name: str | None = None,
) -> SparseTensor:
    """Sparse tensors one after another along an axis."""
    only("concat", expand_nonconcat_dims=(expand_nonconcat_dims, False))
    axis %= len(sp_inputs[0]._lengths)
    lengths = np.max([each._lengths for each in sp_inputs], axis=0)
    places, offset = [], 0
    for each in sp_inputs:
        shifted = each._places.copy()
        shifted[:, axis] += offset
        offset += each._lengths[axis]
        places.append(shifted)
    lengths[axis] = offset
    values = _together([each.values for each in sp_inputs])
    return reorder(SparseTensor(np.concatenate(places), values, lengths))


def map_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> SparseTensor:
    """The result of a function for the values of sparse tensors that have the same indices."""
    given = [each for each in [*args, *kwargs.values()] if isinstance(each, SparseTensor)]
    if not given:
        raise ValueError("map_values needs a SparseTensor among its arguments")
    found = op(*map(_values, args), **{name: _values(each) for name, each in kwargs.items()})
    return given[0].with_values(found)


def eye(
    num_rows: Any, num_columns: Any = None, dtype: Any = float32, name: str | None = None
) -> SparseTensor:
    """Ones on the diagonal."""
    rows = int(num_rows)
    columns = rows if num_columns is None else int(num_columns)
    count = min(rows, columns)
    ones = filled((count,), 1, as_dtype(dtype))
    return SparseTensor(np.repeat(np.arange(count)[:, None], 2, axis=1), ones, (rows, columns))


def softmax(sp_logits: SparseTensor, name: str | None = None) -> SparseTensor:
    """Softmax along the last axis over the elements that are given."""
    rows, row = np.unique(sp_logits._places[:, :-1], axis=0, return_inverse=True)
    row, count = row.reshape(-1), len(rows)
    values = sp_logits.values
    largest = summed(values, row, count, "max")
    raised = call(
        "np.exp", values - taken(largest, row), spec=Spec(values.dtype, values._lengths())
    )
    return sp_logits.with_values(raised / taken(summed(raised, row, count), row))


def to_indicator(sp_input: SparseTensor, vocab_size: int, name: str | None = None) -> Tensor:
    """True for each number below ``vocab_size`` that is among the values of a row."""
    found = np.zeros((*sp_input._lengths[:-1], vocab_size), bool)
    found[(*sp_input._places[:, :-1].T, sp_input.values._value())] = True
    return tensor_of(found, bool_)


def mask(a: Any, mask_indices: Any, name: str | None = None) -> Any:
    """Rows of ``tf.IndexedSlices`` without those at some indices."""
    keep = np.flatnonzero(~np.isin(a.indices._value(), integers(mask_indices)))
    return type(a)(taken(a.values, keep), tensor_of(a.indices._value()[keep]), a.dense_shape)


def _values(given: Any) -> Any:
    return given.values if isinstance(given, SparseTensor) else given


def _selected(given: SparseTensor, which: Integers) -> SparseTensor:
    return SparseTensor(given._places[which], taken(given.values, which), given._lengths)


def _raveled(places: Integers, lengths: Sequence[int]) -> Integers:
    if not len(lengths) or not len(places):
        return np.zeros(len(places), np.int64)
    return np.asarray(np.ravel_multi_index(tuple(places.T), tuple(lengths)))


def _together(tensors: list[Tensor]) -> Tensor:
    lengths = [each._lengths() for each in tensors]
    shape = (sum(length[0] for length in lengths), *lengths[0][1:])
    return call("np.concatenate", tensors, spec=Spec(tensors[0].dtype, shape))


def _flat(tensor: Tensor) -> Tensor:
    count = math.prod(tensor._lengths())
    if not tensor.dtype.is_numeric:
        return tensor_of(tensor._value().reshape(-1), tensor.dtype)
    return call("np.reshape", tensor, (count,), spec=Spec(tensor.dtype, (count,)))


def _column(values: Tensor) -> Tensor:
    shape = (*values._lengths(), 1)
    return call("np.reshape", values, shape, spec=Spec(values.dtype, shape))


def _turned(matrix: Tensor) -> Tensor:
    rows, columns = matrix._lengths()
    function = "tf.linalg.adjoint" if matrix.dtype.is_complex else "np.transpose"
    return call(function, matrix, spec=Spec(matrix.dtype, (columns, rows)))
