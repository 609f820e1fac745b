"""Gradients of one's own: straight-through, reversal, clipped, recomputed and stable functions."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(50)


@tf.custom_gradient
def log1pexp(x):
    e = tf.exp(x)

    def grad(upstream):
        return upstream * (1 - 1 / (1 + e))

    return tf.math.log(1 + e), grad


@tf.custom_gradient
def straight_through(x):
    return tf.sign(x), lambda dy: dy * tf.cast(tf.abs(x) <= 1.0, tf.float32)


@tf.custom_gradient
def reversed_gradient(x):
    return tf.identity(x), lambda dy: -0.5 * dy


@tf.custom_gradient
def scaled_pair(x, y):
    def grad(dz, dw):
        return 2.0 * dz + dw, dz * y

    return (x + y, x * y), grad


def quantize(x, levels=4):
    rounded = tf.round(x * levels) / levels
    return x + tf.stop_gradient(rounded - x)


def gumbel_softmax(logits, temperature, noise):
    soft = tf.nn.softmax((logits + noise) / temperature)
    hard = tf.one_hot(tf.argmax(soft, axis=-1), soft.shape[-1])
    return tf.stop_gradient(hard - soft) + soft


class BinaryDense(tf.keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.units = units

    def build(self, input_shape):
        self.kernel = self.add_weight(
            shape=(input_shape[-1], self.units),
            initializer=lambda shape, dtype=None: tf.constant(rng.normal(size=shape), tf.float32),
            name="kernel",
        )

    def call(self, x):
        return tf.matmul(x, straight_through(tf.convert_to_tensor(self.kernel)))


def gradient(function, *values):
    sources = [tf.constant(v) for v in values]
    with tf.GradientTape() as tape:
        tape.watch(sources)
        y = function(*sources)
    return [None if g is None else g.numpy().tolist() for g in tape.gradient(y, sources)]


x = tf.constant(80.0)
with tf.GradientTape() as outer:
    outer.watch(x)
    with tf.GradientTape() as inner:
        inner.watch(x)
        y = log1pexp(x)
    stable = inner.gradient(y, x)
second = outer.gradient(stable, x)

inputs = tf.constant(rng.normal(size=(12, 4)), tf.float32)
targets = tf.sign(tf.reduce_sum(inputs, axis=1, keepdims=True))
layer, head = BinaryDense(3), tf.Variable([[0.5], [-0.3], [0.2]])
optimizer, losses = tf.keras.optimizers.Adam(0.05), []
for step in range(8):
    with tf.GradientTape() as tape:
        margin = targets * tf.matmul(tf.tanh(layer(inputs)), head)
        loss = tf.reduce_mean(tf.nn.relu(1.0 - margin))
    variables = [layer.kernel, head]
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    losses.append(float(loss))

recomputed = tf.recompute_grad(lambda v: tf.reduce_sum(tf.sin(v) ** 2))
noise = tf.constant([0.3, -0.1, 0.5])
results = {
    "stable": [float(y), float(stable), float(second)],
    "straight": gradient(straight_through, [0.5, -2.0, 1.0]),
    "reversed": gradient(lambda v: reversed_gradient(v) ** 2, [1.0, 3.0]),
    "pair": gradient(lambda a, b: scaled_pair(a, b)[0] ** 2, 1.0, 2.0),
    "second_output": gradient(lambda a, b: scaled_pair(a, b)[1], 1.0, 2.0),
    "quantized": gradient(lambda v: quantize(v) ** 2, [0.3, 0.9]),
    "gumbel": gradient(lambda v: gumbel_softmax(v, 0.5, noise) * [1.0, 2.0, 3.0], [0.1, 0.2, 0.3]),
    "recomputed": gradient(recomputed, [0.4, 1.1]),
    "losses": losses,
    "kernel": layer.kernel.numpy().tolist(),
}
