"""Implicit differentiation: a fixed point and a ridge problem with gradients of their own."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(47)
W = tf.Variable(0.3 * rng.normal(size=(4, 4)), name="W")
u = tf.constant(rng.normal(size=4))


def cell(z, W):
    return tf.tanh(tf.linalg.matvec(W, z) + u)


@tf.custom_gradient
def fixed_point(W):
    z = tf.zeros(4, tf.float64)
    for _ in range(100):
        z = cell(z, W)

    def grad(upstream):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([z, W])
            f = cell(z, W)
        jacobian = tape.jacobian(f, z)
        adjoint = tf.linalg.solve(
            tf.eye(4, dtype=tf.float64) - tf.transpose(jacobian), upstream[:, None]
        )[:, 0]
        return tape.gradient(f, W, output_gradients=adjoint)

    return z, grad


def unrolled(W, steps=60):
    z = tf.zeros(4, tf.float64)
    for _ in range(steps):
        z = cell(z, W)
    return z


def gradient_of(function):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(function(W) ** 2)
    return loss, tape.gradient(loss, W)


loss, implicit = gradient_of(fixed_point)
_, explicit = gradient_of(unrolled)

# hyperparameter of ridge regression by the implicit function theorem
X, y = tf.constant(rng.normal(size=(20, 5))), tf.constant(rng.normal(size=20))
X_val, y_val = tf.constant(rng.normal(size=(10, 5))), tf.constant(rng.normal(size=10))


def inner_loss(w, log_lambda):
    residual = tf.linalg.matvec(X, w) - y
    return tf.reduce_sum(residual**2) + tf.exp(log_lambda) * tf.reduce_sum(w**2)


def solution(log_lambda):
    gram = tf.matmul(X, X, transpose_a=True) + tf.exp(log_lambda) * tf.eye(5, dtype=tf.float64)
    return tf.linalg.solve(gram, tf.linalg.matvec(X, y, transpose_a=True)[:, None])[:, 0]


def hypergradient(log_lambda):
    w = solution(log_lambda)
    with tf.GradientTape() as tape:
        tape.watch(w)
        outer = tf.reduce_mean((tf.linalg.matvec(X_val, w) - y_val) ** 2)
    v = tape.gradient(outer, w)
    with tf.GradientTape(persistent=True) as second:
        second.watch([w, log_lambda])
        with tf.GradientTape() as first:
            first.watch(w)
            inner = inner_loss(w, log_lambda)
        g = first.gradient(inner, w)
    hessian = second.jacobian(g, w)
    mixed = second.jacobian(g, log_lambda)
    return outer, -tf.reduce_sum(mixed * tf.linalg.solve(hessian, v[:, None])[:, 0])


log_lambda = tf.Variable(0.0, dtype=tf.float64)
path = []
for _ in range(5):
    point = tf.identity(log_lambda)
    outer, hyper = hypergradient(point)
    with tf.GradientTape() as tape:
        tape.watch(point)
        w = solution(point)
        direct_loss = tf.reduce_mean((tf.linalg.matvec(X_val, w) - y_val) ** 2)
    direct = tape.gradient(direct_loss, point)
    path.append([float(outer), float(hyper), float(direct)])
    log_lambda.assign_sub(5.0 * hyper)

results = {
    "loss": float(loss),
    "implicit": implicit[0].numpy().tolist(),
    "gap": bool(tf.reduce_max(tf.abs(implicit - explicit)) < 1e-9),
    "path": path,
    "log_lambda": float(log_lambda),
}
