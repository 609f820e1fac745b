"""Weights of layers: variables by Keras's manners."""

from __future__ import annotations

from typing import Any

import gradwire.tf as tf
from gradwire.tf.keras import initializers
from gradwire.tf.keras.dtype_policies import read_dtype
from gradwire.tf.keras.names import unique_name
from gradwire.tf.tensors import Operand


class Weight(tf.Variable):
    """A variable whose name has no number, which knows its layer, and which is its own value.

    Within layers of mixed precision it is read in the dtype that these compute in, unless
    ``autocast=False``; it keeps its own.
    """

    def __init__(
        self, initial_value: Any, path: str = "", autocast: bool = True, **kwargs: Any
    ) -> None:
        super().__init__(initial_value, **kwargs)
        self.path: str = path
        self._is_cast: bool = autocast and self._of.is_floating

    def _dtype(self) -> tf.DType:
        return (read_dtype() if self._is_cast else None) or self._of

    @property
    def dtype(self) -> tf.DType:
        """The elements' type where it is read."""
        return self._dtype()

    def _to_tensor(self) -> tf.Tensor:
        read, kind = super()._to_tensor(), self._dtype()
        return read if kind is self._of else tf.cast(read, kind)

    def read_value(self) -> tf.Tensor:
        """A tensor of the value that it has now."""
        read, kind = super().read_value(), self._dtype()
        return read if kind is self._of else tf.cast(read, kind)

    def assign(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        """Give it another value, which is cast to its dtype."""
        return super().assign(self._own(value), *args, **kwargs)

    def assign_add(self, delta: Any, *args: Any, **kwargs: Any) -> Any:
        """Add to its value, as it is read."""
        if self._dtype() is self._of:
            return super().assign_add(self._own(delta), *args, **kwargs)
        return self.assign(self + delta)

    def assign_sub(self, delta: Any, *args: Any, **kwargs: Any) -> Any:
        """Subtract from its value, as it is read."""
        if self._dtype() is self._of:
            return super().assign_sub(self._own(delta), *args, **kwargs)
        return self.assign(self - delta)

    def _own(self, value: Any) -> Any:
        """A floating value in its own dtype."""
        other = isinstance(value, Operand) and value._dtype() != self._of
        return tf.cast(value, self._of) if other and self._of.is_floating else value

    @property
    def name(self) -> str:
        """The name that its layer gave it."""
        return self._stem

    @property
    def value(self) -> Any:
        """The variable itself, as a tape watches it."""
        return self

    def __repr__(self) -> str:
        shape = tuple(self.shape)
        return (
            f"<Variable path={self.path}, shape={shape}, dtype={self.dtype.name}, "
            f"value={self.numpy()}>"
        )


def state(owner: str, shape: Any, initializer: Any, dtype: Any, name: str | None) -> Weight:
    """A variable of a metric or an optimizer, which is not trained.

    Raises:
        ValueError: There is no initializer.
    """
    made = initializers.get(initializer)
    if made is None:
        raise ValueError(
            "Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a "
            "Tensor."
        )
    lengths = (shape,) if isinstance(shape, int) else tuple(shape)
    kind = tf.as_dtype("float32" if dtype is None else dtype)
    name = name or unique_name("variable")
    value = tf.cast(made(lengths, dtype=kind), kind)
    return Weight(value, trainable=False, name=name, path=f"{owner}/{name}")
