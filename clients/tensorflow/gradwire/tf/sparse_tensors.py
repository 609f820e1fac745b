"""Tensors of which only some elements are given, the others being zero."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradwire.tf.arguments import only
from gradwire.tf.calls import call
from gradwire.tf.conversion import convert_to_tensor, tensor_of
from gradwire.tf.dtypes import DType, int64
from gradwire.tf.errors import invalid
from gradwire.tf.nodes import Spec
from gradwire.tf.scatter_host import Integers, integers, taken
from gradwire.tf.shapes import TensorShape
from gradwire.tf.tensors import Operand, Tensor

__all__ = ["SparseTensor"]


class SparseTensor:
    """``values`` at ``indices``, one row of coordinates each, of a tensor of ``dense_shape``.

    Gradients are those of its values.
    """

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        self._places: Integers = integers(indices)
        self._values: Tensor = convert_to_tensor(values)
        self._lengths: tuple[int, ...] = tuple(integers(dense_shape).tolist())
        if self._places.ndim != 2:
            raise ValueError(f"indices must be a matrix, but have rank {self._places.ndim}")
        count, rank = self._places.shape
        if rank != len(self._lengths) or (count,) != self._values._lengths()[:1]:
            raise ValueError(
                f"indices of shape {self._places.shape} do not go with {self._values.shape} "
                f"values of a tensor of shape {self._lengths}"
            )

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> SparseTensor:
        """One that is given by parts of the same names."""
        if isinstance(sparse_tensor_value, cls):
            return sparse_tensor_value
        given = sparse_tensor_value
        return cls(given.indices, given.values, given.dense_shape)

    @property
    def indices(self) -> Tensor:
        """The coordinates of each value."""
        return tensor_of(self._places, int64)

    @property
    def values(self) -> Tensor:
        """The elements that are given."""
        return self._values

    @property
    def dense_shape(self) -> Tensor:
        """The whole tensor's shape."""
        return tensor_of(np.asarray(self._lengths, np.int64), int64)

    @property
    def shape(self) -> TensorShape:
        """The whole tensor's shape."""
        return TensorShape(self._lengths)

    @property
    def dtype(self) -> DType:
        """The elements' type."""
        return self._values.dtype

    def get_shape(self) -> TensorShape:
        """The whole tensor's shape."""
        return self.shape

    def with_values(self, new_values: Any) -> SparseTensor:
        """Other values at the same places."""
        return SparseTensor(self._places, new_values, self._lengths)

    def consumers(self) -> list[Any]:
        """Nobody, as in eager TensorFlow."""
        return []

    def eval(self, feed_dict: Any = None, session: Any = None) -> SparseTensor:
        """Itself: it has been computed."""
        only("SparseTensor.eval", feed_dict=(feed_dict, None), session=(session, None))
        return self

    def _components(self) -> list[Tensor]:
        return [self._values]

    def _with_components(self, parts: list[Any]) -> SparseTensor | None:
        return None if parts[0] is None else self.with_values(parts[0])

    def _refuse_gradient(self) -> None:
        raise ValueError("gradients of and in a SparseTensor are not supported; use its `values`")

    def _check_places(self, op: str) -> None:
        lengths = np.asarray(self._lengths, np.int64)
        wrong = np.flatnonzero(((self._places < 0) | (self._places >= lengths)).any(axis=1))
        if wrong.size:
            first = int(wrong[0])
            place, bounds = self._places[first].tolist(), list(self._lengths)
            shown = [",".join(map(str, each)) for each in (place, bounds)]
            raise invalid(
                f"indices[{first}] = [{shown[0]}] is out of bounds: need 0 <= index < [{shown[1]}] "
                f"[Op:{op}] name: "
            )

    def _beside(self, other: Any) -> Tensor:
        """The elements of a dense operand, broadcast to this shape, at this one's places."""
        operand = convert_to_tensor(other, self.dtype if not isinstance(other, Operand) else None)
        lengths = operand._lengths()
        if not lengths:
            return operand
        if np.broadcast_shapes(lengths, self._lengths) != self._lengths:
            raise invalid(
                "SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible "
                f"shapes: [{self._lengths}] vs. [{lengths}]"
            )
        count = math.prod(lengths)
        flat = np.broadcast_to(np.arange(count).reshape(lengths), self._lengths)
        every = call("np.reshape", operand, (count,), spec=Spec(operand.dtype, (count,)))
        return taken(every, flat[tuple(self._places.T)])

    def __mul__(self, other: Any) -> SparseTensor:
        return self.with_values(self._values * self._beside(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> SparseTensor:
        return self.with_values(self._values / self._beside(other))

    def __neg__(self) -> SparseTensor:
        return self.with_values(-self._values)

    def __repr__(self) -> str:
        return (
            f"SparseTensor(indices={self.indices!s}, values={self._values!s}, "
            f"dense_shape={self.dense_shape!s})"
        )
