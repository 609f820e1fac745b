"""Inputs of models: their shapes, and symbolic values of these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradwire.tf.arguments import only
from gradwire.tf.keras.layers.base import Layer
from gradwire.tf.keras.settings import floatx
from gradwire.tf.keras.symbolic import KerasTensor

__all__ = ["Input", "InputLayer"]


class InputLayer(Layer):
    """The shape of examples, first in a model; its ``output`` is the symbolic input."""

    def __init__(
        self,
        shape: Any = None,
        batch_size: int | None = None,
        dtype: Any = None,
        sparse: bool | None = None,
        ragged: bool | None = None,
        batch_shape: Any = None,
        input_tensor: Any = None,
        optional: bool = False,
        name: str | None = None,
        input_shape: Any = None,
    ) -> None:
        only(
            "InputLayer",
            sparse=(sparse or None, None),
            ragged=(ragged or None, None),
            input_tensor=(input_tensor, None),
            optional=(optional, False),
        )
        super().__init__(name=name, dtype=dtype or floatx())
        given = shape if shape is not None else input_shape
        if given is not None and batch_shape is not None:
            raise ValueError("`batch_shape` includes `shape`: give only one of them")
        if batch_size is not None and batch_shape is not None:
            raise ValueError("`batch_shape` begins with `batch_size`: give only one of them")
        if given is None and batch_shape is None:
            raise ValueError("An input needs `shape` or `batch_shape`")
        given = (given,) if isinstance(given, int) else given
        self.batch_shape: tuple[Any, ...] = (
            (batch_size, *given) if batch_shape is None else tuple(batch_shape)
        )
        object.__setattr__(self, "built", True)
        made = KerasTensor.of_shape(self.batch_shape, self.compute_dtype, self)
        object.__setattr__(self, "_calls", [made.call])

    def call(self, inputs: Any) -> Any:
        return inputs

    def get_config(self) -> dict[str, Any]:
        """The shape, the dtype and the name."""
        return {
            "batch_shape": self.batch_shape,
            "dtype": self.dtype,
            "sparse": False,
            "ragged": False,
            "name": self.name,
            "optional": False,
        }


def Input(  # noqa: N802 - Keras's name
    shape: Sequence[int | None] | None = None,
    batch_size: int | None = None,
    dtype: Any = None,
    sparse: bool | None = None,
    ragged: bool | None = None,
    batch_shape: Sequence[int | None] | None = None,
    name: str | None = None,
    tensor: Any = None,
    optional: bool = False,
) -> KerasTensor:
    """A symbolic input: examples of this shape."""
    made: KerasTensor = InputLayer(
        shape=shape,
        batch_size=batch_size,
        dtype=dtype,
        sparse=sparse,
        ragged=ragged,
        batch_shape=batch_shape,
        name=name,
        input_tensor=tensor,
        optional=optional,
    ).output
    return made
