"""Newton's method by tapes: for roots, for minima with a line search, and Gauss-Newton fits."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(38)


def value_gradient_hessian(f, x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            value = f(x)
        gradient = inner.gradient(value, x)
    return value, gradient, outer.jacobian(gradient, x)


def rosenbrock(x):
    return tf.reduce_sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def minimise(f, x, steps):
    path = []
    for _ in range(steps):
        value, gradient, hessian = value_gradient_hessian(f, x)
        damping = tf.maximum(0.0, 1e-3 - tf.reduce_min(tf.linalg.eigvalsh(hessian)))
        step = tf.linalg.solve(
            hessian + damping * tf.eye(len(x), dtype=x.dtype), gradient[:, tf.newaxis]
        )[:, 0]
        t = 1.0
        while f(x - t * step) > value - 1e-4 * t * tf.tensordot(gradient, step, 1):
            t *= 0.5
        x = x - t * step
        path.append([value.numpy().item(), tf.norm(gradient).numpy().item(), t])
        if tf.norm(gradient) < 1e-9:
            break
    return x, path


def roots(f, x, steps=6):
    for _ in range(steps):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        x = x - tf.linalg.solve(tape.jacobian(y, x), y[:, None])[:, 0]
    return x, tf.norm(f(x))


def system(x):
    return tf.stack([x[0] ** 2 + x[1] ** 2 - 4.0, tf.exp(x[0]) + x[1] - 1.0])


times = tf.constant(np.linspace(0, 3, 15))
measured = tf.constant(2.5 * np.exp(-1.3 * times.numpy()) + 0.5 + 0.02 * rng.normal(size=15))


def residuals(p):
    return p[0] * tf.exp(-p[1] * times) + p[2] - measured


def gauss_newton(p, steps=6):
    for _ in range(steps):
        with tf.GradientTape() as tape:
            tape.watch(p)
            r = residuals(p)
        J = tape.jacobian(r, p)
        p = p - tf.linalg.lstsq(J, r[:, None], fast=False)[:, 0]
    covariance = tf.linalg.inv(tf.matmul(J, J, transpose_a=True)) * tf.reduce_sum(r**2) / 12.0
    return p, tf.sqrt(tf.linalg.diag_part(covariance))


minimum, path = minimise(rosenbrock, tf.constant([-1.2, 1.0, 0.7], tf.float64), 25)
root, distance = roots(system, tf.constant([1.0, -1.7], tf.float64))
fitted, errors = gauss_newton(tf.constant([1.0, 1.0, 0.0], tf.float64))

results = {
    "minimum": minimum.numpy().tolist(),
    "path": [path[i] for i in (0, 3, 6)],
    "steps": len(path),
    "root": root.numpy().tolist(),
    "converged": bool(distance < 1e-12),
    "fitted": fitted.numpy().tolist(),
    "errors": errors.numpy().tolist(),
}
