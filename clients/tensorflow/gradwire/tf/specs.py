"""``tf.TensorSpec``: what is known of a tensor before there is one."""

from __future__ import annotations

from typing import Any

from gradwire.tf.dtypes import DType, as_dtype
from gradwire.tf.shapes import TensorShape, as_shape

__all__ = ["TensorSpec"]


class TensorSpec:
    """The shape and dtype that an argument has."""

    def __init__(self, shape: Any, dtype: Any = "float32", name: str | None = None) -> None:
        self._shape: TensorShape = as_shape(shape)
        self._dtype: DType = as_dtype(dtype)
        self._name: str | None = name

    @property
    def shape(self) -> TensorShape:
        """The shape."""
        return self._shape

    @property
    def dtype(self) -> DType:
        """The elements' type."""
        return self._dtype

    @property
    def name(self) -> str | None:
        """The argument's name."""
        return self._name

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        """The spec of a tensor."""
        return cls(tensor.shape, tensor.dtype, name)

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> TensorSpec:
        """The same under another name."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """True if a tensor, or one that another spec describes, may be given."""
        other = spec_or_value
        return self._dtype == as_dtype(other.dtype) and self._shape.is_compatible_with(other.shape)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TensorSpec)
            and self._shape == other._shape
            and self._dtype == other._dtype
            and self._name == other._name
        )

    def __hash__(self) -> int:
        return hash((self._shape, self._dtype))

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"
