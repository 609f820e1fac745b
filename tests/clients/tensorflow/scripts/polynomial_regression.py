"""Polynomial regression in float64: ridge by Adam beside the closed form, degrees compared."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(7)
x = np.sort(rng.uniform(-1.0, 1.0, 40))
y = np.sin(3 * x) + 0.1 * rng.normal(size=40)
x_train, y_train = tf.constant(x[::2]), tf.constant(y[::2])
x_test, y_test = tf.constant(x[1::2]), tf.constant(y[1::2])


def design(inputs, degree):
    powers = tf.range(degree + 1, dtype=tf.float64)
    return tf.pow(inputs[:, tf.newaxis], powers[tf.newaxis, :])


def mse(coefficients, inputs, outputs):
    fitted = tf.linalg.matvec(design(inputs, coefficients.shape[0] - 1), coefficients)
    return tf.reduce_mean(tf.square(fitted - outputs))


def closed_form(degree, penalty):
    matrix = design(x_train, degree)
    normal = tf.matmul(matrix, matrix, transpose_a=True) + penalty * len(x_train) * tf.eye(
        degree + 1, dtype=tf.float64
    )
    moment = tf.linalg.matvec(matrix, y_train, transpose_a=True)
    return tf.squeeze(tf.linalg.solve(normal, moment[:, None]), axis=1)


def by_gradient(degree, penalty, steps=60):
    coefficients = tf.Variable(tf.zeros(degree + 1, tf.float64), name="coefficients")
    optimizer = tf.keras.optimizers.Adam(learning_rate=0.1)
    history = []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = mse(coefficients, x_train, y_train)
            loss += penalty * tf.reduce_sum(coefficients**2)
        gradient = tape.gradient(loss, coefficients)
        optimizer.apply_gradients([(gradient, coefficients)])
        history.append(loss.numpy())
    return coefficients, history


exact = {degree: closed_form(degree, 1e-3) for degree in (1, 3, 5)}
fitted, history = by_gradient(3, 1e-3)
with tf.GradientTape() as tape:
    tape.watch(exact[3])
    objective = mse(exact[3], x_train, y_train) + 1e-3 * tf.reduce_sum(exact[3] ** 2)
stationary = tape.gradient(objective, exact[3])

results = {
    "train": {str(d): float(mse(c, x_train, y_train)) for d, c in exact.items()},
    "test": {str(d): float(mse(c, x_test, y_test)) for d, c in exact.items()},
    "cubic": exact[3].numpy().tolist(),
    "by_gradient": fitted.numpy().tolist(),
    "history": [float(history[i]) for i in (0, 10, 59)],
    "stationary": bool(tf.reduce_max(tf.abs(stationary)) < 1e-12),
    "best": int(min(exact, key=lambda d: float(mse(exact[d], x_test, y_test)))),
}
