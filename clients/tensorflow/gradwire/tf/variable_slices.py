"""Parts of variables, which may be assigned to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire.tf.checks import broadcast
from gradwire.tf.conversion import convert_to_tensor
from gradwire.tf.errors import invalid
from gradwire.tf.indexing import static_key
from gradwire.tf.nodes import TensorNode, paused
from gradwire.tf.tensors import Tensor

if TYPE_CHECKING:
    from gradwire.tf.variables import Variable


class VariableSlice(Tensor):
    """A part of a variable: a tensor, and a place to assign to."""

    __slots__ = ("_key", "_variable")

    def __init__(self, node: TensorNode, variable: Variable, key: Any) -> None:
        super().__init__(node)
        self._variable: Variable = variable
        self._key: Any = key

    def assign(self, value: Any, name: str | None = None) -> Variable:
        """Give the part another value."""
        return self._changed(value, lambda part, given: given)

    def assign_add(self, value: Any, name: str | None = None) -> Variable:
        """Add to the part."""
        return self._changed(value, np.add)

    def assign_sub(self, value: Any, name: str | None = None) -> Variable:
        """Subtract from the part."""
        return self._changed(value, np.subtract)

    def _changed(self, value: Any, change: Any) -> Variable:
        with paused():
            given = convert_to_tensor(value, self._variable.dtype)
        array = np.array(self._variable._value())
        key = self._key if isinstance(self._key, np.ndarray) else static_key(self._key)
        part, value_shape = array[key].shape, given._lengths()
        if broadcast("ResourceStridedSliceAssign", part, value_shape) != part:
            raise invalid(
                f"Cannot broadcast input shape {list(value_shape)} into final shape {list(part)} "
                "[Op:ResourceStridedSliceAssign] name: "
            )
        array[key] = change(array[key], given._value())
        self._variable.assign(array)
        return self._variable
