"""Optimal transport: Sinkhorn's iterations in logarithms within tf.while_loop, and gradients."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(65)
x = tf.Variable(rng.normal(size=(6, 2)))
y = tf.constant(rng.normal(size=(8, 2)) + [2.0, 0.0])
log_b = tf.fill([8], tf.math.log(tf.constant(1 / 8, tf.float64)))
logits = tf.Variable(tf.zeros(6, tf.float64))
EPSILON = 0.5


def cost_matrix(x, y):
    return tf.reduce_sum((x[:, None, :] - y[None, :, :]) ** 2, axis=-1)


def sinkhorn(x, y, log_a, iterations=20):
    cost = cost_matrix(x, y)

    def body(i, f, g):
        g = EPSILON * (log_b - tf.reduce_logsumexp((f[:, None] - cost) / EPSILON, axis=0))
        f = EPSILON * (log_a - tf.reduce_logsumexp((g[None, :] - cost) / EPSILON, axis=1))
        return i + 1, f, g

    start = (tf.constant(0), tf.zeros_like(log_a), tf.zeros_like(log_b))
    _, f, g = tf.while_loop(lambda i, f, g: i < iterations, body, start)
    plan = tf.exp((f[:, None] + g[None, :] - cost) / EPSILON)
    return tf.reduce_sum(plan * cost), plan


optimizer = tf.keras.optimizers.SGD(0.5)
history = []
for step in range(8):
    with tf.GradientTape() as tape:
        value, plan = sinkhorn(x, y, tf.nn.log_softmax(logits))
    gradients = tape.gradient(value, [x, logits])
    optimizer.apply_gradients(zip(gradients, [x, logits]))
    history.append([float(value), float(tf.norm(gradients[0])), float(tf.norm(gradients[1]))])


@tf.function
def soft_rank(values, temperature):
    pairwise = tf.sigmoid((values[None, :] - values[:, None]) / temperature)
    return 0.5 + tf.reduce_sum(pairwise, axis=1)


def soft_dtw(a, b, gamma=0.3):
    """Soft dynamic time warping by a recursion over a table."""
    table = {(-1, -1): tf.constant(0.0, tf.float64)}
    huge = tf.constant(1e6, tf.float64)
    for i in range(len(a)):
        for j in range(len(b)):
            before = tf.stack(
                [table.get(k, huge) for k in ((i - 1, j), (i, j - 1), (i - 1, j - 1))]
            )
            softmin = -gamma * tf.reduce_logsumexp(-before / gamma)
            table[i, j] = (a[i] - b[j]) ** 2 + softmin
    return table[len(a) - 1, len(b) - 1]


series = tf.constant([0.0, 1.0, 2.0, 1.0], tf.float64)
other = tf.constant([0.0, 0.5, 2.0, 2.0, 1.0], tf.float64)
with tf.GradientTape(persistent=True) as tape:
    tape.watch(series)
    ranks = soft_rank(series * [1.0, 0.5, 0.2, 0.7], tf.constant(0.1, tf.float64))
    distance = soft_dtw(series, other)
slope = tape.gradient(distance, series)
rank_jacobian = tape.jacobian(ranks, series)

results = {
    "history": history,
    "x": x.numpy().tolist(),
    "marginals": [
        float(
            tf.reduce_max(
                tf.abs(tf.reduce_sum(plan, axis=1) - tf.nn.softmax(tf.zeros(6, tf.float64)))
            )
        ),
        float(tf.reduce_sum(plan)),
    ],
    "distance": float(distance),
    "slope": slope.numpy().tolist(),
    "ranks": ranks.numpy().tolist(),
    "jacobian": rank_jacobian.numpy().tolist(),
}
