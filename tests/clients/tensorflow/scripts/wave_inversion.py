"""A wave simulated by convolutions, its initial state found by gradients; a registered image."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(70)
N, STEPS = 10, 8
laplace = tf.reshape(
    tf.constant([[0.5, 1.0, 0.5], [1.0, -6.0, 1.0], [0.5, 1.0, 0.5]]), (3, 3, 1, 1)
)


@tf.function
def simulate(u, speed):
    u, ut = u[None, :, :, None], tf.zeros((1, N, N, 1))
    frames = tf.TensorArray(tf.float32, size=STEPS)
    for t in tf.range(STEPS):
        padded = tf.pad(u, [[0, 0], [1, 1], [1, 1], [0, 0]], mode="SYMMETRIC")
        acceleration = speed * tf.nn.conv2d(padded, laplace, strides=1, padding="VALID")
        ut = ut + 0.2 * (acceleration - 0.1 * ut)
        u = u + 0.2 * ut
        frames = frames.write(t, u[0, :, :, 0])
    return frames.stack()


truth = np.zeros((N, N), np.float32)
truth[3:5, 6:8] = 1.0
observed = simulate(tf.constant(truth), tf.constant(1.0))[:, ::3, ::3]
guess, log_speed = tf.Variable(tf.zeros((N, N))), tf.Variable(-0.3)
optimizer = tf.keras.optimizers.Adam(0.05)
losses = []
for step in range(12):
    with tf.GradientTape() as tape:
        seen = simulate(tf.convert_to_tensor(guess), tf.exp(log_speed))[:, ::3, ::3]
        loss = tf.reduce_sum((seen - observed) ** 2) + 1e-3 * tf.reduce_sum(guess**2)
    gradients = tape.gradient(loss, [guess, log_speed])
    optimizer.apply_gradients(zip(gradients, [guess, log_speed]))
    losses.append(float(loss))


def bilinear(image, points):
    """Values of an image between its pixels, by four gathers."""
    floor = tf.clip_by_value(tf.floor(points), 0.0, N - 2.0)
    weight = points - floor
    low = tf.cast(floor, tf.int32)
    corners = [tf.gather_nd(image, low + [i, j]) for i in (0, 1) for j in (0, 1)]
    wy, wx = weight[..., 0], weight[..., 1]
    top = corners[0] * (1 - wx) + corners[1] * wx
    bottom = corners[2] * (1 - wx) + corners[3] * wx
    return top * (1 - wy) + bottom * wy


rows, columns = tf.meshgrid(
    tf.range(N, dtype=tf.float32), tf.range(N, dtype=tf.float32), indexing="ij"
)
grid = tf.stack([rows, columns], axis=-1)
blob = tf.exp(-((rows - 4.3) ** 2 + (columns - 5.2) ** 2) / 6)
moved = tf.exp(-((rows - 5.0) ** 2 + (columns - 4.6) ** 2) / 6)
shift, angle = tf.Variable([0.0, 0.0]), tf.Variable(0.0)
registration = []
for step in range(8):
    with tf.GradientTape() as tape:
        rotation = tf.stack([[tf.cos(angle), -tf.sin(angle)], [tf.sin(angle), tf.cos(angle)]])
        centred = tf.einsum("ijk,lk->ijl", grid - N / 2, rotation) + N / 2
        mismatch = tf.reduce_sum((bilinear(blob, centred + shift) - moved) ** 2)
    by_shift, by_angle = tape.gradient(mismatch, [shift, angle])
    shift.assign_sub(0.2 * by_shift)
    angle.assign_sub(0.01 * by_angle)
    registration.append(float(mismatch))

results = {
    "losses": losses[::3],
    "speed": float(tf.exp(log_speed)),
    "guess": guess[4].numpy().tolist(),
    "registration": registration,
    "shift": shift.numpy().tolist(),
    "angle": float(angle),
}
