"""A layer around another whose kernel it divides by its greatest singular value."""

from __future__ import annotations

from typing import Any

import gradwire.tf as tf
from gradwire.tf.keras import initializers
from gradwire.tf.keras.configurable import configurable
from gradwire.tf.keras.layers.specs import InputSpec
from gradwire.tf.keras.layers.wrapping import Wrapper

__all__ = ["SpectralNormalization"]


@configurable
class SpectralNormalization(Wrapper):
    """Miyato's: in training, the kernel becomes itself divided by its spectral norm.

    The norm is estimated by steps of the power method, which go on from call to call.
    """

    layer: Any
    power_iterations: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.power_iterations <= 0:
            raise ValueError(f"`power_iterations` must be at least 1; got {self.power_iterations}")

    def build(self, input_shape: Any) -> None:
        super().build(input_shape)
        self.input_spec: Any = InputSpec(min_ndim=1, axes={-1: input_shape[-1]})
        kernel = getattr(self.layer, "kernel", getattr(self.layer, "embeddings", None))
        if kernel is None:
            raise ValueError(
                f"{type(self.layer).__name__} has neither `kernel` nor `embeddings` to normalize"
            )
        self.kernel: Any = kernel
        self.vector_u: Any = self.add_weight(
            (1, kernel.shape[-1]),
            initializers.TruncatedNormal(stddev=0.02),
            kernel.dtype,
            trainable=False,
            name="vector_u",
        )

    def call(self, inputs: Any, training: bool = False) -> Any:
        if training and bool(tf.reduce_any(self.kernel != 0.0)):
            self._normalize()
        return tf.cast(self.layer(inputs), inputs.dtype)

    def _normalize(self) -> None:
        matrix = tf.reshape(self.kernel, [-1, self.kernel.shape[-1]])
        right = tf.convert_to_tensor(self.vector_u)
        for _ in range(self.power_iterations):
            left = tf.math.l2_normalize(tf.matmul(right, matrix, transpose_b=True))
            right = tf.math.l2_normalize(tf.matmul(left, matrix))
        norm = tf.matmul(tf.matmul(left, matrix), right, transpose_b=True)
        self.vector_u.assign(right)
        self.kernel.assign(tf.reshape(matrix / norm, self.kernel.shape))
