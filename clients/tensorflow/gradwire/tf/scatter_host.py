"""Gather and scatter at indices that are known on the host, for sparse and ragged tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradwire.tf.calls import call
from gradwire.tf.conversion import convert_to_tensor, tensor_of
from gradwire.tf.nodes import Spec
from gradwire.tf.tensors import Tensor

Integers = NDArray[np.integer[Any]]


def integers(value: Any) -> Integers:
    """Indices, lengths or a shape as an array of 64 bit integers."""
    return np.asarray(convert_to_tensor(value, dtype_hint=np.int64)._value(), np.int64)


def taken(values: Tensor, places: Integers) -> Tensor:
    """The elements, or slices, of a tensor at indices along its first axis."""
    shape = (*places.shape, *values._lengths()[1:])
    if not values.dtype.is_numeric:
        return tensor_of(values._value()[places].reshape(shape), values.dtype)
    if np.array_equal(places, np.arange(values._lengths()[0])):
        return values
    return call("tf.gather", values, places, spec=Spec(values.dtype, shape))


def summed(values: Tensor, places: Integers, count: int, how: str = "sum") -> Tensor:
    """The segment sum, or another reduction, of elements with the same index."""
    spec = Spec(values.dtype, (count, *values._lengths()[1:]))
    return call(f"tf.math.unsorted_segment_{how}", values, places, count, spec=spec)


def placed(values: Tensor, places: Integers, shape: tuple[int, ...], default: Any = None) -> Tensor:
    """A tensor with values at the indices in the rows of ``places``."""
    if not values.dtype.is_numeric or default is not None:
        ground = np.zeros(shape, values.dtype.storage)
        if default is not None or values.dtype.name == "string":
            ground[...] = b"" if default is None else convert_to_tensor(default)._value()
        if not values.dtype.is_numeric:
            ground[tuple(places.T)] = values._value()
            return tensor_of(ground, values.dtype)
        spec = Spec(values.dtype, shape)
        return call("tf.tensor_scatter_nd_update", ground, places, values, spec=spec)
    return call("tf.scatter_nd", places, values, list(shape), spec=Spec(values.dtype, shape))
