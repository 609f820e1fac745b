"""Bayes by backprop: weights drawn from normals whose parameters are learned, and predictions."""

import math

import numpy as np
import tensorflow as tf

tf.random.set_seed(61)
rng = np.random.default_rng(61)
x = rng.uniform(-1, 1, (32, 1)).astype("float32")
y = (x**3 + 0.1 * rng.normal(size=x.shape)).astype("float32")


def log_normal(value, mean, std):
    return -0.5 * tf.math.log(2 * math.pi) - tf.math.log(std) - (value - mean) ** 2 / (2 * std**2)


def mixture_log_prior(w, pi=0.5, sigma_1=1.5, sigma_2=0.1):
    first = tf.math.log(pi) + log_normal(w, 0.0, sigma_1)
    second = tf.math.log(1 - pi) + log_normal(w, 0.0, sigma_2)
    return tf.reduce_sum(tf.math.reduce_logsumexp(tf.stack([first, second]), axis=0))


class DenseVariational(tf.keras.layers.Layer):
    def __init__(self, units, kl_weight, activation=None, **kwargs):
        super().__init__(**kwargs)
        self.units, self.kl_weight = units, kl_weight
        self.activation = tf.keras.activations.get(activation)

    def build(self, input_shape):
        def mean(shape, dtype=None):
            return tf.random.normal(shape, stddev=0.3)

        self.kernel_mu = self.add_weight(
            name="kernel_mu", shape=(input_shape[1], self.units), initializer="zeros"
        )
        self.kernel_mu.assign(mean(self.kernel_mu.shape))
        self.kernel_rho = self.add_weight(
            name="kernel_rho",
            shape=(input_shape[1], self.units),
            initializer=tf.keras.initializers.Constant(-3.0),
        )
        self.bias_mu = self.add_weight(name="bias_mu", shape=(self.units,), initializer="zeros")
        self.bias_rho = self.add_weight(
            name="bias_rho", shape=(self.units,), initializer=tf.constant_initializer(-3.0)
        )
        super().build(input_shape)

    def draw(self, mu, rho):
        sigma = tf.math.softplus(rho)
        drawn = mu + sigma * tf.random.normal(mu.shape)
        kl = tf.reduce_sum(log_normal(drawn, mu, sigma)) - mixture_log_prior(drawn)
        self.add_loss(self.kl_weight * kl)
        return drawn

    def call(self, inputs):
        kernel = self.draw(self.kernel_mu, self.kernel_rho)
        bias = self.draw(self.bias_mu, self.bias_rho)
        return self.activation(tf.matmul(inputs, kernel) + bias)


layers = [DenseVariational(6, 1 / 32, "tanh"), DenseVariational(1, 1 / 32)]
for layer, width in zip(layers, (1, 6)):
    layer.build((None, width))
variables = [v for layer in layers for v in layer.trainable_variables]
optimizer = tf.keras.optimizers.Adam(0.02)
history = []
for step in range(15):
    with tf.GradientTape() as tape:
        out = x
        for layer in layers:
            out = layer(out)
        nll = -tf.reduce_mean(log_normal(y, out, 0.2))
        kl = tf.add_n([loss for layer in layers for loss in layer.losses])
        loss = nll + 0.1 * kl
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    history.append([float(nll), float(kl)])

points = tf.constant([[-0.8], [0.0], [0.8]])
draws = tf.stack([layers[1](layers[0](points)) for _ in range(12)])
mean, variance = tf.nn.moments(draws, axes=[0])
results = {
    "history": history[::3],
    "mean": mean[:, 0].numpy().tolist(),
    "deviation": tf.sqrt(variance)[:, 0].numpy().tolist(),
    "rho": layers[0].kernel_rho[0].numpy().tolist(),
    "losses": [len(layer.losses) for layer in layers],
}
