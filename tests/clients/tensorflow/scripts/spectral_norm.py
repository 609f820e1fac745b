"""Spectral normalisation in a wrapper with power iteration, a hinge GAN, and weight norms."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(68)


class SpectralNormalization(tf.keras.layers.Wrapper):
    def __init__(self, layer, iterations=1, **kwargs):
        super().__init__(layer, **kwargs)
        self.iterations = iterations

    def build(self, input_shape=None):
        if not self.layer.built:
            self.layer.build(input_shape)
        self.w = self.layer.kernel
        self.u = self.add_weight(
            shape=(1, self.w.shape[-1]), initializer="ones", trainable=False, name="sn_u"
        )
        self.built = True

    def call(self, inputs, training=False):
        w = tf.reshape(self.w, [-1, self.w.shape[-1]])
        u = tf.convert_to_tensor(self.u)
        for _ in range(self.iterations):
            v = tf.math.l2_normalize(tf.matmul(u, w, transpose_b=True))
            u = tf.math.l2_normalize(tf.matmul(v, w))
        u, v = tf.stop_gradient(u), tf.stop_gradient(v)
        sigma = tf.matmul(tf.matmul(v, w), u, transpose_b=True)
        if training:
            self.u.assign(u)
        return tf.matmul(inputs, self.w / sigma) + self.layer.bias


class WeightNorm(tf.Module):
    def __init__(self, fan_in, fan_out):
        self.v = tf.Variable(tf.constant(rng.normal(size=(fan_in, fan_out)), tf.float32))
        self.g = tf.Variable(tf.ones(fan_out))
        self.b = tf.Variable(tf.zeros(fan_out))

    def __call__(self, x):
        return x @ (self.g * self.v / tf.norm(self.v, axis=0)) + self.b


layers = [
    SpectralNormalization(tf.keras.layers.Dense(8)),
    SpectralNormalization(tf.keras.layers.Dense(1)),
]
for layer, width in zip(layers, (2, 8)):
    layer.build((None, width))
    layer.layer.set_weights([rng.normal(size=w.shape) for w in layer.layer.get_weights()])
generator = WeightNorm(2, 2)


def discriminator(x, training=False):
    return layers[1](
        tf.nn.leaky_relu(layers[0](x, training=training), alpha=0.1), training=training
    )


d_variables = [v for layer in layers for v in layer.trainable_variables]
d_opt, g_opt = tf.keras.optimizers.Adam(0.01, 0.0, 0.9), tf.keras.optimizers.Adam(0.01, 0.0, 0.9)
history = []
for step in range(8):
    real = tf.constant(rng.normal(size=(10, 2)) * 0.2 + [1.0, -1.0], tf.float32)
    z = tf.constant(rng.normal(size=(10, 2)), tf.float32)
    with tf.GradientTape() as tape:
        d_loss = tf.reduce_mean(tf.nn.relu(1.0 - discriminator(real, True)))
        d_loss += tf.reduce_mean(tf.nn.relu(1.0 + discriminator(generator(z), True)))
    d_opt.apply_gradients(zip(tape.gradient(d_loss, d_variables), d_variables))
    with tf.GradientTape() as tape:
        g_loss = -tf.reduce_mean(discriminator(generator(z)))
    gradients = tape.gradient(g_loss, generator.trainable_variables)
    g_opt.apply_gradients(zip(gradients, generator.trainable_variables))
    history.append([float(d_loss), float(g_loss)])

kernel = layers[0].layer.kernel
estimate = float(tf.norm(tf.matmul(layers[0].u, kernel, transpose_b=True)))
results = {
    "history": history,
    "singular": [float(tf.linalg.svd(kernel, compute_uv=False)[0]), estimate],
    "u": layers[0].u.numpy().tolist(),
    "g": generator.g.numpy().tolist(),
    "names": [v.name for v in generator.trainable_variables],
    "weights": [len(layers[0].trainable_variables), len(layers[0].non_trainable_variables)],
}
