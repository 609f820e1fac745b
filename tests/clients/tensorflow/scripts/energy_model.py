"""An energy-based model: Langevin samples with a replay buffer, contrastive divergence."""

import numpy as np
import tensorflow as tf

tf.random.set_seed(44)
rng = np.random.default_rng(44)
BATCH, LANGEVIN_STEPS, STEP = 16, 5, 0.05


class Swish(tf.keras.layers.Layer):
    def call(self, x):
        return x * tf.nn.sigmoid(x)


energy = tf.keras.Sequential(
    [
        tf.keras.layers.Dense(12, input_shape=(2,)),
        Swish(),
        tf.keras.layers.Dense(12),
        Swish(),
        tf.keras.layers.Dense(1),
    ]
)
energy.set_weights([rng.normal(0, 0.4, w.shape) for w in energy.get_weights()])


def langevin(x, steps=LANGEVIN_STEPS):
    for _ in tf.range(steps):
        with tf.GradientTape() as tape:
            tape.watch(x)
            e = energy(x)
        grad = tf.clip_by_value(tape.gradient(e, x), -1.0, 1.0)
        x = x - 0.5 * STEP * grad + tf.sqrt(STEP) * 0.3 * tf.random.normal(tf.shape(x))
        x = tf.clip_by_value(x, -3.0, 3.0)
    return tf.stop_gradient(x)


def real(count):
    centres = np.array([[1.5, 0.0], [-1.5, 0.5]])[rng.integers(0, 2, count)]
    return tf.constant(centres + 0.2 * rng.normal(size=(count, 2)), tf.float32)


buffer = tf.Variable(tf.random.uniform((32, 2), -1.0, 1.0))
optimizer = tf.keras.optimizers.Adam(0.01, beta_1=0.0)
history = []
for step in range(8):
    rows = tf.constant(rng.choice(32, BATCH, replace=False), tf.int32)
    negative = langevin(tf.gather(buffer, rows))
    buffer.assign(tf.tensor_scatter_nd_update(buffer, rows[:, None], negative))
    positive = real(BATCH)
    with tf.GradientTape() as tape:
        e_pos, e_neg = energy(positive, training=True), energy(negative, training=True)
        divergence = tf.reduce_mean(e_pos) - tf.reduce_mean(e_neg)
        penalty = 0.1 * tf.reduce_mean(e_pos**2 + e_neg**2)
        loss = divergence + penalty
    grads = tape.gradient(loss, energy.trainable_variables)
    optimizer.apply_gradients(zip(grads, energy.trainable_variables))
    history.append([float(divergence), float(penalty)])

grid = tf.stack(tf.meshgrid(tf.linspace(-2.0, 2.0, 4), tf.linspace(-1.0, 1.0, 3)), axis=-1)
flat = tf.reshape(grid, (-1, 2))
log_z = tf.reduce_logsumexp(-energy(flat))
with tf.GradientTape() as tape:
    tape.watch(flat)
    e = energy(flat)
force = -tape.gradient(e, flat)

results = {
    "history": history,
    "log_z": float(log_z),
    "energies": tf.reshape(energy(flat), (3, 4))[1].numpy().tolist(),
    "force": force[5].numpy().tolist(),
    "buffer": tf.reduce_mean(buffer, axis=0).numpy().tolist(),
    "spread": tf.math.reduce_std(buffer, axis=0).numpy().tolist(),
}
