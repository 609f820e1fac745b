"""A Kalman filter in a loop of tensors: the likelihood's gradient in the noise, and smoothing."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(41)
STEPS = 15
F = tf.constant([[1.0, 0.1], [0.0, 1.0]], tf.float64)
H = tf.constant([[1.0, 0.0]], tf.float64)
position = np.cumsum(0.1 * np.cumsum(0.3 * rng.normal(size=STEPS)))
observed = tf.constant((position + 0.2 * rng.normal(size=STEPS))[:, None])
log_q = tf.Variable(-2.0, dtype=tf.float64)
log_r = tf.Variable(-1.0, dtype=tf.float64)


@tf.function
def kalman(observed):
    q, r = tf.exp(log_q), tf.exp(log_r)
    Q = q * tf.constant([[0.0025, 0.005], [0.005, 0.01]], tf.float64)
    mean = tf.zeros((2, 1), tf.float64)
    cov = tf.eye(2, dtype=tf.float64)
    total = tf.constant(0.0, tf.float64)
    means = tf.TensorArray(tf.float64, size=STEPS, clear_after_read=False)
    covs = tf.TensorArray(tf.float64, size=STEPS, clear_after_read=False)
    for t in tf.range(STEPS):
        mean = F @ mean
        cov = F @ cov @ tf.transpose(F) + Q
        innovation = observed[t][:, None] - H @ mean
        S = H @ cov @ tf.transpose(H) + r
        gain = cov @ tf.transpose(H) / S
        mean = mean + gain @ innovation
        cov = (tf.eye(2, dtype=tf.float64) - gain @ H) @ cov
        total += -0.5 * tf.squeeze(innovation**2 / S + tf.math.log(2.0 * np.pi * S))
        means = means.write(t, mean[:, 0])
        covs = covs.write(t, cov)
    return total, means.stack(), covs.stack(), Q


def smoother(means, covs, Q):
    smoothed = [means[-1][:, None]]
    for t in reversed(range(STEPS - 1)):
        predicted = F @ covs[t] @ tf.transpose(F) + Q
        gain = tf.transpose(tf.linalg.solve(predicted, F @ covs[t]))
        mean = means[t][:, None]
        smoothed.append(mean + gain @ (smoothed[-1] - F @ mean))
    return tf.stack(smoothed[::-1])[:, :, 0]


optimizer = tf.keras.optimizers.SGD(0.05)
history = []
for step in range(6):
    with tf.GradientTape() as tape:
        log_likelihood, means, covs, Q = kalman(observed)
        loss = -log_likelihood
    gradients = tape.gradient(loss, [log_q, log_r])
    optimizer.apply_gradients(zip(gradients, [log_q, log_r]))
    history.append([float(loss), *(float(g) for g in gradients)])

with tf.GradientTape() as tape:
    tape.watch(observed)
    _, means, covs, Q = kalman(observed)
    last = smoother(means, covs, Q)[0, 0]
influence = tape.gradient(last, observed)

results = {
    "history": history,
    "means": means[-1].numpy().tolist(),
    "covariance": covs[-1].numpy().tolist(),
    "smoothed": float(last),
    "influence": influence[:5, 0].numpy().tolist(),
}
