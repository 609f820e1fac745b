"""Several tensors as one, and one as several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradwire.tf import checks, dtypes, static
from gradwire.tf.calls import call, calls
from gradwire.tf.conversion import convert_to_tensor, tensor_of
from gradwire.tf.errors import invalid
from gradwire.tf.nodes import Spec
from gradwire.tf.operations.types import Ints, TensorLike
from gradwire.tf.operators import identity
from gradwire.tf.tensors import METHODS, Operand, Tensor


def concat(values: Any, axis: Ints, name: str = "concat") -> Tensor:
    """The tensors one after the other along an axis."""
    if _any_ragged(values):
        rows: Tensor = METHODS["concatenate_rows"](values, static.integer(axis))
        return rows
    parts = tensors(values, "ConcatV2", name)
    shapes = [part._lengths() for part in parts]
    for i, shape in enumerate(shapes):
        if len(shape) != len(shapes[0]):
            raise invalid(
                f"ConcatOp : Ranks of all input tensors should match: shape[0] = "
                f"{static.listed(shapes[0])} vs. shape[{i}] = {static.listed(shape)} [Op:ConcatV2]"
            )
    rank = len(shapes[0])
    text = (
        "ConcatOp : Expected concatenating dimensions in the range [-{rank}, {rank}), but got "
        "{axis} [Op:ConcatV2]"
    )
    place = static.axis_of(axis, rank, text) if len(parts) > 1 or rank else 0
    for i, shape in enumerate(shapes):
        if any(a != b for j, (a, b) in enumerate(zip(shape, shapes[0], strict=True)) if j != place):
            raise invalid(
                f"ConcatOp : Dimension {_first_difference(shape, shapes[0], place)} in both shapes "
                f"must be equal: shape[0] = {static.listed(shapes[0])} vs. shape[{i}] = "
                f"{static.listed(shape)} [Op:ConcatV2]"
            )
    if len(parts) == 1:
        return identity(parts[0])
    length = sum(shape[place] for shape in shapes)
    shape = (*shapes[0][:place], length, *shapes[0][place + 1 :])
    if parts[0].dtype == dtypes.string:
        return tensor_of(np.concatenate([p._value() for p in parts], place), parts[0].dtype)
    return call("np.concatenate", parts, place, spec=Spec(parts[0].dtype, shape))


def _any_ragged(values: Any) -> bool:
    return isinstance(values, (list, tuple)) and any(
        hasattr(each, "_elementwise") for each in values
    )


def _first_difference(shape: Sequence[int], other: Sequence[int], place: int) -> int:
    pairs = enumerate(zip(shape, other, strict=True))
    return next(axis for axis, (a, b) in pairs if a != b and axis != place)


def stack(values: Any, axis: int = 0, name: str = "stack") -> Tensor:
    """The tensors, of one shape, along a new axis."""
    if isinstance(values, (list, tuple)) and not values:
        return convert_to_tensor([])
    if _any_ragged(values) and axis == 0:
        rows: Tensor = METHODS["stack_rows"](values)
        return rows
    parts = tensors(values, "Pack", name)
    shapes = [part._lengths() for part in parts]
    for i, shape in enumerate(shapes):
        if shape != shapes[0]:
            raise invalid(
                f"Shapes of all inputs must match: values[0].shape = {static.listed(shapes[0])} != "
                f"values[{i}].shape = {static.listed(shape)} [Op:Pack] name: {name}"
            )
    rank = len(shapes[0]) + 1
    if not -rank <= axis < rank:
        raise ValueError(f"Argument `axis` = {axis} not in range [{-rank}, {rank})")
    lengths = list(shapes[0])
    lengths.insert(axis % rank, len(parts))
    if parts[0].dtype == dtypes.string:
        return tensor_of(np.stack([part._value() for part in parts], axis), parts[0].dtype)
    return call("np.stack", parts, axis, spec=Spec(parts[0].dtype, tuple(lengths)))


def parallel_stack(values: Any, name: str = "parallel_stack") -> Tensor:
    """The tensors, of one shape, along a new first axis."""
    return stack(values)


def unstack(
    value: TensorLike, num: int | None = None, axis: int = 0, name: str = "unstack"
) -> list[Tensor]:
    """The parts along an axis, which goes."""
    x = convert_to_tensor(value)
    lengths = x._lengths()
    if not lengths:
        raise ValueError("Argument `axis` = 0 not in range [0, 0)")
    if not -len(lengths) <= axis < len(lengths):
        raise ValueError(f"Argument `axis` = {axis} not in range [{-len(lengths)}, {len(lengths)})")
    place = axis % len(lengths)
    count = lengths[place]
    if num is not None and num != count:
        raise invalid(
            f"Input shape axis {place} must equal {num}, got shape {static.listed(lengths)} "
            "[Op:Unpack] name: unstack"
        )
    if not count:
        return []
    rest = (*lengths[:place], *lengths[place + 1 :])
    if x.dtype == dtypes.string:
        parts = np.moveaxis(x._value(), place, 0)
        return [tensor_of(np.asarray(part, object), x.dtype) for part in parts]
    return calls("np.unstack", x, place, specs=[Spec(x.dtype, rest)] * count)


def split(
    value: TensorLike,
    num_or_size_splits: Ints,
    axis: Ints = 0,
    num: int | None = None,
    name: str = "split",
) -> list[Tensor]:
    """So many parts of equal length along an axis, or parts of the given lengths."""
    x = convert_to_tensor(value)
    lengths = x._lengths()
    text = (
        "-input rank({rank}) <= split_dim < input rank ({rank}), but got {axis} [Op:Split] "
        "name: split"
    )
    place = static.axis_of(axis, len(lengths), text)
    given = num_or_size_splits
    if np.ndim(given if not isinstance(given, Operand) else given._value()) == 0:
        count = static.integer(given)
        if count < 1 or lengths[place] % count:
            raise invalid(
                "Number of ways to split should evenly divide the split dimension, but got "
                f"split_dim {place} (size = {lengths[place]}) and num_split {count} [Op:Split] "
                "name: split"
            )
        sizes = [lengths[place] // count] * count
    else:
        sizes = list(static.lengths(given))
        if num not in (None, len(sizes)):
            raise invalid(
                "size of the split_tensor must be 1-D and have the same elements as outputs got 1 "
                f"-D and {len(sizes)} elements [Op:SplitV]"
            )
        if sizes.count(-1) == 1:
            rest = lengths[place] - sum(size for size in sizes if size != -1)
            sizes = [rest if size == -1 else size for size in sizes]
        if sum(sizes) != lengths[place] or min(sizes, default=0) < 0:
            raise invalid(
                "Determined shape must either match input shape along split_dim exactly if fully "
                "specified, or be less than the size of the input along split_dim if not fully "
                f"specified.  Got: {sum(sizes)} [Op:SplitV] name: split"
            )
    ends = np.cumsum(sizes)[:-1].tolist()
    if x.dtype == dtypes.string:
        return [tensor_of(part, x.dtype) for part in np.split(x._value(), ends, place)]
    specs = [Spec(x.dtype, (*lengths[:place], size, *lengths[place + 1 :])) for size in sizes]
    return calls("np.split", x, ends, place, specs=specs)


def tensors(values: Any, op: str, name: str = "") -> list[Tensor]:
    """Values as tensors of one dtype, that of the first which has one."""
    if isinstance(values, Operand):
        whole = convert_to_tensor(values)
        return unstack(whole) if whole._lengths() else [whole]
    parts = list(values) if isinstance(values, (list, tuple, np.ndarray)) else [values]
    if not parts:
        raise invalid(f"OpKernel '{op}' has constraint on attr 'N': at least 1 input [Op:{op}]")
    first = next((part for part in parts if isinstance(part, (Operand, np.ndarray))), None)
    dtype = None if first is None else convert_to_tensor(first).dtype
    found: list[Tensor] = []
    for part in parts:
        own = isinstance(part, (Operand, np.ndarray))
        found.append(convert_to_tensor(part, None if own else dtype))
        if dtype is None:
            dtype = _common(parts)
            found = [convert_to_tensor(part, dtype)]
    for position, part in enumerate(found):
        if part.dtype != found[0].dtype:
            error = checks.mismatch(op, found[0].dtype, part.dtype, position)
            raise invalid(f"{error}{name}")
    return found


def _common(parts: Sequence[Any]) -> dtypes.DType:
    """The dtype of plain values, integers among floats being floats."""
    kinds = [convert_to_tensor(part).dtype for part in parts]
    return next((kind for kind in kinds if not kind.is_integer), kinds[0])
