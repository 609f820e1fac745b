"""A damped oscillator found by a network and by an unknown friction: an inverse problem."""

import numpy as np
import tensorflow as tf

tf.random.set_seed(123)
MASS, STIFFNESS, TRUE_MU = 1.0, 9.0, 0.8


def oscillator(d, w0, t):
    w = np.sqrt(w0**2 - d**2)
    phi = np.arctan(-d / w)
    amplitude = 1 / (2 * np.cos(phi))
    return np.exp(-d * t) * 2 * amplitude * np.cos(phi + w * t)


t_data = np.linspace(0, 1, 12).astype(np.float32).reshape(-1, 1)
x_data = oscillator(TRUE_MU / 2, np.sqrt(STIFFNESS), t_data).astype(np.float32)
t_physics = tf.reshape(tf.linspace(0.0, 1.0, 20), (-1, 1))

weights = {
    "h1": tf.Variable(tf.random.normal([1, 16], stddev=1.0)),
    "h2": tf.Variable(tf.random.normal([16, 16], stddev=0.3)),
    "out": tf.Variable(tf.random.normal([16, 1], stddev=0.3)),
}
biases = {
    "h1": tf.Variable(tf.random.normal([16], stddev=0.5)),
    "h2": tf.Variable(tf.zeros([16])),
    "out": tf.Variable(tf.zeros([1])),
}
mu = tf.Variable(0.2, name="mu")


def u_net(t):
    layer_1 = tf.sin(tf.add(tf.matmul(t, weights["h1"]), biases["h1"]))
    layer_2 = tf.nn.tanh(tf.add(tf.matmul(layer_1, weights["h2"]), biases["h2"]))
    return tf.matmul(layer_2, weights["out"]) + biases["out"]


def residual(t):
    with tf.GradientTape() as g2:
        g2.watch(t)
        with tf.GradientTape() as g:
            g.watch(t)
            x = u_net(t)
        x_t = g.gradient(x, t)
    x_tt = g2.gradient(x_t, t)
    return MASS * x_tt + mu * x_t + STIFFNESS * x


def custom_loss():
    data_loss = tf.reduce_mean(tf.square(u_net(t_data) - x_data))
    physics_loss = tf.reduce_mean(tf.square(residual(t_physics)))
    return data_loss + 1e-3 * physics_loss, physics_loss


trainable = list(weights.values()) + list(biases.values()) + [mu]
optimizer = tf.optimizers.Adam(learning_rate=0.02)
history = []
for step in range(40):
    with tf.GradientTape() as tape:
        loss, physics = custom_loss()
    gradients = tape.gradient(loss, trainable)
    optimizer.apply_gradients(zip(gradients, trainable))
    if step % 8 == 0:
        history.append([loss.numpy().item(), physics.numpy().item(), mu.numpy().item()])

# energy and its rate at one time, third derivatives included
t = tf.constant([[0.3]])
with tf.GradientTape() as g3:
    g3.watch(t)
    with tf.GradientTape() as g2:
        g2.watch(t)
        with tf.GradientTape() as g1:
            g1.watch(t)
            x = u_net(t)
        v = g1.gradient(x, t)
    a = g2.gradient(v, t)
jerk = g3.gradient(a, t)

results = {
    "history": history,
    "motion": [float(tf.squeeze(each)) for each in (x, v, a, jerk)],
    "fit": float(tf.reduce_max(tf.abs(u_net(t_data) - x_data))),
}
