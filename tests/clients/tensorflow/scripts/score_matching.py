"""Score matching: by Hutchinson's slices, by denoising over noise levels, and annealed sampling."""

import numpy as np
import tensorflow as tf

tf.random.set_seed(45)
rng = np.random.default_rng(45)
sigmas = tf.exp(tf.linspace(tf.math.log(1.0), tf.math.log(0.1), 4))
samples = tf.constant(rng.normal(size=(32, 2)) * [1.0, 0.3] + [0.5, -0.5], tf.float32)


class ScoreNet(tf.keras.Model):
    def __init__(self, noise_levels):
        super().__init__()
        self.scale = self.add_weight(
            shape=(noise_levels, 12), initializer="ones", name="conditional_scale"
        )
        self.hidden = tf.keras.layers.Dense(12, activation="softplus")
        self.out = tf.keras.layers.Dense(2)

    def call(self, x, level=None):
        h = self.hidden(x)
        if level is not None:
            h = h * tf.gather(self.scale, level)
        return self.out(h)


model = ScoreNet(4)
model(samples[:1])
for layer in (model.hidden, model.out):
    layer.set_weights([rng.normal(0, 0.4, w.shape) for w in layer.get_weights()])


def denoising_loss(x, level, noise):
    sigma = tf.gather(sigmas, level)[:, None]
    perturbed = x + sigma * noise
    target = -noise / sigma
    scores = model(perturbed, level)
    return 0.5 * tf.reduce_mean(tf.reduce_sum((scores - target) ** 2, axis=-1) * sigma[:, 0] ** 2)


def sliced_loss(x, v):
    with tf.GradientTape() as tape:
        tape.watch(x)
        projected = tf.reduce_sum(model(x, tf.zeros(len(x), tf.int32)) * v, axis=-1)
    jacobian_v = tape.gradient(projected, x)
    return tf.reduce_mean(tf.reduce_sum(jacobian_v * v, axis=-1) + 0.5 * projected**2)


def exact_loss(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        score = model(x, tf.zeros(len(x), tf.int32))
    trace = tf.linalg.trace(tape.batch_jacobian(score, x))
    return tf.reduce_mean(trace + 0.5 * tf.reduce_sum(score**2, axis=-1))


optimizer = tf.keras.optimizers.Adam(0.02)
history = []
for step in range(10):
    level = tf.constant(rng.integers(0, 4, 32), tf.int32)
    noise = tf.random.normal(samples.shape)
    v = tf.sign(tf.random.normal(samples.shape))
    with tf.GradientTape() as tape:
        dsm = denoising_loss(samples, level, noise)
        ssm = sliced_loss(samples, v)
        loss = dsm + 0.1 * ssm
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    history.append([float(dsm), float(ssm)])


def anneal(x):
    for level in range(4):
        alpha = 0.02 * (sigmas[level] / sigmas[-1]) ** 2
        for _ in range(2):
            score = model(x, tf.fill([len(x)], level))
            x = x + 0.5 * alpha * score + tf.sqrt(alpha) * 0.1 * tf.random.normal(x.shape)
    return x


drawn = anneal(tf.random.uniform((6, 2), -1, 1))
results = {
    "sigmas": sigmas.numpy().tolist(),
    "history": history[::3],
    "exact": float(exact_loss(samples)),
    "scale": tf.reduce_mean(model.scale, axis=1).numpy().tolist(),
    "drawn": drawn[0].numpy().tolist(),
    "sparse": type(gradients[0]).__name__,
}
