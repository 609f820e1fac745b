"""Rows of tables by integers, and which steps of sequences count."""

from __future__ import annotations

from typing import Any

import gradwire.tf as tf
from gradwire.tf.arguments import only
from gradwire.tf.keras import constraints, initializers, regularizers
from gradwire.tf.keras.configurable import configurable
from gradwire.tf.keras.layers.base import Layer
from gradwire.tf.keras.masks import set_mask

__all__ = ["Embedding", "Masking"]


class Embedding(Layer):
    """The rows of a table by integers; with ``mask_zero``, steps of 0 do not count."""

    _left_out = ("weights", "lora_rank")

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
        kwargs.pop("input_length", None)  # Keras takes it and does not use it
        only("Embedding", lora_rank=(lora_rank, None))
        super().__init__(**{**kwargs, "autocast": False})
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
            self.set_weights(weights if isinstance(weights, list) else [weights])

    def build(self, input_shape: Any) -> None:
        del input_shape  # whatever it is
        self._add("embeddings", (self.input_dim, self.output_dim))

    def call(self, inputs: Any) -> Any:
        ids = inputs if inputs.dtype.is_integer else tf.cast(inputs, tf.int32)
        return tf.cast(tf.gather(self.embeddings, ids), self.compute_dtype)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        del mask  # of integers there is none
        return tf.not_equal(inputs, 0) if self.mask_zero else None


@configurable
class Masking(Layer):
    """Steps all of whose elements are ``mask_value`` do not count; they are zeros in the output."""

    mask_value: Any = 0.0

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        del mask  # made anew
        return tf.reduce_any(tf.not_equal(inputs, self.mask_value), axis=-1)

    def call(self, inputs: Any) -> Any:
        counts = self.compute_mask(inputs)
        value = tf.where(tf.expand_dims(counts, -1), inputs, tf.zeros((), inputs.dtype))
        set_mask(value, counts)
        return value
