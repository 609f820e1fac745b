"""Normalizing flows by tf.Module: planar flows and invertible 1x1 products with slogdet."""

import numpy as np
import tensorflow as tf

tf.random.set_seed(5)
np.random.seed(5)


class Planar(tf.Module):
    def __init__(self, dim, name=None):
        super().__init__(name=name)
        with self.name_scope:
            self.w = tf.Variable(tf.random.normal([1, dim], stddev=0.1), name="w")
            self.u = tf.Variable(tf.random.normal([1, dim], stddev=0.1), name="u")
            self.b = tf.Variable(0.0, name="b")

    @tf.Module.with_name_scope
    def __call__(self, z):
        wu = tf.reduce_sum(self.w * self.u)
        m = -1 + tf.math.softplus(wu)
        u = self.u + (m - wu) * self.w / tf.norm(self.w) ** 2
        a = tf.linalg.matmul(z, self.w, transpose_b=True) + self.b
        h = tf.tanh(a)
        psi = (1 - h**2) * self.w
        logdet = tf.math.log(tf.abs(1 + tf.squeeze(psi @ tf.transpose(u), -1)) + 1e-8)
        return z + u * h, logdet


class Glow1x1(tf.Module):
    def __init__(self, d):
        super().__init__()
        q, _ = np.linalg.qr(np.random.randn(d, d))
        self.W = tf.Variable(q.astype(np.float32), name="W")

    def __call__(self, z):
        return z @ self.W, tf.ones(tf.shape(z)[0]) * tf.linalg.slogdet(self.W).log_abs_determinant


class Flow(tf.Module):
    def __init__(self, n):
        super().__init__(name="flow")
        self.layers = []
        for i in range(n):
            self.layers += [Planar(2, name=f"planar_{i}"), Glow1x1(2)]

    def __call__(self, z):
        total = 0.0
        for l in self.layers:
            z, ld = l(z)
            total += ld
        return z, total


def U(z):
    z1, z2 = tf.unstack(z, axis=1)
    return 0.5 * ((tf.sqrt(z1**2 + z2**2) - 2) / 0.4) ** 2 - tf.math.reduce_logsumexp(
        tf.stack([-0.5 * ((z1 - 2) / 0.6) ** 2, -0.5 * ((z1 + 2) / 0.6) ** 2]), 0
    )


flow = Flow(3)
opt = tf.optimizers.Adam(0.01)
ls = []


@tf.function
def step(z0):
    with tf.GradientTape() as tape:
        logq0 = -0.5 * tf.reduce_sum(z0**2, 1) - np.log(2 * np.pi)
        z, ld = flow(z0)
        loss = tf.reduce_mean(logq0 - ld + U(z))
    opt.apply_gradients(
        zip(tape.gradient(loss, flow.trainable_variables), flow.trainable_variables)
    )
    return loss


for i in range(8):
    ls.append(step(tf.random.normal([16, 2])).numpy())
results = {
    "ls": [float(l) for l in ls],
    "names": [v.name for v in flow.trainable_variables][:5],
    "n": len(flow.submodules),
    "end": [float(tf.reduce_sum(v)) for v in flow.trainable_variables],
}
