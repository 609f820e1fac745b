"""Order: sorting, largest elements, what is equal, how often."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gradwire.tf import checks, dtypes, static
from gradwire.tf.calls import call, calls
from gradwire.tf.conversion import convert_to_tensor, tensor_of
from gradwire.tf.errors import invalid
from gradwire.tf.nodes import Spec
from gradwire.tf.operations import kinds
from gradwire.tf.operations.reductions import reduce_sum
from gradwire.tf.operations.types import DTypeLike, Ints, TensorLike
from gradwire.tf.operators import cast, not_equal
from gradwire.tf.steps import again
from gradwire.tf.tensors import Tensor
from gradwire.tf.unregistered import unregistered
from gradwire.tf.variants import variant


class TopKV2(NamedTuple):
    """The result of ``top_k``."""

    values: Tensor
    indices: Tensor


class Unique(NamedTuple):
    """The result of ``unique``: the elements, and the place of each among them."""

    y: Tensor
    idx: Tensor


class UniqueWithCounts(NamedTuple):
    """The result of ``unique_with_counts``."""

    y: Tensor
    idx: Tensor
    # TensorFlow's name, which tuples have for something else.
    count: Tensor  # type: ignore[assignment]


def sort(
    values: TensorLike, axis: int = -1, direction: str = "ASCENDING", name: str | None = None
) -> Tensor:
    """The elements in rising order along an axis, or in falling one ("DESCENDING")."""
    x = convert_to_tensor(values)
    return _in_order("tf.sort", x, x.dtype, axis, direction)


def argsort(
    values: TensorLike,
    axis: int = -1,
    direction: str = "ASCENDING",
    stable: bool = False,
    name: str | None = None,
) -> Tensor:
    """The places that sort along an axis, of equal elements the first one first."""
    x = convert_to_tensor(values)
    places = _in_order("tf.argsort", x, dtypes.int32, axis, direction)
    places._beside = x
    return places


def _in_order(function: str, x: Tensor, dtype: dtypes.DType, axis: int, direction: str) -> Tensor:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(
            f"Argument `direction` should be one of 'ASCENDING' or 'DESCENDING'. Received: "
            f"direction={direction}"
        )
    text = "slice index {axis} of dimension 0 out of bounds. [Op:StridedSlice] name: strided_slice/"
    static.axis_of(axis, len(x._lengths()), text)
    return call(function, x, axis, direction, spec=Spec(dtype, x._node.shape))


def _place(
    input: TensorLike,
    axis: Ints | None = None,
    output_type: DTypeLike = dtypes.int64,
    name: str | None = None,
) -> Callable[..., Tensor]:
    def place(op: str, function: str) -> Tensor:
        x = convert_to_tensor(input)
        checks.check_allowed(op, x.dtype, (*kinds.EXTREMES, "bool"))
        lengths, kind = x._lengths(), dtypes.as_dtype(output_type)
        text = f"Expected dimension in the range [-{{rank}}, {{rank}}), but got {{axis}} [Op:{op}]"
        at = static.axis_of(0 if axis is None else axis, len(lengths), text)
        if not lengths[at]:
            raise invalid(
                f"Reduction axis {at} is empty in shape {static.listed(lengths)} [Op:{op}]"
            )
        spec = Spec(kind, (*lengths[:at], *lengths[at + 1 :]))
        return call(function, x, at, kind.storage.name, spec=spec)

    return place


@variant(_place, "ArgMax", "tf.argmax")
def argmax() -> Tensor:
    """The place of the largest element along an axis, by default the first; of equals the first."""


@variant(_place, "ArgMin", "tf.argmin")
def argmin() -> Tensor:
    """The place of the least element along an axis, by default the first; of equals the first."""


def top_k(
    input: TensorLike,
    k: Ints = 1,
    sorted: bool = True,
    index_type: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> TopKV2:
    """The largest elements along the last axis, falling, and their places."""
    x, count = convert_to_tensor(input), static.integer(k)
    lengths, kind = x._lengths(), dtypes.as_dtype(index_type)
    if not lengths:
        raise invalid("input must be >= 1-D, got shape [] [Op:TopKV2] name: ")
    if lengths[-1] < count:
        raise invalid(
            f"input must have at least k columns. Had {lengths[-1]}, needed {count} [Op:TopKV2] "
            "name: "
        )
    shape = (*lengths[:-1], count)
    specs = [Spec(x.dtype, shape), Spec(kind, shape)]
    found = TopKV2(*calls("tf.math.top_k", x, count, True, kind.storage.name, specs=specs))
    found.indices._beside = found.values
    return found


def unique(x: TensorLike, out_idx: DTypeLike = dtypes.int32, name: str | None = None) -> Unique:
    """The elements of a vector without repeats, in the order in which they come first."""
    kind = dtypes.as_dtype(out_idx)

    def compute() -> Unique:
        elements, places, _ = _unique(x)
        return Unique(elements, tensor_of(places.astype(kind.storage), kind))

    return unregistered("Unique", [x], compute)


def unique_with_counts(
    x: TensorLike, out_idx: DTypeLike = dtypes.int32, name: str | None = None
) -> UniqueWithCounts:
    """The elements of a vector without repeats, and how often each is there."""
    kind = dtypes.as_dtype(out_idx)

    def compute() -> UniqueWithCounts:
        elements, places, counts = _unique(x)
        found = [tensor_of(each.astype(kind.storage), kind) for each in (places, counts)]
        return UniqueWithCounts(elements, *found)

    return unregistered("UniqueWithCounts", [x], compute)


def _unique(x: Any) -> tuple[Tensor, Any, Any]:
    tensor = convert_to_tensor(x)
    array = tensor._value()
    if array.ndim != 1:
        raise invalid("unique expects a 1D vector. [Op:Unique] name: ")
    _, first, places, counts = np.unique(
        array, return_index=True, return_inverse=True, return_counts=True, equal_nan=False
    )
    order = np.argsort(first, kind="stable")
    rank = np.argsort(order)
    elements = tensor_of(array[first[order]], tensor.dtype)
    return elements, rank[places.reshape(-1)], counts[order]


@again(effect=False)
def searchsorted(
    sorted_sequence: TensorLike,
    values: TensorLike,
    side: str = "left",
    out_type: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """The places in rising sequences where values belong, before equal ones or after ("right")."""
    row, sought = static.array(sorted_sequence), static.array(values)
    where: Any = side
    if side not in ("left", "right"):
        raise ValueError(f"`side` must be 'left' or 'right', got {side!r}")
    kind = dtypes.as_dtype(out_type)
    if row.ndim == 1:
        return tensor_of(np.searchsorted(row, sought, where).astype(kind.storage), kind)
    rows, wanted = row.reshape(-1, row.shape[-1]), sought.reshape(-1, sought.shape[-1])
    found = [np.searchsorted(pair[0], pair[1], where) for pair in zip(rows, wanted, strict=True)]
    return tensor_of(np.array(found).reshape(sought.shape).astype(kind.storage), kind)


def count_nonzero(
    input: TensorLike,
    axis: Ints | None = None,
    keepdims: bool | None = None,
    dtype: DTypeLike = dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """The number of elements that are not zero, or not empty strings."""
    x = convert_to_tensor(input)
    if x.dtype == dtypes.string:
        holds = tensor_of(x._value() != b"")
    else:
        holds = not_equal(x, np.zeros((), x.dtype.storage))
    return reduce_sum(cast(holds, dtype), axis, bool(keepdims))


def bincount(
    arr: Any,
    weights: TensorLike | None = None,
    minlength: Ints | None = None,
    maxlength: Ints | None = None,
    dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
    axis: int | None = None,
    binary_output: bool = False,
) -> Tensor:
    """The count of each number, or the sum of its weights."""
    flat = static.array(arr.flat_values if hasattr(arr, "flat_values") else arr)
    if axis not in (None, 0, -1):
        raise ValueError(f"`axis` must be None, 0 or -1; got {axis}")
    rows = [flat.reshape(-1)] if axis != -1 else list(flat.reshape(-1, flat.shape[-1]))
    if flat.size and flat.min() < 0:
        raise invalid("Input arr must be non-negative! [Op:DenseBincount]")
    length = int(flat.max(initial=-1)) + 1
    if minlength is not None:
        length = max(length, static.integer(minlength))
    if maxlength is not None:
        length = min(length, static.integer(maxlength))
    kind = dtypes.as_dtype(dtype) if weights is None else convert_to_tensor(weights).dtype
    each: list[Any] = [None] * len(rows)
    if weights is not None:
        each = list(static.array(weights).reshape(len(rows), -1))
    counts = []
    for row, weight in zip(rows, each, strict=True):
        kept = row < length
        found = np.bincount(row[kept], None if weight is None else weight[kept], length)[:length]
        counts.append(np.minimum(found, 1) if binary_output else found)
    result = np.array(counts) if axis == -1 and flat.ndim > 1 else counts[0]
    return tensor_of(result.astype(kind.storage), kind)


@again(effect=False)
def histogram_fixed_width(
    values: TensorLike,
    value_range: TensorLike,
    nbins: Ints = 100,
    dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """The number of elements in each of equal bins; what lies outside counts in the last ones."""
    count, kind = static.integer(nbins), dtypes.as_dtype(dtype)

    def compute() -> Tensor:
        x = static.array(convert_to_tensor(values)).reshape(-1)
        low, high = static.array(value_range).astype(x.dtype)
        steps = (np.maximum(x, low) - low) / (np.float64(high - low) / count)
        bins = np.minimum(steps, count - 1).astype(int)
        return tensor_of(np.bincount(bins, minlength=count).astype(kind.storage), kind)

    return unregistered("HistogramFixedWidth", [values, value_range], compute)


@again(effect=False)
def histogram_fixed_width_bins(
    values: TensorLike,
    value_range: TensorLike,
    nbins: Ints = 100,
    dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """The bin of each element."""
    x, count = static.array(convert_to_tensor(values)), static.integer(nbins)
    kind = dtypes.as_dtype(dtype)
    low, high = static.array(value_range).astype(x.dtype)
    bins = np.floor(count * ((x - low) / (high - low)))
    return tensor_of(np.clip(bins, 0, count - 1).astype(kind.storage), kind)


def confusion_matrix(
    labels: TensorLike,
    predictions: TensorLike,
    num_classes: Ints | None = None,
    weights: TensorLike | None = None,
    dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """The count of each prediction, a column, for each label, a row."""
    rows, columns = (static.array(each).astype(np.int64) for each in (labels, predictions))
    most = int(max(rows.max(initial=-1), columns.max(initial=-1))) + 1
    count = most if num_classes is None else static.integer(num_classes)
    if most > count:
        raise invalid(f"`labels` out of bound: Condition x < y did not hold: {most - 1}, {count}")
    kind = dtypes.as_dtype(dtype)
    matrix = np.zeros((count, count), kind.storage)
    each = 1 if weights is None else static.array(weights).astype(kind.storage)
    np.add.at(matrix, (rows, columns), each)
    return tensor_of(matrix, kind)


def is_non_decreasing(x: TensorLike, name: str | None = None) -> Tensor:
    """True if no element is less than the one before."""
    flat = static.array(x).reshape(-1)
    return tensor_of(np.all(flat[1:] >= flat[:-1]))


def is_strictly_increasing(x: TensorLike, name: str | None = None) -> Tensor:
    """True if every element is larger than the one before."""
    flat = static.array(x).reshape(-1)
    return tensor_of(np.all(flat[1:] > flat[:-1]))
