"""WGAN-GP: a critic with a gradient penalty (nested tapes), trained more often."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

rng = np.random.default_rng(11)
BATCH, LATENT, CRITIC_STEPS, GP_WEIGHT = 16, 2, 3, 10.0


def real_samples():
    angle = rng.uniform(0, 2 * np.pi, BATCH)
    points = np.stack([2 * np.cos(angle), np.sin(angle)], 1)
    return (points + 0.05 * rng.normal(size=(BATCH, 2))).astype(np.float32)


def network(inputs, outputs, activation):
    model = keras.Sequential(
        [
            keras.layers.Dense(16, activation=activation, input_shape=(inputs,)),
            keras.layers.Dense(16, activation=activation),
            keras.layers.Dense(outputs),
        ]
    )
    model.set_weights([rng.normal(0, 0.4, w.shape) for w in model.get_weights()])
    return model


class WGAN(keras.Model):
    def __init__(self, critic, generator, gp_weight):
        super().__init__()
        self.critic = critic
        self.generator = generator
        self.gp_weight = gp_weight

    def compile(self, c_optimizer, g_optimizer):
        super().compile()
        self.c_optimizer = c_optimizer
        self.g_optimizer = g_optimizer

    def gradient_penalty(self, real, fake, alpha):
        interpolated = real + alpha * (fake - real)
        with tf.GradientTape() as gp_tape:
            gp_tape.watch(interpolated)
            pred = self.critic(interpolated, training=True)
        grads = gp_tape.gradient(pred, [interpolated])[0]
        norm = tf.sqrt(tf.reduce_sum(tf.square(grads), axis=[1]))
        return tf.reduce_mean((norm - 1.0) ** 2)

    def train_on(self, batches, draw):
        for real in batches:
            fake = self.generator(draw(LATENT), training=True)
            with tf.GradientTape() as tape:
                gap = tf.reduce_mean(self.critic(fake)) - tf.reduce_mean(self.critic(real))
                penalty = self.gradient_penalty(real, fake, draw(1, uniform=True))
                c_loss = gap + self.gp_weight * penalty
            grads = tape.gradient(c_loss, self.critic.trainable_variables)
            self.c_optimizer.apply_gradients(zip(grads, self.critic.trainable_variables))
        with tf.GradientTape() as tape:
            g_loss = -tf.reduce_mean(self.critic(self.generator(draw(LATENT)), training=True))
        grads = tape.gradient(g_loss, self.generator.trainable_variables)
        self.g_optimizer.apply_gradients(zip(grads, self.generator.trainable_variables))
        return {"c_loss": c_loss, "g_loss": g_loss, "penalty": penalty}


def draw(size, uniform=False):
    values = rng.uniform(size=(BATCH, size)) if uniform else rng.normal(size=(BATCH, size))
    return tf.constant(values, dtype=tf.float32)


wgan = WGAN(network(2, 1, "tanh"), network(LATENT, 2, "relu"), GP_WEIGHT)
wgan.compile(
    c_optimizer=keras.optimizers.Adam(learning_rate=0.01, beta_1=0.5, beta_2=0.9),
    g_optimizer=keras.optimizers.Adam(learning_rate=0.01, beta_1=0.5, beta_2=0.9),
)
history = []
for step in range(8):
    logs = wgan.train_on([tf.constant(real_samples()) for _ in range(CRITIC_STEPS)], draw)
    history.append({name: float(value) for name, value in logs.items()})

points = wgan.generator(draw(LATENT))
results = {
    "first": history[0],
    "last": history[-1],
    "mean": tf.reduce_mean(points, axis=0).numpy().tolist(),
    "std": tf.math.reduce_std(points, axis=0).numpy().tolist(),
}
