"""Hamiltonian Monte Carlo and Stein's gradient descent for a Bayesian logistic regression."""

import numpy as np
import tensorflow as tf

tf.random.set_seed(69)
rng = np.random.default_rng(69)
X = tf.constant(np.c_[np.ones(30), rng.normal(size=(30, 2))])
truth = np.array([0.5, 1.5, -1.0])
y = tf.constant((rng.uniform(size=30) < 1 / (1 + np.exp(-X.numpy() @ truth))).astype(float))


def log_posterior(w):
    logits = tf.linalg.matvec(X, w)
    likelihood = -tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(y, logits))
    return likelihood - 0.5 * tf.reduce_sum(w**2) / 4.0


@tf.function
def potential_gradient(w):
    with tf.GradientTape() as tape:
        tape.watch(w)
        u = -log_posterior(w)
    return u, tape.gradient(u, w)


def leapfrog(w, p, step, count):
    _, g = potential_gradient(w)
    p = p - 0.5 * step * g
    for i in range(count):
        w = w + step * p
        u, g = potential_gradient(w)
        p = p - (step if i < count - 1 else 0.5 * step) * g
    return w, p, u


w = tf.zeros(3, tf.float64)
u, _ = potential_gradient(w)
samples, accepted = [], 0
for iteration in range(12):
    p = tf.random.normal([3], dtype=tf.float64)
    before = u + 0.5 * tf.reduce_sum(p**2)
    new_w, new_p, new_u = leapfrog(w, p, 0.15, 6)
    after = new_u + 0.5 * tf.reduce_sum(new_p**2)
    if tf.math.log(tf.random.uniform([], dtype=tf.float64)) < before - after:
        w, u = new_w, new_u
        accepted += 1
    samples.append(w.numpy())


def svgd_kernel(theta):
    norms = tf.reduce_sum(theta**2, 1)
    pairwise = norms[:, None] - 2 * theta @ tf.transpose(theta) + norms[None]
    h = tf.stop_gradient(tf.reduce_mean(pairwise)) / np.log(theta.shape[0] + 1)
    return tf.exp(-pairwise / h)


particles = tf.Variable(rng.normal(size=(6, 3)))
for iteration in range(10):
    with tf.GradientTape() as tape:
        logp = tf.reduce_sum(tf.map_fn(log_posterior, particles))
    score = tape.gradient(logp, particles)
    with tf.GradientTape() as tape:
        kernel = svgd_kernel(particles)
        repulsion = -tf.reduce_sum(kernel)
    repulse = tape.gradient(repulsion, particles) / 2
    particles.assign_add(0.05 * (kernel @ score + repulse) / 6)

# Laplace's approximation
mode = tf.Variable(tf.zeros(3, tf.float64))
for _ in range(6):
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            value = log_posterior(mode)
        gradient = inner.gradient(value, mode)
    hessian = outer.jacobian(gradient, mode)
    mode.assign_sub(tf.linalg.solve(hessian, gradient[:, None])[:, 0])

results = {
    "samples": [s.tolist() for s in samples[::4]],
    "accepted": accepted,
    "particles": tf.reduce_mean(particles, axis=0).numpy().tolist(),
    "spread": tf.math.reduce_std(particles, axis=0).numpy().tolist(),
    "mode": mode.numpy().tolist(),
    "deviations": tf.sqrt(tf.linalg.diag_part(tf.linalg.inv(-hessian))).numpy().tolist(),
}
