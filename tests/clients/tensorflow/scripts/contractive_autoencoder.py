"""Contractive and sparse autoencoders: add_loss, activity regularizers, Jacobian penalties."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, regularizers

tf.keras.utils.set_random_seed(21)
x = np.random.RandomState(2).rand(24, 6).astype("f4")


class KLSparsity(regularizers.Regularizer):
    def __init__(self, rho=0.1, beta=0.5):
        self.rho, self.beta = rho, beta

    def __call__(self, a):
        r = tf.reduce_mean(a, axis=0)
        return self.beta * tf.reduce_sum(
            self.rho * tf.math.log(self.rho / (r + 1e-8))
            + (1 - self.rho) * tf.math.log((1 - self.rho) / (1 - r + 1e-8))
        )


class Penalty(layers.Layer):
    def __init__(self, w):
        super().__init__()
        self.w = w

    def call(self, h):
        self.add_loss(self.w * tf.reduce_mean(tf.abs(h)))
        return h


class AE(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.enc = layers.Dense(
            4,
            activation="sigmoid",
            kernel_regularizer=regularizers.l2(1e-3),
            activity_regularizer=KLSparsity(),
        )
        self.pen = Penalty(0.01)
        self.noise = layers.GaussianNoise(0.1, seed=3)
        self.dec = layers.Dense(6, bias_regularizer=regularizers.L1L2(1e-3, 1e-3))
        self.tracker = tf.keras.metrics.Mean(name="recon")

    def call(self, x, training=None):
        h = self.pen(self.enc(self.noise(x, training=training)))
        return self.dec(h)

    def train_step(self, data):
        x = data[0] if isinstance(data, tuple) else data
        with tf.GradientTape() as tape:
            with tf.GradientTape() as inner:
                inner.watch(x)
                h = self.enc(x)
            J = inner.batch_jacobian(h, x)
            y = self(x, training=True)
            recon = tf.reduce_mean(tf.square(x - y))
            loss = (
                recon + 1e-2 * tf.reduce_mean(tf.reduce_sum(J**2, [1, 2])) + tf.add_n(self.losses)
            )
        self.optimizer.apply_gradients(
            zip(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
        )
        self.tracker.update_state(recon)
        return {"loss": loss, "recon": self.tracker.result()}

    def test_step(self, data):
        x = data[0] if isinstance(data, tuple) else data
        self.tracker.update_state(tf.reduce_mean(tf.square(x - self(x, training=False))))
        return {m.name: m.result() for m in self.metrics if m.name == "recon"}

    @property
    def metrics(self):
        return [self.tracker]


m = AE()
m.compile(optimizer=tf.keras.optimizers.Adam(0.02))
h = m.fit(x, batch_size=8, epochs=3, shuffle=True, verbose=0, validation_data=(x[:8],))
_ = m(x[:4])
i = tf.keras.Input((6,))
hh = layers.Dense(3, activation="relu", activity_regularizer="l1")(i)
o = layers.Dense(6)(hh)
fm = tf.keras.Model(i, o)
fm.compile("sgd", "mse", metrics=["mae", tf.keras.metrics.RootMeanSquaredError()])
h2 = fm.fit(x, x, epochs=2, verbose=0, validation_split=0.25)
enc = tf.keras.Model(fm.inputs, fm.get_layer(index=1).output)
results = {
    **{k: [float(v) for v in vs] for k, vs in h.history.items()},
    "nl": len(m.losses),
    "losses": [float(l) for l in m.losses],
    "h2": {k: [float(v) for v in vs] for k, vs in h2.history.items()},
    "ev": [float(v) for v in fm.evaluate(x, x, verbose=0)],
    "enc": enc.predict(x[:2], verbose=0).tolist(),
}
