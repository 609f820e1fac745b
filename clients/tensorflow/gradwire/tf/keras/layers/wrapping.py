"""Layers around layers: at each step of time, and along it both ways."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import gradwire.tf as tf
from gradwire.tf.arguments import only
from gradwire.tf.keras.configurable import configurable
from gradwire.tf.keras.layers.base import Layer
from gradwire.tf.keras.objects import serialize_keras_object

__all__ = ["Bidirectional", "Identity", "Lambda", "TimeDistributed", "Wrapper"]


class Identity(Layer):
    """The input itself."""

    supports_masking = True

    def call(self, inputs: Any) -> Any:
        return inputs


@configurable
class Lambda(Layer):
    """Any function of tensors as a layer; ``arguments`` are further ones of it."""

    function: Callable[..., Any]
    output_shape: Any = None
    mask: Any = None
    arguments: Any = None

    def __post_init__(self) -> None:
        self.arguments = dict(self.arguments or {})
        self.supports_masking: bool = self.mask is not None
        self._named = inspect.signature(self.function).parameters

    def call(self, inputs: Any, mask: Any = None, training: bool | None = None) -> Any:
        given = dict(self.arguments)
        if "mask" in self._named:
            given["mask"] = mask
        if "training" in self._named:
            given["training"] = training
        return self.function(inputs, **given)

    def compute_mask(self, inputs: Any, mask: Any) -> Any:
        return self.mask(inputs, mask) if callable(self.mask) else self.mask


@configurable
class Wrapper(Layer):
    """A layer around another."""

    layer: Any

    def __post_init__(self) -> None:
        if not isinstance(self.layer, Layer):
            raise ValueError(f"{type(self).__name__} wraps a layer; got {self.layer}")

    def build(self, input_shape: Any) -> None:
        if not self.layer.built:
            self.layer.build(input_shape)


class TimeDistributed(Wrapper):
    """A layer at each step along the first axis after the batch's."""

    supports_masking = True

    def build(self, input_shape: Any) -> None:
        if len(input_shape) < 3:
            raise ValueError(
                "TimeDistributed needs axes for the batch, the steps and at least one more; got "
                f"shape {input_shape}"
            )
        super().build((input_shape[0], *input_shape[2:]))

    def call(self, inputs: Any, training: bool | None = None, mask: Any = None) -> Any:
        shape = tuple(inputs.shape)
        if mask is not None and tuple(mask.shape)[:2] != shape[:2]:
            raise ValueError(
                f"`mask` of shape {tuple(mask.shape)} does not begin with the batch and steps of "
                f"the input, {shape[:2]}"
            )
        named = inspect.signature(self.layer.call).parameters
        values = []
        for step in range(shape[1]):
            given: dict[str, Any] = {}
            if "mask" in named and mask is not None:
                given["mask"] = mask[:, step]
            if "training" in named:
                given["training"] = training
            values.append(self.layer.call(inputs[:, step], **given))
        return tf.stack(values, axis=1)


class Bidirectional(Layer):
    """A recurrent layer and its like in the other direction, put together by ``merge_mode``.

    Both are made anew from the configuration of the one that is given.
    """

    supports_masking = True

    def __init__(
        self,
        layer: Any,
        merge_mode: str | None = "concat",
        weights: Any = None,
        backward_layer: Any = None,
        **kwargs: Any,
    ) -> None:
        only("Bidirectional", weights=(weights, None))
        super().__init__(**kwargs)
        if not isinstance(layer, Layer):
            raise ValueError(f"Bidirectional wraps a layer; got {layer}")
        if merge_mode not in ("sum", "mul", "ave", "concat", None):
            raise ValueError(
                f"`merge_mode` must be 'sum', 'mul', 'ave', 'concat' or None; got {merge_mode!r}"
            )
        self.merge_mode: str | None = merge_mode
        self.forward_layer: Any = _renamed(layer, "forward_")
        if backward_layer is None:
            backward_layer = _renamed(layer, "backward_", go_backwards=True)
        self.backward_layer: Any = backward_layer
        if self.forward_layer.go_backwards == backward_layer.go_backwards:
            raise ValueError(
                "One of the two layers must run backwards; both have "
                f"go_backwards={backward_layer.go_backwards}"
            )
        for name in ("return_sequences", "return_state"):
            both = getattr(self.forward_layer, name), getattr(backward_layer, name)
            if both[0] != both[1]:
                raise ValueError(
                    f"`{name}` differs: {both[0]} of the forward layer, {both[1]} of the backward "
                    "layer"
                )
        for each in (self.forward_layer, self.backward_layer):
            if hasattr(each, "zero_output_for_mask"):
                each.zero_output_for_mask = each.return_sequences
        self.return_sequences: bool = self.forward_layer.return_sequences
        self.return_state: bool = self.forward_layer.return_state

    @property
    def layer(self) -> Any:
        """The layer of the given direction."""
        return self.forward_layer

    def compute_mask(self, inputs: Any, mask: Any) -> Any:
        """The mask of the steps, if there is an output for each."""
        del inputs  # whatever they are
        mask = tf.nest.flatten(mask)[0] if self.return_sequences else None
        outputs = [mask, mask] if self.merge_mode is None else [mask]
        states = [None] * len(self.forward_layer.state_size) * 2 if self.return_state else []
        return outputs[0] if len(outputs + states) == 1 else outputs + states

    def build(self, sequences_shape: Any) -> None:
        for each in (self.forward_layer, self.backward_layer):
            if not each.built:
                each.build(sequences_shape)

    def call(
        self,
        sequences: Any,
        initial_state: Any = None,
        mask: Any = None,
        training: bool | None = None,
    ) -> Any:
        half = 0 if initial_state is None else len(initial_state) // 2
        halves = (initial_state[:half], initial_state[half:]) if half else (None, None)
        forth, back = (
            each(sequences, initial_state=state, mask=mask, training=training)
            for each, state in zip((self.forward_layer, self.backward_layer), halves, strict=True)
        )
        states: tuple[Any, ...] = ()
        if self.return_state:
            states = (*forth[1:], *back[1:])
            forth, back = forth[0], back[0]
        if self.return_sequences:
            back = tf.reverse(back, [1])
        if self.merge_mode is None:
            return (forth, back, *states)
        merged = self._merged(forth, back)
        return (merged, *states) if self.return_state else merged

    def _merged(self, forth: Any, back: Any) -> Any:
        if self.merge_mode == "concat":
            return tf.concat([forth, back], -1)
        if self.merge_mode == "sum":
            return forth + back
        return (forth + back) / 2.0 if self.merge_mode == "ave" else forth * back

    def get_config(self) -> dict[str, Any]:
        """The mode and both layers."""
        return self._basic_config() | {
            "merge_mode": self.merge_mode,
            "layer": serialize_keras_object(self.forward_layer),
            "backward_layer": serialize_keras_object(self.backward_layer),
        }


def _renamed(layer: Layer, prefix: str, **changes: Any) -> Any:
    """A layer of the same configuration, but for its name and what is said otherwise."""
    name = f"{prefix}{layer.name.removeprefix(prefix)}"
    return type(layer).from_config(layer.get_config() | changes | {"name": name})
