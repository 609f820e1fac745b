"""RealNVP: affine coupling layers with masks, exact densities, inversion."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers, regularizers

rng = np.random.default_rng(43)
theta = rng.uniform(0, np.pi, 96)
moons = np.stack([np.cos(theta), np.sin(theta)], 1) + 0.1 * rng.normal(size=(96, 2))
data = ((moons - moons.mean(0)) / moons.std(0)).astype("float32")


def draw(shape, dtype=None):
    return tf.constant(rng.normal(0, 0.3, shape), dtype or tf.float32)


def coupling(input_shape, width=8, reg=0.01):
    inputs = layers.Input(shape=(input_shape,))

    def net(x, last):
        for units, activation in ((width, "relu"), (input_shape, last)):
            x = layers.Dense(
                units,
                activation=activation,
                kernel_initializer=draw,
                kernel_regularizer=regularizers.l2(reg),
            )(x)
        return x

    return keras.Model(inputs=inputs, outputs=[net(inputs, "tanh"), net(inputs, "linear")])


class RealNVP(keras.Model):
    def __init__(self, num_coupling_layers):
        super().__init__()
        self.num_coupling_layers = num_coupling_layers
        self.masks = np.array([[0, 1], [1, 0]] * (num_coupling_layers // 2), dtype="float32")
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.layers_list = [coupling(2) for i in range(num_coupling_layers)]

    @property
    def metrics(self):
        return [self.loss_tracker]

    def call(self, x, training=True):
        log_det_inv = 0
        direction = -1 if training else 1
        for i in range(self.num_coupling_layers)[::direction]:
            x_masked = x * self.masks[i]
            reversed_mask = 1 - self.masks[i]
            s, t = self.layers_list[i](x_masked)
            s *= reversed_mask
            t *= reversed_mask
            gate = (direction - 1) / 2
            x = (
                reversed_mask * (x * tf.exp(direction * s) + direction * t * tf.exp(gate * s))
                + x_masked
            )
            log_det_inv += gate * tf.reduce_sum(s, axis=1)
        return x, log_det_inv

    def log_loss(self, x):
        y, logdet = self(x)
        log_prior = -tf.reduce_sum(y**2, axis=1) / 2 - tf.math.log(2 * np.pi)
        return -tf.reduce_mean(log_prior + logdet)

    def train_step(self, data):
        with tf.GradientTape() as tape:
            loss = self.log_loss(data) + sum(self.losses)
        g = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(g, self.trainable_variables))
        self.loss_tracker.update_state(loss)
        return {"loss": self.loss_tracker.result()}

    def test_step(self, data):
        self.loss_tracker.update_state(self.log_loss(data))
        return {"loss": self.loss_tracker.result()}


model = RealNVP(num_coupling_layers=4)
model.compile(optimizer=keras.optimizers.Adam(learning_rate=0.005))
history = model.fit(
    data[:64], batch_size=16, epochs=3, verbose=0, shuffle=False, validation_data=(data[64:],)
)
z, logdet = model(data[:4])
x, _ = model(z, training=False)
point = tf.constant(data[:4])
with tf.GradientTape() as tape:
    tape.watch(point)
    z, logdet = model(point)
jacobian = tape.batch_jacobian(z, point)
_, log_abs_det = tf.linalg.slogdet(jacobian)

results = {
    "loss": [float(v) for v in history.history["loss"]],
    "val_loss": [float(v) for v in history.history["val_loss"]],
    "z": z.numpy().tolist(),
    "inverse": bool(tf.reduce_max(tf.abs(x - data[:4])) < 1e-4),
    "logdet": logdet.numpy().tolist(),
    "by_jacobian": log_abs_det.numpy().tolist(),
}
