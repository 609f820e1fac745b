"""Attention of several heads."""

from __future__ import annotations

import functools
import math
from typing import Any

import gradwire.tf as tf
from gradwire.tf.arguments import only
from gradwire.tf.keras import random
from gradwire.tf.keras.configurable import configurable
from gradwire.tf.keras.layers.attention import causal
from gradwire.tf.keras.layers.base import Layer
from gradwire.tf.keras.layers.einsum import EinsumDense
from gradwire.tf.keras.masks import mask_of, set_mask
from gradwire.tf.keras.seeds import SeedGenerator

__all__ = ["MultiHeadAttention"]


@configurable
class MultiHeadAttention(Layer):
    """``softmax(Q K^T / sqrt(key_dim)) V`` of each head, mixed by a dense layer.

    ``Q``, ``K`` and ``V`` are dense layers of query, key and value, of shapes ``(batch, steps,
    features)``. A position counts if the masks of query, value and key, ``attention_mask`` and,
    with ``use_causal_mask``, the order of steps all say so.
    """

    supports_masking = True
    _left_out = ("flash_attention",)  # how it is computed
    num_heads: int
    key_dim: int
    value_dim: Any = None
    dropout: float = 0.0
    use_bias: bool = True
    output_shape: Any = None
    attention_axes: Any = None
    sliding_window: int | None = None
    flash_attention: bool | None = None
    kernel_initializer: Any = "glorot_uniform"
    bias_initializer: Any = "zeros"
    kernel_regularizer: Any = None
    bias_regularizer: Any = None
    activity_regularizer: Any = None
    kernel_constraint: Any = None
    bias_constraint: Any = None
    use_gate: bool = False
    seed: int | None = None

    def __post_init__(self) -> None:
        if self.attention_axes in (1, (1,), [1]):  # the only one that sequences have
            self.attention_axes = None
        only(
            "MultiHeadAttention",
            attention_axes=(self.attention_axes, None),
            sliding_window=(self.sliding_window, None),
            use_gate=(self.use_gate, False),
        )
        for name in ("num_heads", "key_dim"):
            if getattr(self, name) <= 0:
                raise ValueError(
                    f"`{name}` must be a whole number above 0; got {getattr(self, name)}"
                )
        self.value_dim = self.value_dim or self.key_dim
        shape = self.output_shape
        if shape is not None:
            self.output_shape = (shape,) if isinstance(shape, int) else tuple(shape)

    def build(self, query_shape: Any, value_shape: Any = None, key_shape: Any = None) -> None:
        value_shape = query_shape if value_shape is None else value_shape
        key_shape = value_shape if key_shape is None else key_shape
        for shape in (query_shape, value_shape, key_shape):
            if len(shape) != 3:
                raise NotImplementedError(
                    "MultiHeadAttention does not implement inputs of shape "
                    f"{tuple(shape)}; (batch, steps, features) is possible"
                )
        heads, keys, values = self.num_heads, self.key_dim, self.value_dim
        self.query_dense: Any = self._dense("abc,cde->abde", (None, heads, keys), "de", "query")
        self.key_dense: Any = self._dense("abc,cde->abde", (None, heads, keys), "de", "key")
        self.value_dense: Any = self._dense("abc,cde->abde", (None, heads, values), "de", "value")
        if self.dropout > 0:
            self.seed_generator: SeedGenerator = SeedGenerator(self.seed)
        wanted = self.output_shape or (query_shape[-1],)
        letters = "efgh"[: len(wanted)]
        self.output_dense: Any = self._dense(
            f"abcd,cd{letters}->ab{letters}", (None, *wanted), letters, "attention_output"
        )
        self.query_dense.build(query_shape)
        self.key_dense.build(key_shape)
        self.value_dense.build(value_shape)
        self.output_dense.build((*query_shape[:2], heads, values))

    def _dense(self, equation: str, shape: Any, bias_axes: str, name: str) -> EinsumDense:
        return EinsumDense(
            equation,
            shape,
            bias_axes=bias_axes if self.use_bias else None,
            kernel_initializer=self.kernel_initializer.clone(),  # which draws other numbers
            bias_initializer=self.bias_initializer.clone(),
            kernel_regularizer=self.kernel_regularizer,
            bias_regularizer=self.bias_regularizer,
            activity_regularizer=self.activity_regularizer,
            kernel_constraint=self.kernel_constraint,
            bias_constraint=self.bias_constraint,
            dtype=self.dtype_policy,
            name=name,
        )

    def call(
        self,
        query: Any,
        value: Any,
        key: Any = None,
        query_mask: Any = None,
        value_mask: Any = None,
        key_mask: Any = None,
        attention_mask: Any = None,
        return_attention_scores: bool = False,
        training: bool | None = None,
        use_causal_mask: bool = False,
    ) -> Any:
        key = value if key is None else key
        query_mask = carried = mask_of(query)  # as Keras: that which is given does not count
        for each in (query, value, key):  # as Keras: the dense layers see none, and none is left
            set_mask(each, None)
        keys, values = self.key_dense(key), self.value_dense(value)
        scores = tf.einsum("aecd,abcd->acbe", keys, self.query_dense(query))
        scores = scores / math.sqrt(self.key_dim)
        counts = self._counts(
            scores, query_mask, value_mask, key_mask, attention_mask, use_causal_mask
        )
        weights = self._softmax(scores, counts, return_attention_scores)
        dropped = weights
        if training and self.dropout > 0:
            dropped = random.dropout(weights, self.dropout, seed=self.seed_generator)
        result = self.output_dense(tf.einsum("acbe,aecd->abcd", dropped, values))
        set_mask(result, carried)
        return (result, weights) if return_attention_scores else result

    def _counts(
        self,
        scores: Any,
        query_mask: Any,
        value_mask: Any,
        key_mask: Any,
        attention_mask: Any,
        use_causal_mask: bool,
    ) -> Any:
        """The positions that count, ``(batch, heads or 1, queries, values)``, or None for all."""
        found = []
        if query_mask is not None:
            found.append(tf.expand_dims(tf.cast(query_mask, tf.bool), -1))
        found += [
            tf.expand_dims(tf.cast(mask, tf.bool), -2)
            for mask in (value_mask, key_mask)
            if mask is not None
        ]
        if use_causal_mask:
            found.append(causal(scores))
        if attention_mask is not None:
            found.append(tf.cast(attention_mask, tf.bool))
        wide = [tf.expand_dims(mask, -3) if len(mask.shape) < 4 else mask for mask in found]
        return functools.reduce(tf.logical_and, wide) if wide else None

    def _softmax(self, scores: Any, counts: Any, apart: bool) -> Any:
        """Weights; where nothing counts, zeros with dropout or scores asked for, else all equal."""
        if counts is None:
            return tf.nn.softmax(scores, axis=-1)
        least = -3e4 if scores.dtype == tf.float16 else -1e9
        weights = tf.nn.softmax(tf.where(counts, scores, tf.constant(least, scores.dtype)), axis=-1)
        if not apart and self.dropout == 0:
            return weights
        return tf.where(counts, weights, tf.zeros((), weights.dtype))
