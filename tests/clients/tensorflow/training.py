"""A training of a small network with Adam, which tests interrupt."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradwire.tf as tf
import numpy as np

BATCH, INPUTS, CLASSES = 32, 784, 10


def perceptron(seed: int = 1) -> list[Any]:
    """The variables of 784-64-10."""
    rng = np.random.default_rng(seed)
    inner = rng.standard_normal((INPUTS, 64)) / np.sqrt(INPUTS)
    outer = rng.standard_normal((64, CLASSES)) / 8
    return [tf.Variable(each.astype(np.float32)) for each in (inner, outer)]


def batches() -> Iterator[tuple[Any, Any]]:
    """Endless random images and labels."""
    rng = np.random.default_rng(2)
    while True:
        images = rng.random((BATCH, INPUTS), np.float32)
        yield images, rng.integers(0, CLASSES, BATCH).astype(np.int32)


class Training:
    """Steps of Adam on the network; the losses so far."""

    def __init__(self) -> None:
        self.variables = perceptron()
        self.optimizer = tf.keras.optimizers.Adam(0.01)
        self.batches = batches()
        self.losses: list[float] = []

    def steps(self, count: int) -> list[float]:
        """Make steps; all losses."""
        for _ in range(count):
            images, labels = next(self.batches)
            with tf.GradientTape() as tape:
                hidden = tf.nn.relu(tf.constant(images) @ self.variables[0])
                scores = hidden @ self.variables[1]
                loss = tf.reduce_mean(
                    tf.nn.sparse_softmax_cross_entropy_with_logits(labels, scores)
                )
            gradients = tape.gradient(loss, self.variables)
            self.optimizer.apply_gradients(zip(gradients, self.variables, strict=True))
            self.losses.append(float(loss))
        return self.losses

    def weights(self) -> list[Any]:
        """What the variables are now."""
        return [variable.numpy() for variable in self.variables]
