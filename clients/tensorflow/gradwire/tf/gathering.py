"""Elements by their places: gathering, scattering, choosing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradwire.tf import checks, dtypes, static
from gradwire.tf.arguments import only
from gradwire.tf.arrays import reshape
from gradwire.tf.calls import call
from gradwire.tf.clipping import clip_by_norm
from gradwire.tf.conversion import convert_to_tensor, tensor_of
from gradwire.tf.errors import invalid
from gradwire.tf.joining import concat
from gradwire.tf.nodes import Spec, paused
from gradwire.tf.operations.operands import check_scatter
from gradwire.tf.operations.types import DTypeLike, Ints, Shape, TensorLike
from gradwire.tf.steps import again
from gradwire.tf.tensors import Tensor
from gradwire.tf.unregistered import unregistered

__all__ = [
    "bitcast", "boolean_mask", "dynamic_partition", "dynamic_stitch", "gather", "gather_nd",
    "one_hot", "scatter_nd", "where",
]  # fmt: skip

_INDICES = ("int16", "int32", "int64")


def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    axis: Ints | None = None,
    batch_dims: int = 0,
    name: str | None = None,
) -> Any:
    """Slices along an axis by their places; places of each example if ``batch_dims`` axes count
    examples.
    """
    if hasattr(params, "_gather"):
        return params._gather(indices, axis, batch_dims)
    if hasattr(indices, "with_flat_values"):
        return indices.with_flat_values(gather(params, indices.flat_values, axis=axis))
    x, places = convert_to_tensor(params), convert_to_tensor(indices)
    _check_places("GatherV2", "Tindices", places)
    lengths, of_places = x._lengths(), places._lengths()
    text = "Expected axis in the range [-{rank}, {rank}), but got {axis} [Op:GatherV2]"
    count = batch_dims + len(of_places) if batch_dims < 0 else batch_dims
    if not lengths:
        raise invalid("params must be at least 1 dimensional [Op:GatherV2]")
    along = count if axis is None else static.axis_of(axis, len(lengths), text)
    _check_range(places, lengths[along])
    shape = lengths[:along] + of_places[count:] + lengths[along + 1 :]
    if x.dtype == dtypes.string:
        return tensor_of(np.take(x._value(), places._value(), along), x.dtype)
    spec = Spec(x.dtype, shape)
    if count:
        return call("tf.gather", x, places, axis=along, batch_dims=count, spec=spec)
    if along:
        return call("tf.gather", x, places, axis=along, spec=spec)
    result = call("tf.gather", x, places, spec=spec)
    return result if _is_negative(axis) else _rows(result, places)


def _is_negative(axis: Ints | None) -> bool:
    """True if an axis is counted from the end, where TensorFlow's gradient is dense."""
    return axis is not None and static.integer(axis) < 0


def _rows(result: Tensor, places: Tensor) -> Tensor:
    """A result that is rows of its first operand, whose gradient may so be given by slices."""
    result._node.rows = places._node
    return result


def _check_places(op: str, attribute: str, places: Tensor) -> None:
    name = places.dtype.names_in_errors
    if name not in _INDICES:
        raise invalid(
            f"Value for attr '{attribute}' of {name} is not in the list of allowed values: "
            f"{', '.join(_INDICES)}\n\t; NodeDef: {{{{node {op}}}}} [Op:{op}] name: "
        )


@again(effect=False)
def _check_range(places: Tensor, length: int) -> None:
    """Raise for a place that there is not, where the places are known already."""
    value = places._value()
    wrong = np.argwhere((value < 0) | (value >= length))
    if len(wrong):
        where = tuple(wrong[0].tolist())
        index = ",".join(map(str, where))
        raise invalid(f"indices[{index}] = {value[where]} is not in [0, {length}) [Op:GatherV2]")


@again(effect=False)
def _check_within(places: Tensor, bounding: tuple[int, ...], lengths: tuple[int, ...]) -> None:
    """Raise for an element or slice that there is not."""
    value = places._value()
    bounds = np.array(bounding)
    wrong = np.argwhere(((value < 0) | (value >= bounds)).any(-1))
    if len(wrong):
        where = tuple(wrong[0].tolist())
        raise invalid(
            f"indices[{','.join(map(str, where))}] = {static.listed(value[where])} does not index "
            f"into param shape {static.listed(lengths)}, node name: GatherNd [Op:GatherNd] name: "
        )


