"""Meta-gradients: learning rates and initial weights learned through unrolled updates."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(48)
A = tf.constant(np.diag([1.0, 4.0, 0.5]) + 0.1 * np.ones((3, 3)), tf.float32)
start = tf.constant(rng.normal(size=3), tf.float32)


def objective(w):
    return 0.5 * tf.reduce_sum(w * tf.linalg.matvec(A, w))


def unroll(log_rates, momentum_logit, steps):
    w, velocity = start, tf.zeros(3)
    momentum = tf.sigmoid(momentum_logit)
    losses = []
    for t in range(steps):
        with tf.GradientTape() as tape:
            tape.watch(w)
            loss = objective(w)
        gradient = tape.gradient(loss, w)
        velocity = momentum * velocity - tf.exp(log_rates[t]) * gradient
        w = w + velocity
        losses.append(loss)
    return objective(w), losses


log_rates = tf.Variable(tf.fill([4], tf.math.log(0.05)), name="log_rates")
momentum_logit = tf.Variable(-1.0, name="momentum_logit")
meta_optimizer = tf.keras.optimizers.Adam(0.1)
history = []
for meta_step in range(10):
    with tf.GradientTape() as meta_tape:
        final, losses = unroll(log_rates, momentum_logit, 4)
        meta_loss = final + 0.1 * tf.add_n(losses)
    gradients = meta_tape.gradient(meta_loss, [log_rates, momentum_logit])
    meta_optimizer.apply_gradients(zip(gradients, [log_rates, momentum_logit]))
    history.append(float(meta_loss))

# hypergradient descent: the rate follows products of successive gradients
rate, w = tf.Variable(0.01), tf.Variable(start)
previous, rates = tf.zeros(3), []
for step in range(8):
    with tf.GradientTape() as tape:
        loss = objective(w)
    gradient = tape.gradient(loss, w)
    rate.assign_add(0.002 * tf.tensordot(gradient, previous, axes=1))
    w.assign_sub(rate * gradient)
    previous = gradient
    rates.append(float(rate))

# the derivative of one step in its rate, twice
alpha = tf.constant(0.1)
with tf.GradientTape() as outer:
    outer.watch(alpha)
    with tf.GradientTape() as middle:
        middle.watch(alpha)
        with tf.GradientTape() as inner:
            inner.watch(start)
            loss = objective(start)
        stepped = objective(start - alpha * inner.gradient(loss, start))
    slope = middle.gradient(stepped, alpha)
bend = outer.gradient(slope, alpha)

results = {
    "history": history,
    "rates": tf.exp(log_rates).numpy().tolist(),
    "momentum": float(tf.sigmoid(momentum_logit)),
    "hyper": rates,
    "slope": float(slope),
    "bend": float(bend),
    "best": float(alpha - slope / bend),
}
