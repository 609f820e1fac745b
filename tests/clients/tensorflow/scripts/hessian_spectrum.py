"""The Hessian of a small network: its spectrum, products with vectors, power iteration."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(37)
x = tf.constant(rng.normal(size=(20, 3)), tf.float64)
y = tf.constant(rng.integers(0, 2, 20), tf.int64)
theta = tf.Variable(rng.normal(0, 0.5, 3 * 4 + 4 + 4 * 2 + 2))


def forward(theta):
    w1, b1, w2, b2 = tf.split(theta, [12, 4, 8, 2])
    hidden = tf.nn.softplus(x @ tf.reshape(w1, (3, 4)) + b1)
    return hidden @ tf.reshape(w2, (4, 2)) + b2


def loss_fn():
    return tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=forward(theta))
    )


def hessian():
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            loss = loss_fn()
        gradient = inner.gradient(loss, theta)
    return outer.jacobian(gradient, theta)


def hvp_back_over_back(v):
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            loss = loss_fn()
        gradient = inner.gradient(loss, theta)
    return outer.gradient(gradient, theta, output_gradients=v)


def hvp_forward_over_back(v):
    with tf.autodiff.ForwardAccumulator(theta, v) as acc:
        with tf.GradientTape() as tape:
            loss = loss_fn()
        gradient = tape.gradient(loss, theta)
    return acc.jvp(gradient)


def gauss_newton():
    with tf.GradientTape() as tape:
        logits = forward(theta)
    jacobian = tape.jacobian(logits, theta)
    p = tf.nn.softmax(logits)
    middle = tf.linalg.diag(p) - p[:, :, None] * p[:, None, :]
    return tf.einsum("nci,ncd,ndj->ij", jacobian, middle, jacobian) / len(x)


H = hessian()
eigenvalues, eigenvectors = tf.linalg.eigh((H + tf.transpose(H)) / 2)
v = tf.constant(rng.normal(size=26))
v /= tf.norm(v)
products = [hvp_back_over_back(v), hvp_forward_over_back(v), tf.linalg.matvec(H, v)]
for _ in range(30):
    v = hvp_back_over_back(v)
    v = v / tf.norm(v)
top = tf.tensordot(v, hvp_back_over_back(v), 1)

probes = tf.constant(rng.choice([-1.0, 1.0], (10, 26)))  # Hutchinson's estimate of the trace
trace = tf.reduce_mean([tf.reduce_sum(p * hvp_forward_over_back(p)) for p in probes])
G = gauss_newton()
cholesky = tf.linalg.cholesky(G + 1e-3 * tf.eye(26, dtype=tf.float64))

results = {
    "largest": eigenvalues[-5:].numpy().tolist(),
    "smallest": float(eigenvalues[0]),
    "negative": int(tf.reduce_sum(tf.cast(eigenvalues < -1e-8, tf.int32))),
    "products": [p[:4].numpy().tolist() for p in products],
    "top": float(top),
    "trace": [float(tf.linalg.trace(H)), float(trace)],
    "gauss_newton": float(tf.linalg.trace(G)),
    "log_det": float(2 * tf.reduce_sum(tf.math.log(tf.linalg.diag_part(cholesky)))),
    "gap": float(tf.norm(H - G)),
}
