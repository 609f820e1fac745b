"""Layers around layers: at each step of time, and along it both ways."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import gradwire.tf as tf
from gradwire.tf.keras.layers.base import Layer


class Identity(Layer):
    """What comes in."""

    def call(self, inputs: Any) -> Any:
        return inputs


class Lambda(Layer):
    """Any function of tensors as a layer; ``arguments`` are further ones of it."""

    def __init__(
        self,
        function: Callable[..., Any],
        output_shape: Any = None,
        mask: Any = None,
        arguments: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.function: Callable[..., Any] = function
        self.output_shape: Any = output_shape
        self.mask: Any = mask
        self.arguments: dict[str, Any] = dict(arguments or {})
        self.supports_masking = mask is not None
        self._named = inspect.signature(function).parameters if callable(function) else {}

    def call(self, inputs: Any, mask: Any = None, training: bool | None = None) -> Any:
        given = dict(self.arguments)
        if "mask" in self._named:
            given["mask"] = mask
        if "training" in self._named:
            given["training"] = training
        return self.function(inputs, **given)

    def compute_mask(self, inputs: Any, previous_mask: Any) -> Any:
        return self.mask(inputs, previous_mask) if callable(self.mask) else self.mask


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
        self.forward_layer: Any = layer
        if backward_layer is None:
            if layer.built:
                raise ValueError("the layer of both directions must not have been built")
            backward_layer = copy.deepcopy(layer)
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