def gather_nd(
    params: Any,
    indices: TensorLike,
    batch_dims: int = 0,
    name: str | None = None,
    bad_indices_policy: str = "",
) -> Tensor:
    """Elements or slices whose places stand along the last axis of ``indices``."""
    only("gather_nd", bad_indices_policy=(bad_indices_policy, ""))
    x, places = convert_to_tensor(params), convert_to_tensor(indices)
    _check_places("GatherNd", "Tindices", places)
    lengths, of_places = x._lengths(), places._lengths()
    depth = of_places[-1]
    if depth > len(lengths) - batch_dims:
        raise invalid(
            "index innermost dimension length must be <= params rank; saw: "
            f"{depth} vs. {len(lengths)} [Op:GatherNd]"
        )
    _check_within(places, lengths[batch_dims : batch_dims + depth], lengths)
    shape = of_places[:-1] + lengths[batch_dims + depth :]
    if x.dtype == dtypes.string and not batch_dims:
        found = np.empty(shape, object)
        found[...] = x._value()[tuple(np.moveaxis(places._value(), -1, 0))]
        return tensor_of(found, x.dtype)
    given: dict[str, Any] = {"batch_dims": batch_dims} if batch_dims else {}
    result = call("tf.gather_nd", x, places, **given, spec=Spec(x.dtype, shape))
    if not given and len(places._lengths()) == 2 and places._lengths()[1] == 1:
        return _rows(result, places)
    return result


def scatter_nd(
    indices: TensorLike,
    updates: TensorLike,
    shape: Shape,
    name: str | None = None,
    bad_indices_policy: str = "",
) -> Tensor:
    """Zeros with updates added at their places, which stand along the last axis of ``indices``."""
    only("scatter_nd", bad_indices_policy=(bad_indices_policy, ""))
    places, values = convert_to_tensor(indices), convert_to_tensor(updates)
    lengths = static.lengths(shape)
    check_scatter("ScatterNd", places, lengths)
    spec = Spec(values.dtype, lengths)
    return call("tf.scatter_nd", places, values, list(lengths), spec=spec, now=False)


def boolean_mask(
    tensor: Any, mask: TensorLike, axis: Ints | None = None, name: str = "boolean_mask"
) -> Any:
    """The slices for which the mask holds, in order."""
    if hasattr(tensor, "_masked"):
        return tensor._masked(mask)
    x, chosen = convert_to_tensor(tensor), static.array(mask)
    if chosen.ndim == 0:
        raise ValueError("mask cannot be scalar.")
    lengths = x._lengths()
    first = 0 if axis is None else static.integer(axis)
    part = lengths[first : first + chosen.ndim]
    if part != chosen.shape:
        raise ValueError(f"Shapes {part} and {chosen.shape} are incompatible")
    if chosen.ndim > 1:
        x = reshape(x, [*lengths[:first], -1, *lengths[first + chosen.ndim :]])
    result = gather(x, np.flatnonzero(chosen), axis=first)
    if isinstance(result, Tensor):
        result._node.rows = None  # TensorFlow reshapes before: its gradient is whole
    return result


def where(
    condition: Any, x: TensorLike | None = None, y: TensorLike | None = None, name: Any = None
) -> Tensor:
    """``x`` where the condition holds, else ``y``; without these, the places where it holds."""
    if x is None and y is None:
        return tensor_of(np.argwhere(static.array(condition)).astype(np.int64))
    if x is None or y is None:
        raise ValueError("pass both `x` and `y`, or neither")
    chosen = convert_to_tensor(condition)
    if chosen.dtype != dtypes.bool_:
        raise checks.mismatch("SelectV2", dtypes.bool_, chosen.dtype, 0)
    try:
        left, right, dtype = checks.pair("SelectV2", x, y)
    except TypeError:
        left, right = convert_to_tensor(x), convert_to_tensor(y)
        dtype = left.dtype
    kinds = [value.dtype for value in (left, right) if isinstance(value, Tensor)]
    if len(set(kinds)) > 1:
        raise checks.mismatch("SelectV2", kinds[0], kinds[1], 2)
    shapes = [
        chosen._lengths(),
        *[value._lengths() if isinstance(value, Tensor) else () for value in (left, right)],
    ]
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError:
        a, b, c = (static.listed(each) for each in shapes)
        raise invalid(
            f"condition {a}, then {b}, and else {c} must be broadcastable [Op:SelectV2]"
        ) from None
    if dtype == dtypes.string:
        parts = [static.array(value) for value in (left, right)]
        return tensor_of(np.where(chosen._value(), *parts), dtype)
    if not isinstance(left, Tensor) and not isinstance(right, Tensor):
        left = convert_to_tensor(left, dtype)
    return call("tf.formulas.where", chosen, left, right, spec=Spec(dtype, shape))


