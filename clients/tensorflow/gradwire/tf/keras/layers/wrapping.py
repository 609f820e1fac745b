"""Layers around layers: at each step of time, and along it both ways."""

from __future__ import annotations

import copy
from typing import Any

import gradwire.tf as tf
from gradwire.tf.keras.layers.base import Layer


class Identity(Layer):
    """What comes in."""

    def call(self, inputs: Any) -> Any:
        return inputs


class TimeDistributed(Layer):
    """A layer at each step along the first axis after the batch's."""

    def __init__(self, layer: Layer, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.layer: Layer = layer

    def call(self, inputs: Any) -> Any:
        batch, steps, *rest = tuple(inputs.shape)
        value = self.layer(tf.reshape(inputs, (batch * steps, *rest)))
        return tf.reshape(value, (batch, steps, *tuple(value.shape)[1:]))


class Bidirectional(Layer):
    """A recurrent layer and its like in the other direction, put together by ``merge_mode``."""

    def __init__(
        self,
        layer: Any,
        merge_mode: str | None = "concat",
        backward_layer: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if merge_mode not in ("sum", "mul", "ave", "concat", None):
            raise ValueError(
                f"Invalid merge mode. Received: {merge_mode}. Merge mode should be one of "
                '{"sum", "mul", "ave", "concat", None}'
            )
        self.merge_mode: str | None = merge_mode
        if layer.built:
            raise ValueError("the layer of both directions must not have been built")
        self.forward_layer: Any = _another(layer)
        if backward_layer is None:
            backward_layer = _another(layer)
            backward_layer.go_backwards = not layer.go_backwards
        self.backward_layer: Any = backward_layer

    def call(self, inputs: Any) -> Any:
        forth, back = self.forward_layer(inputs), self.backward_layer(inputs)
        if self.forward_layer.return_sequences:
            back = tf.reverse(back, [1])
        if self.merge_mode == "concat":
            return tf.concat([forth, back], -1)
        if self.merge_mode == "sum":
            return forth + back
        if self.merge_mode == "ave":
            return (forth + back) / 2.0
        return forth * back if self.merge_mode == "mul" else [forth, back]


def _another(layer: Any) -> Any:
    """A layer like one that is not built yet, which draws its own first weights."""
    made = copy.deepcopy(layer)
    redraw = getattr(getattr(made, "cell", None), "draw_seeds", None)
    if redraw is not None:
        redraw()
    return made
