"""The base of layers along axes of space: the number of axes, and channels last."""

from __future__ import annotations

from typing import Any, ClassVar

from gradwire.tf.arguments import channels_last
from gradwire.tf.keras.layers.base import Layer
from gradwire.tf.keras.layers.specs import InputSpec


class Spatial(Layer):
    """A layer along so many axes of space: ``class Conv1D(Convolution, rank=1)``."""

    _rank: ClassVar[int] = 2
    #: Arguments that are a number for each axis, or one for all.
    _lengths: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, rank: int | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if rank is not None:
            cls._rank = rank

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.input_spec: Any = InputSpec(ndim=self._rank + 2)

    def _option(self, name: str, value: Any) -> Any:
        if name == "data_format":
            channels_last(type(self).__name__, value)
            return "channels_last"
        if name == "padding" and isinstance(value, str):
            return value.lower()
        if name in self._lengths:
            return lengths(value, self._rank)
        return super()._option(name, value)


def lengths(value: Any, count: int) -> tuple[int, ...]:
    """A length for each axis, from one for all or one for each."""
    found = (value,) * count if isinstance(value, int) else tuple(value)
    if len(found) != count:
        raise ValueError(f"{count} lengths are needed, one for each axis; got {value}")
    return found