def one_hot(
    indices: TensorLike,
    depth: Ints,
    on_value: TensorLike | None = None,
    off_value: TensorLike | None = None,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """``on_value`` where the place along a new axis is the given one, else ``off_value``."""
    places = convert_to_tensor(indices)
    allowed = ("uint8", "int8", "int32", "int64")
    if places.dtype.names_in_errors not in allowed:
        raise invalid(
            f"Value for attr 'TI' of {places.dtype.names_in_errors} is not in the list of allowed "
            f"values: {', '.join(allowed)}\n\t; NodeDef: {{{{node OneHot}}}} [Op:OneHot] name: "
        )
    given = [None if v is None else convert_to_tensor(v, dtype) for v in (on_value, off_value)]
    found = [value.dtype for value in given if value is not None]
    kind = dtypes.as_dtype(dtype) if dtype is not None else (found or [dtypes.float32])[0]
    if any(each != kind for each in found):
        raise TypeError(
            f"`on_value` is {found[0].name} but `off_value` is {found[-1].name}; cast one"
        )
    count = static.integer(depth)
    if count < 0:
        raise invalid(f"depth must be non-negative, got: {count} [Op:OneHot] name: ")
    along = -1 if axis is None else axis
    shape = list(places._lengths())
    shape.insert(along % (len(shape) + 1), count)

    def written(of: dtypes.DType) -> Tensor:
        spec = Spec(of, tuple(shape))
        return call("tf.one_hot", places, count, axis=along, dtype=of.storage.name, spec=spec)

    with paused():  # it has no gradient in TensorFlow
        if not found:
            return written(kind)
        on, off = (
            convert_to_tensor(default, kind) if value is None else value
            for value, default in zip(given, (1, 0), strict=True)
        )
        return where(written(dtypes.bool_), on, off)


def dynamic_partition(
    data: TensorLike, partitions: TensorLike, num_partitions: int, name: str | None = None
) -> list[Tensor]:
    """The slices of each partition, in order."""
    x, numbers = convert_to_tensor(data), static.array(partitions)
    flat = reshape(x, [-1, *x._lengths()[numbers.ndim :]])
    wanted = numbers.reshape(-1)
    return [gather(flat, np.flatnonzero(wanted == part)) for part in range(num_partitions)]


def dynamic_stitch(
    indices: Sequence[TensorLike], data: Sequence[TensorLike], name: str | None = None
) -> Tensor:
    """Slices put at their places; of those for one place the last counts."""
    places = [static.array(each) for each in indices]
    values = [convert_to_tensor(each) for each in data]
    rest = values[0]._lengths()[places[0].ndim :]
    rows = concat([reshape(each, [-1, *rest]) for each in values], 0)
    flat = np.concatenate([each.reshape(-1) for each in places])
    source = np.zeros(int(flat.max(initial=-1)) + 1, np.int64)
    source[flat] = np.arange(len(flat))
    return gather(rows, source)  # type: ignore[no-any-return]


def embedding_lookup(
    params: Any, ids: Any, max_norm: float | None = None, name: str | None = None
) -> Any:
    """Rows of a table, scaled down to a norm of at most ``max_norm``."""
    if isinstance(params, (list, tuple)) and len(params) == 1:
        (params,) = params
    elif isinstance(params, (list, tuple)):
        params = concat(list(params), 0)
    rows = gather(params, ids)
    if max_norm is None:
        return rows
    rank = len(convert_to_tensor(ids)._lengths())
    return clip_by_norm(rows, max_norm, list(range(rank, len(rows._lengths()))))


def bitcast(input: TensorLike, type: DTypeLike, name: str | None = None) -> Tensor:
    """The same bytes as elements of another dtype; it has no derivative."""
    kind = dtypes.as_dtype(type)
    return unregistered("Bitcast", [input], lambda: _same_bytes(static.array(input), kind))


def _same_bytes(array: Any, kind: dtypes.DType) -> Tensor:
    if kind.size > array.dtype.itemsize:
        if not array.ndim or array.shape[-1] * array.dtype.itemsize != kind.size:
            raise invalid(
                f"Cannot bitcast from {dtypes.of_numpy(array.dtype).names_in_errors} to "
                f"{kind.names_in_errors}: shape {static.listed(array.shape)} [Op:Bitcast]"
            )
        return tensor_of(array.view(kind.storage)[..., 0], kind)
    if kind.size < array.dtype.itemsize:
        return tensor_of(np.expand_dims(array, -1).view(kind.storage), kind)
    return tensor_of(array.view(kind.storage), kind)
