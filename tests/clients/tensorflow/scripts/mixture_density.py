"""A mixture density network for an inverse problem, with quantiles and an expectation step."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(62)
K = 3
t = rng.uniform(0, 1, (60, 1))
x = tf.constant(t + 0.3 * np.sin(2 * np.pi * t) + 0.02 * rng.normal(size=t.shape), tf.float32)
y = tf.constant(t, tf.float32)


class MDN(tf.keras.Model):
    def __init__(self, neurons, components):
        super().__init__(name="MDN")
        self.components = components
        self.h1 = tf.keras.layers.Dense(neurons, activation="tanh", name="h1")
        self.alphas = tf.keras.layers.Dense(components, activation="softmax", name="alphas")
        self.mus = tf.keras.layers.Dense(components, name="mus")
        self.sigmas = tf.keras.layers.Dense(
            components, activation=lambda z: tf.nn.elu(z) + 1.0 + 1e-3, name="sigmas"
        )
        self.pvec = tf.keras.layers.Concatenate(name="pvec")

    def call(self, inputs):
        h = self.h1(inputs)
        return self.pvec([self.alphas(h), self.mus(h), self.sigmas(h)])


def slice_parameters(parameters):
    return tf.split(parameters, [K, K, K], axis=-1)


def nll(y, parameters):
    alpha, mu, sigma = slice_parameters(parameters)
    log_component = (
        tf.math.log(alpha + 1e-8)
        - tf.math.log(sigma)
        - 0.5 * tf.math.log(2 * np.pi)
        - 0.5 * tf.math.squared_difference(y, mu) / sigma**2
    )
    return -tf.reduce_mean(tf.reduce_logsumexp(log_component, axis=1))


mdn = MDN(10, K)
mdn(x[:1])
mdn.set_weights([rng.normal(0, 0.5, w.shape) for w in mdn.get_weights()])
optimizer = tf.keras.optimizers.Adam(0.02)
losses = []
for step in range(25):
    with tf.GradientTape() as tape:
        loss = nll(y, mdn(x))
    gradients = tape.gradient(loss, mdn.trainable_variables)
    optimizer.apply_gradients(zip(gradients, mdn.trainable_variables))
    losses.append(float(loss))

# the same density of all y, by expectation and maximisation and by a gradient in closed form
logits, means, log_scales = (tf.Variable(v) for v in ([0.0, 0.0], [0.2, 0.8], [-1.0, -1.0]))
for step in range(6):
    with tf.GradientTape() as tape:
        log_p = (
            tf.nn.log_softmax(logits) - log_scales - 0.5 * ((y - means) / tf.exp(log_scales)) ** 2
        )
        total = -tf.reduce_mean(tf.reduce_logsumexp(log_p, axis=1))
    responsibility = tf.nn.softmax(log_p, axis=1)
    g = tape.gradient(total, means)
    expected = -tf.reduce_mean(responsibility * (y - means) / tf.exp(2 * log_scales), axis=0)
    weights = tf.reduce_sum(responsibility, axis=0)
    new_means = tf.reduce_sum(responsibility * y, axis=0) / weights
    spread = tf.reduce_sum(responsibility * (y - new_means) ** 2, axis=0) / weights
    means.assign(new_means)
    log_scales.assign(0.5 * tf.math.log(spread))
    logits.assign(tf.math.log(weights / tf.reduce_sum(weights)))

# quantile regression with the pinball loss
q, w, b = tf.constant([0.1, 0.5, 0.9]), tf.Variable(tf.zeros((1, 3))), tf.Variable(tf.zeros(3))
for step in range(30):
    with tf.GradientTape() as tape:
        error = y - (x @ w + b)
        pinball = tf.reduce_mean(tf.maximum(q * error, (q - 1) * error))
    for v, gradient in zip([w, b], tape.gradient(pinball, [w, b])):
        v.assign_sub(0.5 * gradient)

alpha, mu, sigma = slice_parameters(mdn(tf.constant([[0.5]])))
results = {
    "losses": losses[::5],
    "alpha": alpha[0].numpy().tolist(),
    "mu": mu[0].numpy().tolist(),
    "sigma": sigma[0].numpy().tolist(),
    "means": means.numpy().tolist(),
    "scales": tf.exp(log_scales).numpy().tolist(),
    "gradient": g.numpy().tolist(),
    "expected": expected.numpy().tolist(),
    "pinball": float(pinball),
    "quantiles": b.numpy().tolist(),
}
