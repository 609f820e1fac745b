"""L-BFGS by hand: two loops over remembered steps, flattened variables and an Armijo search."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(39)
x = tf.constant(rng.normal(size=(30, 4)))
y = tf.constant(np.sin(rng.normal(size=(30, 1)) * 0.1 + x.numpy()[:, :1]) * 2.0)
shapes = [(4, 6), (6,), (6, 1), (1,)]
weights = [tf.Variable(rng.normal(0, 0.4, shape), dtype=tf.float64) for shape in shapes]


def function_factory(weights, loss):
    """A function of one flat vector that returns the loss and its flat gradient."""
    n_tensors = len(shapes)
    count, idx, part = 0, [], []
    for i, shape in enumerate(shapes):
        n = int(np.prod(shape))
        idx.append(tf.reshape(tf.range(count, count + n, dtype=tf.int32), shape))
        part.extend([i] * n)
        count += n
    part = tf.constant(part)

    def assign_new_model_parameters(params_1d):
        params = tf.dynamic_partition(params_1d, part, n_tensors)
        for i, (shape, param) in enumerate(zip(shapes, params)):
            weights[i].assign(tf.reshape(param, shape))

    def f(params_1d):
        with tf.GradientTape() as tape:
            assign_new_model_parameters(params_1d)
            loss_value = loss(weights)
        grads = tape.gradient(loss_value, weights)
        grads = tf.dynamic_stitch(idx, grads)
        f.iter.assign_add(1)
        return loss_value, grads

    f.iter = tf.Variable(0)
    f.idx = idx
    return f


def loss(weights):
    w1, b1, w2, b2 = weights
    hidden = tf.math.sigmoid(x @ w1 + b1)
    penalty = 1e-3 * (tf.nn.l2_loss(w1) + tf.nn.l2_loss(w2))
    return tf.reduce_mean((hidden @ w2 + b2 - y) ** 2) + penalty


def direction(gradient, memory):
    q, alphas = gradient, []
    for s, z, rho in reversed(memory):
        alpha = rho * tf.reduce_sum(s * q)
        q = q - alpha * z
        alphas.append(alpha)
    if memory:
        s, z, _ = memory[-1]
        q = q * tf.reduce_sum(s * z) / tf.reduce_sum(z * z)
    for (s, z, rho), alpha in zip(memory, reversed(alphas)):
        q = q + s * (alpha - rho * tf.reduce_sum(z * q))
    return -q


func = function_factory(weights, loss)
position = tf.dynamic_stitch(func.idx, [w.read_value() for w in weights])
value, gradient = func(position)
memory, history = [], [value.numpy().item()]
for iteration in range(10):
    d = direction(gradient, memory[-4:])
    slope, t = tf.reduce_sum(gradient * d), 1.0 if memory else 0.3
    for _ in range(10):
        new_value, new_gradient = func(position + t * d)
        if new_value <= value + 1e-4 * t * slope:
            break
        t *= 0.5
    s, z = t * d, new_gradient - gradient
    curvature = tf.reduce_sum(s * z)
    if curvature > 1e-10:
        memory.append((s, z, 1.0 / curvature))
    position, value, gradient = position + t * d, new_value, new_gradient
    history.append(value.numpy().item())

results = {
    "history": history,
    "evaluations": int(func.iter),
    "gradient": float(tf.norm(gradient)),
    "position": position[:5].numpy().tolist(),
    "offset": weights[-1].numpy().tolist(),
}
