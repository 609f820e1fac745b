"""MAML on sinusoids: inner gradient steps on the tape, a second-order outer gradient."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(21)
INNER_LR, OUTER_LR, INNER_STEPS, TASKS, SHOTS = 0.05, 0.01, 2, 3, 6


def initial_weights():
    shapes = [(1, 12), (12,), (12, 12), (12,), (12, 1), (1,)]
    return [
        tf.Variable(tf.constant(rng.normal(0, 1 / np.sqrt(shape[0]), shape), tf.float32))
        if len(shape) > 1
        else tf.Variable(tf.zeros(shape))
        for shape in shapes
    ]


def forward(weights, x):
    w1, b1, w2, b2, w3, b3 = weights
    h = tf.nn.relu(x @ w1 + b1)
    h = tf.nn.tanh(h @ w2 + b2)
    return h @ w3 + b3


def mse(weights, x, y):
    return tf.keras.losses.MeanSquaredError()(y, forward(weights, x))


def task():
    amplitude, phase = rng.uniform(0.5, 2.0), rng.uniform(0, np.pi)
    x = rng.uniform(-3, 3, (2 * SHOTS, 1)).astype(np.float32)
    y = (amplitude * np.sin(x + phase)).astype(np.float32)
    return x[:SHOTS], y[:SHOTS], x[SHOTS:], y[SHOTS:]


def adapt(weights, x, y, first_order=False):
    fast = list(weights)
    for _ in range(INNER_STEPS):
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(fast)
            loss = mse(fast, x, y)
        gradients = tape.gradient(loss, fast)
        if first_order:
            gradients = [tf.stop_gradient(g) for g in gradients]
        fast = [w - INNER_LR * g for w, g in zip(fast, gradients)]
    return fast


def meta_gradient(weights, tasks, first_order=False):
    with tf.GradientTape() as outer_tape:
        losses = []
        for x_s, y_s, x_q, y_q in tasks:
            fast = adapt(weights, x_s, y_s, first_order)
            losses.append(mse(fast, x_q, y_q))
        meta_loss = tf.add_n(losses) / len(losses)
    return meta_loss, outer_tape.gradient(meta_loss, weights)


weights = initial_weights()
optimizer = tf.keras.optimizers.Adam(OUTER_LR)
tasks = [task() for _ in range(TASKS)]
_, second = meta_gradient(weights, tasks)
_, first = meta_gradient(weights, tasks, first_order=True)
gap = tf.linalg.global_norm([a - b for a, b in zip(second, first)])
losses = []
for iteration in range(8):
    meta_loss, gradients = meta_gradient(weights, [task() for _ in range(TASKS)])
    optimizer.apply_gradients(zip(gradients, weights))
    losses.append(float(meta_loss))

x_s, y_s, x_q, y_q = task()
results = {
    "losses": losses,
    "second_order_norm": float(tf.linalg.global_norm(second)),
    "first_order_norm": float(tf.linalg.global_norm(first)),
    "gap": float(gap),
    "before": float(mse(weights, x_q, y_q)),
    "after": float(mse(adapt(weights, x_s, y_s), x_q, y_q)),
    "last_bias": weights[-1].numpy().tolist(),
}
