"""Attention: means of values, weighted by how queries and keys agree."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradwire.tf as tf
from gradwire.tf.keras import random
from gradwire.tf.keras.configurable import configurable, unset
from gradwire.tf.keras.layers.base import Layer
from gradwire.tf.keras.seeds import SeedGenerator

__all__ = ["AdditiveAttention", "Attention"]


@configurable
class Attention(Layer):
    """``softmax(scores) value`` of ``[query, value]`` or ``[query, value, key]``.

    Scores are ``query key^T``, times a weight with ``use_scale``; or, where ``score_mode`` is
    ``"concat"``, ``w sum(tanh(scale (query + key)))``. Masks are those of query and value.
    """

    supports_masking = True

    use_scale: bool = False
    score_mode: str = "dot"
    dropout: float = 0.0
    seed: int | None = None
    scale: Any = unset()
    concat_score_weight: Any = unset()

    def __post_init__(self) -> None:
        if self.score_mode not in ("dot", "concat"):
            raise ValueError(f"`score_mode` must be 'dot' or 'concat'; got {self.score_mode!r}")
        if self.dropout > 0:
            self.seed_generator: SeedGenerator = SeedGenerator(self.seed)

    def build(self, input_shape: Any) -> None:
        _assert_inputs(type(self).__name__, input_shape)
        if self.use_scale:
            self.scale = self.add_weight((), "ones", name="scale")
        if self.score_mode == "concat":
            self.concat_score_weight = self.add_weight((), "ones", name="concat_score_weight")

    def _scores(self, query: Any, key: Any) -> Any:
        if self.score_mode == "dot":
            scores = tf.matmul(query, key, transpose_b=True)
            return scores if self.scale is None else scores * self.scale
        both = tf.expand_dims(query, -2) + tf.expand_dims(key, -3)
        both = both if self.scale is None else self.scale * both
        return self.concat_score_weight * tf.reduce_sum(tf.tanh(both), axis=-1)

    def call(
        self,
        inputs: Any,
        mask: Any = None,
        training: bool = False,
        return_attention_scores: bool = False,
        use_causal_mask: bool = False,
    ) -> Any:
        name = type(self).__name__
        _assert_inputs(name, inputs)
        if mask is not None and not isinstance(mask, (list, tuple)):
            raise ValueError(
                f"{name} takes as `mask` a list of two, for query and value; got {mask}"
            )
        query, value, *others = inputs
        masks = [None if each is None else tf.cast(each, tf.bool) for each in mask or (None, None)]
        scores = self._scores(query, others[0] if others else value)
        counts = None if masks[1] is None else tf.expand_dims(masks[1], -2)
        if use_causal_mask:
            before = causal(scores)
            counts = before if counts is None else tf.logical_and(counts, before)
        if counts is not None:
            least = 65504.0 if scores.dtype == tf.float16 else 1.0e9
            scores = tf.where(counts, scores, scores - tf.constant(least, scores.dtype))
        weights = tf.nn.softmax(scores, axis=-1)
        if training and self.dropout > 0:
            weights = random.dropout(weights, self.dropout, seed=self.seed_generator)
        result = tf.matmul(weights, value)
        if masks[0] is not None:
            query_counts = tf.expand_dims(masks[0], -1)
            result = tf.where(query_counts, result, tf.zeros((), result.dtype))
        return (result, weights) if return_attention_scores else result

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask of the query."""
        del inputs  # whatever they are
        return None if mask is None else mask[0]


class AdditiveAttention(Attention):
    """The same by scores ``sum(scale tanh(query + key))``, with a weight for each feature."""

    _left_out = ("score_mode",)

    def __init__(self, use_scale: bool = True, dropout: float = 0.0, **kwargs: Any) -> None:
        super().__init__(use_scale=use_scale, dropout=dropout, **kwargs)

    def build(self, input_shape: Any) -> None:
        _assert_inputs(type(self).__name__, input_shape)
        if self.use_scale:
            self.scale: Any = self.add_weight((input_shape[0][-1],), "glorot_uniform", name="scale")

    def _scores(self, query: Any, key: Any) -> Any:
        both = tf.tanh(tf.expand_dims(query, -2) + tf.expand_dims(key, -3))
        return tf.reduce_sum(both if self.scale is None else self.scale * both, axis=-1)


def causal(scores: Any) -> Any:
    """True for steps of values that are not behind those of queries, ``(1, queries, values)``."""
    queries, values = tuple(scores.shape)[-2:]
    return tf.constant(np.tri(queries, values, dtype=bool)[None])


def _assert_inputs(name: str, inputs: Any) -> None:
    if not isinstance(inputs, (list, tuple)):
        raise ValueError(f"{name} takes query, value and optionally key in one list; got {inputs}")
    if len(inputs) not in (2, 3):
        raise ValueError(
            f"{name} takes query, value and optionally key in one list; got {len(inputs)} inputs"
        )
