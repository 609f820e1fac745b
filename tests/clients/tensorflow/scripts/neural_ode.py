"""A neural ordinary differential equation: hand-written RK4, gradients through it and adjoints."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(36)
T, DT = 12, 0.1
true_A = tf.constant([[-0.1, 2.0], [-2.0, -0.1]], tf.float64)
W1 = tf.Variable(rng.normal(0, 0.5, (2, 10)), name="W1")
b1 = tf.Variable(np.zeros(10), name="b1")
W2 = tf.Variable(rng.normal(0, 0.3, (10, 2)), name="W2")
variables = [W1, b1, W2]


def dynamics(y, t):
    return tf.matmul(tf.tanh(tf.matmul(y, W1) + b1), W2)


def truth(y, t):
    return tf.matmul(y, true_A)


def rk4_step(func, y, t, dt):
    k1 = func(y, t)
    k2 = func(y + dt * k1 / 2.0, t + dt / 2.0)
    k3 = func(y + dt * k2 / 2.0, t + dt / 2.0)
    k4 = func(y + dt * k3, t + dt)
    return y + dt * (k1 + 2 * k2 + 2 * k3 + k4) / 6.0


def odeint(func, y0, steps):
    ys, t = [y0], tf.constant(0.0, tf.float64)
    for _ in range(steps):
        ys.append(rk4_step(func, ys[-1], t, DT))
        t += DT
    return tf.stack(ys)


y0 = tf.constant([[2.0, 0.0], [0.5, 1.0]], tf.float64)
target = odeint(truth, y0, T)
optimizer = tf.keras.optimizers.Adam(0.03)
losses = []
for step in range(12):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.abs(odeint(dynamics, y0, T) - target) ** 2)
    gradients = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(gradients, variables))
    losses.append(loss.numpy().item())


def adjoint_gradient(func, y_end, seed, steps):
    """The gradient by the adjoint equation, integrated backwards with vector-Jacobian products."""
    y, a = y_end, seed
    grads = [tf.zeros_like(v) for v in variables]
    for _ in range(steps * 8):
        with tf.GradientTape() as tape:
            tape.watch(y)
            f = func(y, None)
        parts = tape.gradient(f, [y, *variables], output_gradients=a)
        dt = DT / 8
        y, a = y - dt * f, a + dt * parts[0]
        grads = [g + dt * p for g, p in zip(grads, parts[1:])]
    return a, grads


with tf.GradientTape() as tape:
    tape.watch(y0)
    path = odeint(dynamics, y0, T)
    end_loss = tf.reduce_sum(path[-1] ** 2)
direct = tape.gradient(end_loss, [y0, *variables])
a, approximate = adjoint_gradient(dynamics, path[-1], 2 * path[-1], T)
with tf.GradientTape() as tape:  # how the end depends on the start
    tape.watch(y0)
    end = odeint(dynamics, y0, T)[-1]
sensitivity = tape.batch_jacobian(end, y0)

results = {
    "losses": losses,
    "end": path[-1].numpy().tolist(),
    "direct": direct[0].numpy().tolist(),
    "adjoint": a.numpy().tolist(),
    "parameters": float(tf.norm(direct[1] - approximate[0]) / tf.norm(direct[1])),
    "determinants": tf.linalg.det(sensitivity).numpy().tolist(),
}
