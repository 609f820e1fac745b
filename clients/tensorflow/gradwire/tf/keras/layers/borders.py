"""Layers that widen and narrow axes of space, channels last."""

from __future__ import annotations

from typing import Any

import gradwire.tf as tf
from gradwire.tf.arguments import channels_last
from gradwire.tf.keras.layers.base import Layer


class ZeroPadding1D(Layer):
    """Zeros before and after an axis of space."""

    def __init__(self, padding: Any = 1, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        channels_last(type(self).__name__, data_format)
        self.padding: tuple[int, int] = _pair(padding)

    def call(self, inputs: Any) -> Any:
        return tf.pad(inputs, [[0, 0], list(self.padding), [0, 0]])


class Cropping1D(Layer):
    """Without some elements at the ends of an axis of space."""

    def __init__(self, cropping: Any = 1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.cropping: tuple[int, int] = _pair(cropping)

    def call(self, inputs: Any) -> Any:
        return inputs[:, _within(self.cropping)]


class Cropping2D(Layer):
    """Without some elements at the ends of both axes of space."""

    def __init__(self, cropping: Any = 0, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        channels_last(type(self).__name__, data_format)
        rows, columns = _pair(cropping) if isinstance(cropping, int) else cropping
        self.cropping: tuple[Any, Any] = (_pair(rows), _pair(columns))

    def call(self, inputs: Any) -> Any:
        rows, columns = self.cropping
        return inputs[:, _within(rows), _within(columns)]


class UpSampling1D(Layer):
    """Each element repeated along an axis of space."""

    def __init__(self, size: int = 2, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.size: int = int(size)

    def call(self, inputs: Any) -> Any:
        return tf.repeat(inputs, self.size, axis=1)


def _pair(value: Any) -> tuple[int, int]:
    first, last = (value, value) if isinstance(value, int) else value
    return int(first), int(last)


def _within(cropping: tuple[int, int]) -> slice:
    return slice(cropping[0], -cropping[1] or None)
