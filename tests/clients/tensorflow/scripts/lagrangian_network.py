"""Lagrangian and Hamiltonian networks: accelerations by Hessians, conserved energies."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(72)
W1 = tf.Variable(rng.normal(0, 0.5, (2, 10)))
b1 = tf.Variable(rng.normal(0, 0.1, 10))
W2 = tf.Variable(rng.normal(0, 0.5, (10, 1)))
variables = [W1, b1, W2]


def lagrangian(state):
    q, v = state[:, :1], state[:, 1:]
    return 0.5 * v**2 + tf.math.softplus(state @ W1 + b1) @ W2 * 0.3 - 0.1 * q**2


def acceleration(state):
    """a = (d2L/dv2)^-1 (dL/dq - d2L/dqdv v), for one degree of freedom."""
    with tf.GradientTape() as outer:
        outer.watch(state)
        with tf.GradientTape() as inner:
            inner.watch(state)
            L = lagrangian(state)
        first = inner.gradient(L, state)
    second = outer.batch_jacobian(first, state)
    return (first[:, 0] - second[:, 1, 0] * state[:, 1]) / second[:, 1, 1]


def hamiltonian_field(state, params):
    with tf.GradientTape() as tape:
        tape.watch(state)
        H = tf.reduce_sum(tf.tanh(state @ params[0]) @ params[1], axis=1)
    dH = tape.gradient(H, state)
    return tf.stack([dH[:, 1], -dH[:, 0]], axis=1)


states = tf.constant(rng.uniform(-1, 1, (16, 2)))
pendulum = -tf.sin(states[:, 0])
optimizer = tf.keras.optimizers.Adam(0.02)
losses = []
for step in range(12):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((acceleration(states) - pendulum) ** 2)
    gradients = tape.gradient(loss, variables)
    optimizer.apply_gradients((g, v) for g, v in zip(gradients, variables) if g is not None)
    losses.append(float(loss))

params = [tf.Variable(rng.normal(0, 0.5, (2, 8))), tf.Variable(rng.normal(0, 0.5, (8, 1)))]
field = tf.stack([states[:, 1], pendulum], axis=1)
matching = []
for step in range(12):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((hamiltonian_field(states, params) - field) ** 2)
    for v, g in zip(params, tape.gradient(loss, params)):
        v.assign_sub(0.2 * g)
    matching.append(float(loss))

state = tf.constant([[0.8, 0.0]], tf.float64)
energies = []
for t in range(10):  # the midpoint rule
    middle = state + 0.05 * hamiltonian_field(state, params)
    state = state + 0.1 * hamiltonian_field(middle, params)
    energies.append(float((tf.tanh(state @ params[0]) @ params[1])[0, 0]))

with tf.GradientTape() as tape:
    tape.watch(states)
    flow = hamiltonian_field(states, params)
divergence = tf.linalg.trace(tape.batch_jacobian(flow, states))
results = {
    "losses": losses[::3],
    "matching": matching[::3],
    "energies": energies[::3],
    "state": state[0].numpy().tolist(),
    "divergence_free": bool(tf.reduce_max(tf.abs(divergence)) < 1e-12),
    "acceleration": acceleration(states)[:4].numpy().tolist(),
    "unconnected": [g is None for g in gradients],
}
