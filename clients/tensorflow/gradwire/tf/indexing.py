"""Indexing as TensorFlow has it: integers, slices, ``...``, ``None``, and masks."""

from __future__ import annotations

from types import EllipsisType
from typing import Any

import numpy as np

from gradwire.frontends import ITEM
from gradwire.tf import dtypes
from gradwire.tf.calls import call, finished
from gradwire.tf.conversion import convert_to_tensor, tensor_of
from gradwire.tf.errors import invalid
from gradwire.tf.nodes import Spec, TensorNode
from gradwire.tf.tensors import METHODS, Operand, Tensor

_REFUSED = (
    "cannot index with {!r}; use integers, slices, `...`, tf.newaxis or scalar tensors of int32 "
    "or int64"
)
_AT = " [Op:StridedSlice] name: strided_slice/"


def getitem(x: Any, key: Any) -> Tensor:
    """``x[key]``."""
    tensor = convert_to_tensor(x)
    if _is_mask(key):
        mask = convert_to_tensor(key)
        if not mask._lengths():
            raise ValueError("mask cannot be scalar.")
        part = tensor._lengths()[: len(mask._lengths())]
        if part != mask._lengths():
            raise ValueError(f"Shapes {part} and {mask._lengths()} are incompatible")
        return call("tf.boolean_mask", tensor, mask, spec=Spec(tensor.dtype))
    items = static_key(key)
    lengths = tensor._lengths()
    _check(items, lengths)
    shape = np.broadcast_to(np.int8(0), lengths)[items].shape
    if tensor.dtype == dtypes.string:
        return tensor_of(tensor._value()[items], tensor.dtype)
    return finished(TensorNode(ITEM, (tensor._node, items), spec=Spec(tensor.dtype, shape)))


def static_key(key: Any) -> tuple[Any, ...]:
    """The parts of an index, tensors in it as numbers."""
    items = key if isinstance(key, (tuple, list)) else (key,)
    return tuple([_part(item) for item in items])


def _part(item: Any) -> Any:
    if item is None or isinstance(item, EllipsisType):
        return item
    if isinstance(item, slice):
        return slice(_bound(item.start), _bound(item.stop), _bound(item.step))
    return _integer(item)


def _bound(value: Any) -> int | None:
    return None if value is None else _integer(value)


def _integer(value: Any) -> int:
    if isinstance(value, (bool, np.bool_)):
        raise invalid(
            "Value for attr 'Index' of bool is not in the list of allowed values: int16, int32, "
            "int64 [Op:StridedSlice]"
        )
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (Operand, np.ndarray)):
        array = np.asarray(value)
        kinds = (np.int16, np.int32, np.int64) if isinstance(value, Operand) else (np.integer,)
        if array.ndim == 0 and issubclass(array.dtype.type, kinds):
            return int(array)
    if hasattr(value, "__index__") and not isinstance(value, (Operand, np.ndarray)):
        return int(value.__index__())
    raise TypeError(_REFUSED.format(value))


def _is_mask(key: Any) -> bool:
    if isinstance(key, Operand):
        return key._dtype() == dtypes.bool_
    return isinstance(key, bool) or (
        isinstance(key, np.ndarray) and key.dtype == bool and key.ndim > 0
    )


def _check(items: tuple[Any, ...], lengths: tuple[int, ...]) -> None:
    """Raise what TensorFlow raises for an index out of range."""
    taken = [item for item in items if item is not None and not isinstance(item, EllipsisType)]
    if taken and not lengths:
        raise invalid(f"Attempting to slice scalar input.{_AT}")
    if len(taken) > len(lengths):
        raise invalid(
            f"Index out of range using input dim {len(lengths)}; "
            f"input has only {len(lengths)} dims{_AT}"
        )
    if sum(isinstance(item, EllipsisType) for item in items) > 1:
        raise invalid(f"Multiple ellipses in slice spec not allowed{_AT}")
    dots = next((i for i, item in enumerate(items) if isinstance(item, EllipsisType)), None)
    after = 0 if dots is None else sum(item is not None for item in items[dots + 1 :])
    axis = 0
    for position, item in enumerate(items):
        if position == dots:
            axis = len(lengths) - after
        elif item is not None:
            if isinstance(item, slice):
                if item.step == 0:
                    raise invalid(f"strides[{position}] must be non-zero{_AT}")
            elif not -lengths[axis] <= item < lengths[axis]:
                raise invalid(f"slice index {item} of dimension {axis} out of bounds.{_AT}")
            axis += 1


METHODS["getitem"] = getitem
