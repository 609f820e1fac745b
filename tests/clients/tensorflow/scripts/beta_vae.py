"""Beta-VAE as a keras.Model with a Sampling layer, its own train_step and metric trackers."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

rng = np.random.default_rng(9)
basis = rng.normal(size=(2, 10))
data = (rng.normal(size=(48, 2)) @ basis + 0.1 * rng.normal(size=(48, 10))).astype("float32")
noise = tf.constant(rng.normal(size=(16, 2)), tf.float32)


class Sampling(layers.Layer):
    """Uses (z_mean, z_log_var) to sample z, with the noise that it was given."""

    def call(self, inputs):
        z_mean, z_log_var = inputs
        batch = tf.shape(z_mean)[0]
        return z_mean + tf.exp(0.5 * z_log_var) * noise[:batch]


encoder_inputs = keras.Input(shape=(10,))
x = layers.Dense(8, activation="tanh", name="hidden")(encoder_inputs)
z_mean = layers.Dense(2, name="z_mean")(x)
z_log_var = layers.Dense(2, name="z_log_var")(x)
z = Sampling()([z_mean, z_log_var])
encoder = keras.Model(encoder_inputs, [z_mean, z_log_var, z], name="encoder")
latent_inputs = keras.Input(shape=(2,))
x = layers.Dense(8, activation="tanh")(latent_inputs)
decoder = keras.Model(latent_inputs, layers.Dense(10)(x), name="decoder")
for part in (encoder, decoder):
    part.set_weights([rng.normal(0, 0.3, w.shape) for w in part.get_weights()])


class BetaVAE(keras.Model):
    def __init__(self, encoder, decoder, beta, **kwargs):
        super().__init__(**kwargs)
        self.encoder = encoder
        self.decoder = decoder
        self.beta = beta
        self.total_loss_tracker = keras.metrics.Mean(name="total_loss")
        self.reconstruction_loss_tracker = keras.metrics.Mean(name="reconstruction_loss")
        self.kl_loss_tracker = keras.metrics.Mean(name="kl_loss")

    @property
    def metrics(self):
        return [self.total_loss_tracker, self.reconstruction_loss_tracker, self.kl_loss_tracker]

    def train_step(self, data):
        with tf.GradientTape() as tape:
            z_mean, z_log_var, z = self.encoder(data)
            reconstruction = self.decoder(z)
            reconstruction_loss = tf.reduce_mean(
                tf.reduce_sum(keras.losses.mse(data, reconstruction)[:, None], axis=1)
            )
            kl_loss = -0.5 * (1 + z_log_var - tf.square(z_mean) - tf.exp(z_log_var))
            kl_loss = tf.reduce_mean(tf.reduce_sum(kl_loss, axis=1))
            total_loss = reconstruction_loss + self.beta * kl_loss
        grads = tape.gradient(total_loss, self.trainable_weights)
        self.optimizer.apply_gradients(zip(grads, self.trainable_weights))
        self.total_loss_tracker.update_state(total_loss)
        self.reconstruction_loss_tracker.update_state(reconstruction_loss)
        self.kl_loss_tracker.update_state(kl_loss)
        return {
            "loss": self.total_loss_tracker.result(),
            "reconstruction_loss": self.reconstruction_loss_tracker.result(),
            "kl_loss": self.kl_loss_tracker.result(),
        }


start = [w.copy() for w in encoder.get_weights() + decoder.get_weights()]
runs = {}
for beta in (0.05, 1.0):
    encoder.set_weights(start[: len(encoder.get_weights())])
    decoder.set_weights(start[len(encoder.get_weights()) :])
    vae = BetaVAE(encoder, decoder, beta)
    vae.compile(optimizer=keras.optimizers.Adam(0.02))
    history = vae.fit(data, epochs=4, batch_size=16, shuffle=False, verbose=0)
    runs[str(beta)] = {name: [float(v) for v in values] for name, values in history.history.items()}

means, log_vars, _ = encoder.predict(data[:3], verbose=0)
results = {"runs": runs, "means": means.tolist(), "log_vars": log_vars.tolist()}
