"""Trust-region policy optimisation: Fisher products, conjugate gradients, a line search."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(71)
states = tf.constant(rng.normal(size=(20, 3)), tf.float64)
actions = tf.constant(rng.integers(0, 2, 20))
advantages = tf.constant(rng.normal(size=20))
shapes = [(3, 5), (5,), (5, 2), (2,)]
policy = [tf.Variable(rng.normal(0, 0.5, shape)) for shape in shapes]


def flatten(tensors):
    return tf.concat([tf.reshape(t, [-1]) for t in tensors], axis=0)


def assign(flat):
    start = 0
    for variable in policy:
        size = int(tf.size(variable))
        variable.assign(tf.reshape(flat[start : start + size], variable.shape))
        start += size


def log_probabilities():
    w1, b1, w2, b2 = policy
    return tf.nn.log_softmax(tf.tanh(states @ w1 + b1) @ w2 + b2)


def surrogate(old):
    taken = tf.gather(log_probabilities(), actions, axis=1, batch_dims=1)
    before = tf.gather(old, actions, axis=1, batch_dims=1)
    return tf.reduce_mean(tf.exp(taken - before) * advantages)


def kl(old):
    return tf.reduce_mean(tf.reduce_sum(tf.exp(old) * (old - log_probabilities()), axis=1))


def fisher_product(old, v, damping=0.01):
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            divergence = kl(old)
        gradient = flatten(inner.gradient(divergence, policy))
        product = tf.reduce_sum(gradient * v)
    return flatten(outer.gradient(product, policy)) + damping * v


def conjugate_gradient(apply, b, iterations=8):
    x, r, p = tf.zeros_like(b), b, b
    rr = tf.tensordot(r, r, 1)
    for _ in range(iterations):
        z = apply(p)
        alpha = rr / tf.tensordot(p, z, 1)
        x, r = x + alpha * p, r - alpha * z
        new = tf.tensordot(r, r, 1)
        if new < 1e-12:
            break
        p, rr = r + new / rr * p, new
    return x


history = []
for iteration in range(3):
    old = tf.stop_gradient(log_probabilities())
    with tf.GradientTape() as tape:
        objective = surrogate(old)
    g = flatten(tape.gradient(objective, policy))
    direction = conjugate_gradient(lambda v: fisher_product(old, v), g)
    quadratic = 0.5 * tf.tensordot(direction, fisher_product(old, direction), 1)
    step = direction * tf.sqrt(0.01 / quadratic)
    start, scale = flatten(policy), 1.0
    while True:
        assign(start + scale * step)
        if kl(old) <= 0.01 and surrogate(old) > objective:
            break
        scale *= 0.5
    history.append([float(objective), float(surrogate(old)), float(kl(old)), scale])

old = tf.stop_gradient(log_probabilities())
rows = tf.map_fn(lambda v: fisher_product(old, v, 0.0), tf.eye(5, 32, dtype=tf.float64))
results = {
    "history": history,
    "fisher": rows[:, :5].numpy().tolist(),
    "entropy": float(-tf.reduce_mean(tf.reduce_sum(tf.exp(old) * old, axis=1))),
    "policy": policy[3].numpy().tolist(),
}
