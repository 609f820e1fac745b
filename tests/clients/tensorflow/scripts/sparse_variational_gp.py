"""Sparse variational GP with inducing points, full covariance by a lower triangle, ELBO by hand."""

import numpy as np
import tensorflow as tf

tf.random.set_seed(0)
np.random.seed(0)
dtype = tf.float64
X = np.sort(np.random.rand(15, 1) * 6, 0)
Y = np.sin(X) + 0.1 * np.random.randn(15, 1)
Z = tf.Variable(np.linspace(0, 6, 5)[:, None], dtype=dtype)
m = tf.Variable(np.zeros((5, 1)), dtype=dtype)
Lraw = tf.Variable(np.eye(5), dtype=dtype)


class Positive:
    def __init__(self, v):
        self.raw = tf.Variable(np.log(np.expm1(v)), dtype=dtype)

    def __call__(self):
        return tf.nn.softplus(self.raw) + 1e-6


ls, var, noise = Positive(1.0), Positive(1.0), Positive(0.1)


def kernel(a, b):
    d = (
        tf.reduce_sum(a**2, 1)[:, None]
        + tf.reduce_sum(b**2, 1)[None]
        - 2 * tf.matmul(a, b, transpose_b=True)
    )
    return var() * tf.exp(-0.5 * tf.maximum(d, 0.0) / ls() ** 2)


def elbo():
    Kzz = kernel(Z, Z) + 1e-6 * tf.eye(5, dtype=dtype)
    Kzx = kernel(Z, tf.constant(X))
    L = tf.linalg.cholesky(Kzz)
    A = tf.linalg.triangular_solve(L, Kzx, lower=True)
    Lq = tf.linalg.set_diag(tf.linalg.band_part(Lraw, -1, 0), tf.exp(tf.linalg.diag_part(Lraw) - 1))
    mean = tf.matmul(A, m, transpose_a=True)
    S = tf.matmul(tf.transpose(A), Lq)
    v = var() - tf.reduce_sum(A**2, 0) + tf.reduce_sum(S**2, 1)
    lik = (
        -0.5 * np.log(2 * np.pi)
        - 0.5 * tf.math.log(noise())
        - 0.5 * ((Y - mean)[:, 0] ** 2 + v) / noise()
    )
    kl = 0.5 * (
        tf.reduce_sum(m**2)
        + tf.linalg.trace(tf.matmul(Lq, Lq, transpose_b=True))
        - 5
        - 2 * tf.reduce_sum(tf.math.log(tf.linalg.diag_part(Lq)))
    )
    return tf.reduce_sum(lik) - kl


params = [Z, m, Lraw, ls.raw, var.raw, noise.raw]
opt = tf.keras.optimizers.Adam(0.05)
hist = []
for i in range(12):
    with tf.GradientTape() as tape:
        tape.watch(params)
        loss = -elbo()
    grads = tape.gradient(loss, params)
    opt.apply_gradients([(g, p) for g, p in zip(grads, params)])
    hist.append(loss.numpy())
results = {
    "hist": [float(h) for h in hist],
    "Z": Z.numpy().ravel().tolist(),
    "hyper": [float(ls()), float(var()), float(noise())],
}
