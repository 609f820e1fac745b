"""Gaussian process regression: hyperparameters by the marginal likelihood, in logarithms."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(40)
X = np.sort(rng.uniform(-3, 3, (16, 1)), axis=0)
Y = np.sin(2 * X) + 0.1 * rng.normal(size=X.shape)
X_new = tf.constant(np.linspace(-3, 3, 5)[:, None])
X, Y = tf.constant(X), tf.constant(Y)


class GP(tf.Module):
    def __init__(self):
        super().__init__(name="gp")
        self.log_length = tf.Variable(0.0, dtype=tf.float64, name="log_length")
        self.log_amplitude = tf.Variable(0.0, dtype=tf.float64, name="log_amplitude")
        self.log_noise = tf.Variable(np.log(0.1), dtype=tf.float64, name="log_noise")

    def kernel(self, a, b):
        a, b = a / tf.exp(self.log_length), b / tf.exp(self.log_length)
        square = (
            tf.reduce_sum(a**2, 1)[:, None]
            + tf.reduce_sum(b**2, 1)[None, :]
            - 2 * tf.matmul(a, b, transpose_b=True)
        )
        return tf.exp(2 * self.log_amplitude) * tf.exp(-0.5 * tf.maximum(square, 0.0))

    def cholesky(self):
        noise = tf.exp(2 * self.log_noise) * tf.eye(len(X), dtype=tf.float64)
        return tf.linalg.cholesky(self.kernel(X, X) + noise)

    def nll(self):
        L = self.cholesky()
        alpha = tf.linalg.cholesky_solve(L, Y)
        quadratic = 0.5 * tf.reduce_sum(Y * alpha)
        log_det = tf.reduce_sum(tf.math.log(tf.linalg.diag_part(L)))
        return quadratic + log_det + 0.5 * len(X) * tf.math.log(tf.constant(2 * np.pi, tf.float64))

    def predict(self, points):
        L = self.cholesky()
        cross = self.kernel(X, points)
        v = tf.linalg.triangular_solve(L, cross, lower=True)
        w = tf.linalg.triangular_solve(L, Y)
        mean = tf.matmul(v, w, transpose_a=True)
        variance = tf.exp(2 * self.log_amplitude) - tf.reduce_sum(v**2, axis=0)
        return mean[:, 0], variance


gp = GP()
optimizer = tf.optimizers.Adam(learning_rate=0.1)
history = []
for step in range(25):
    with tf.GradientTape() as tape:
        loss = gp.nll()
    gradients = tape.gradient(loss, gp.trainable_variables)
    optimizer.apply_gradients(zip(gradients, gp.trainable_variables))
    history.append(float(loss))

with tf.GradientTape(persistent=True) as outer:
    with tf.GradientTape() as inner:
        loss = gp.nll()
    first = tf.stack(inner.gradient(loss, gp.trainable_variables))
curvature = tf.stack(outer.jacobian(first, gp.trainable_variables), axis=1)
deviations = tf.sqrt(tf.abs(tf.linalg.diag_part(tf.linalg.inv(curvature))))
with tf.GradientTape() as tape:
    tape.watch(X_new)
    mean, variance = gp.predict(X_new)
slope = tape.gradient(mean, X_new)

results = {
    "history": history[::6],
    "parameters": {v.name: float(v) for v in gp.trainable_variables},
    "gradient": first.numpy().tolist(),
    "curvature": curvature.numpy().tolist(),
    "deviations": deviations.numpy().tolist(),
    "mean": mean.numpy().tolist(),
    "variance": variance.numpy().tolist(),
    "slope": slope[:, 0].numpy().tolist(),
}
