"""Rows of tables by integers, and which steps of sequences count."""

from __future__ import annotations

from typing import Any

import gradwire.tf as tf
from gradwire.tf.arguments import only
from gradwire.tf.keras import constraints, initializers, regularizers
from gradwire.tf.keras.layers.base import Layer
from gradwire.tf.keras.masks import set_mask
from gradwire.tf.keras.objects import serialize_keras_object


class Embedding(Layer):
    """The rows of a table by integers; with ``mask_zero``, steps of 0 do not count."""

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        embeddings_initializer: Any = "uniform",
        embeddings_regularizer: Any = None,
        embeddings_constraint: Any = None,
        mask_zero: bool = False,
        weights: Any = None,
        lora_rank: int | None = None,
        **kwargs: Any,
    ) -> None:
        length = kwargs.pop("input_length", None)  # Keras takes it and does not use it
        del length
        only("Embedding", lora_rank=(lora_rank, None))
        super().__init__(**kwargs)
        self.input_dim: int = input_dim
        self.output_dim: int = output_dim
        self.embeddings_initializer: Any = initializers.get(embeddings_initializer)
        self.embeddings_regularizer: Any = regularizers.get(embeddings_regularizer)
        self.embeddings_constraint: Any = constraints.get(embeddings_constraint)
        self.mask_zero: bool = mask_zero
        self.supports_masking = mask_zero
        self.embeddings: Any = None
        if weights is not None:
            self.build(None)
            given = weights if isinstance(weights, list) else [weights]
            self.set_weights(given)

    def build(self, input_shape: Any) -> None:
        del input_shape  # whatever it is
        self.embeddings = self.add_weight(
            (self.input_dim, self.output_dim),
            self.embeddings_initializer,
            regularizer=self.embeddings_regularizer,
            constraint=self.embeddings_constraint,
            name="embeddings",
        )

    def call(self, inputs: Any) -> Any:
        ids = inputs if inputs.dtype.is_integer else tf.cast(inputs, tf.int32)
        return tf.gather(self.embeddings, ids)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        del mask  # of integers there is none
        return tf.not_equal(inputs, 0) if self.mask_zero else None

    def get_config(self) -> dict[str, Any]:
        """The arguments that would make another, without the table."""
        names = ("input_dim", "output_dim", "mask_zero")
        parts = ("initializer", "regularizer", "constraint")
        config = self._basic_config() | {name: getattr(self, name) for name in names}
        for part in parts:
            name = f"embeddings_{part}"
            config[name] = serialize_keras_object(getattr(self, name))
        return config


class Masking(Layer):
    """Steps all of whose elements are ``mask_value`` do not count; they are zeros in the output."""

    def __init__(self, mask_value: float = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.mask_value: Any = mask_value

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        del mask  # made anew
        return tf.reduce_any(tf.not_equal(inputs, self.mask_value), axis=-1)

    def call(self, inputs: Any) -> Any:
        counts = self.compute_mask(inputs)
        value = tf.where(tf.expand_dims(counts, -1), inputs, tf.zeros((), inputs.dtype))
        set_mask(value, counts)
        return value
