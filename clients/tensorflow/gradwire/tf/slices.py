"""Gradients in some rows of a tensor: the rows' values and where they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwire.tf.calls import call
from gradwire.tf.conversion import convert_to_tensor
from gradwire.tf.dtypes import DType
from gradwire.tf.nodes import Spec
from gradwire.tf.shapes import TensorShape
from gradwire.tf.tensors import Tensor

__all__ = ["IndexedSlices"]


class IndexedSlices:
    """Rows at indices of a tensor that is zero elsewhere; rows that are given twice add up."""

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None) -> None:
        self._values: Tensor = convert_to_tensor(values)
        self._indices: Tensor = convert_to_tensor(indices)
        self._dense_shape: Tensor | None = (
            None if dense_shape is None else convert_to_tensor(dense_shape)
        )

    @property
    def values(self) -> Tensor:
        """The rows."""
        return self._values

    @property
    def indices(self) -> Tensor:
        """The places of the rows along the first axis."""
        return self._indices

    @property
    def dense_shape(self) -> Tensor | None:
        """The whole tensor's shape."""
        return self._dense_shape

    @property
    def shape(self) -> TensorShape:
        """The whole tensor's shape."""
        if self._dense_shape is None:
            return TensorShape(None)
        return TensorShape(self._dense_shape._value().tolist())

    @property
    def dtype(self) -> DType:
        """The elements' type."""
        return self._values.dtype

    @property
    def name(self) -> str:
        """A name for all."""
        return "IndexedSlices:0"

    @property
    def device(self) -> str:
        """The device that TensorFlow would name."""
        return self._values.device

    def _to_tensor(self) -> Tensor:
        if self._dense_shape is None:
            raise ValueError(
                "Tensor conversion requested for IndexedSlices for which dense_shape is not set."
            )
        lengths = tuple(self._dense_shape._value().tolist())
        return call(
            "tf.math.unsorted_segment_sum",
            self._values,
            self._indices,
            lengths[0],
            spec=Spec(self.dtype, lengths),
        )

    def consumers(self) -> list[Any]:
        """Nobody, as in eager TensorFlow."""
        return []

    def _components(self) -> list[Tensor]:
        shape = [] if self._dense_shape is None else [self._dense_shape]
        return [self._values, self._indices, *shape]

    def _with_components(self, parts: list[Any]) -> IndexedSlices:
        return IndexedSlices(*parts)

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(-self._values, self._indices, self._dense_shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.asarray(self._to_tensor(), dtype)

    def __repr__(self) -> str:
        shape = "" if self._dense_shape is None else f", dense_shape={self._dense_shape!s}"
        return f"IndexedSlices(indices={self._indices!s}, values={self._values!s}{shape})"
