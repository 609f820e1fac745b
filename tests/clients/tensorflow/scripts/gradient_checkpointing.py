"""Gradient checkpointing of residual blocks, and its agreement with plain gradients."""

import numpy as np
import tensorflow as tf

np.random.seed(0)
ws = [tf.Variable(np.random.randn(4, 4).astype(np.float32) * 0.5, name=f"w{i}") for i in range(4)]
b = tf.Variable(tf.zeros(4))


def make_block(w):
    @tf.recompute_grad
    def block(x):
        return x + tf.nn.gelu(x @ w + b)

    return block


blocks = [make_block(w) for w in ws]


def plain(x):
    for w in ws:
        x = x + tf.nn.gelu(x @ w + b)
    return x


x = tf.constant(np.random.randn(3, 4).astype(np.float32))
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    y = x
    for f in blocks:
        y = f(y)
    loss = tf.reduce_mean(tf.square(y))
    loss2 = tf.reduce_mean(tf.square(plain(x)))
g1 = tape.gradient(loss, ws + [b, x])
g2 = tape.gradient(loss2, ws + [b, x])
del tape


@tf.function
def graph():
    with tf.GradientTape() as tape:
        y = x
        for f in blocks:
            y = f(y)
        loss = tf.reduce_mean(y**2)
    return tape.gradient(loss, ws)


results = {
    "l": float(loss),
    "g": [v.numpy().ravel()[:4].tolist() for v in g1],
    "max": max(float(tf.reduce_max(tf.abs(a - c))) < 1e-5 for a, c in zip(g1, g2)),
    "gg": [float(tf.norm(v)) for v in graph()],
}
