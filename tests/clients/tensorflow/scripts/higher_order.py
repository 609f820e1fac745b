"""Hessian-vector products five ways, Laplacians, Christoffel symbols and third derivatives."""

import numpy as np
import tensorflow as tf

x = tf.Variable([0.3, -0.7, 1.1], dtype=tf.float64)


def f(x):
    return tf.sin(x[0]) * x[1] ** 3 + tf.exp(x[2] * x[0]) + tf.reduce_prod(x)


v = tf.constant([1.0, 2.0, -1.0], tf.float64)


def bb():
    with tf.GradientTape() as o:
        with tf.GradientTape() as i:
            y = f(x)
        g = i.gradient(y, x)
        gv = tf.reduce_sum(g * v)
    return o.gradient(gv, x)


def og():
    with tf.GradientTape() as o:
        with tf.GradientTape() as i:
            y = f(x)
        g = i.gradient(y, x)
    return o.gradient(g, x, output_gradients=v)


def fb():
    with tf.autodiff.ForwardAccumulator(x, v) as acc:
        with tf.GradientTape() as t:
            y = f(x)
        g = t.gradient(y, x)
    return acc.jvp(g)


def bf():
    with tf.GradientTape() as t:
        with tf.autodiff.ForwardAccumulator(x, v) as acc:
            y = f(x)
        d = acc.jvp(y)
    return t.gradient(d, x)


def full():
    with tf.GradientTape() as o:
        with tf.GradientTape() as i:
            y = f(x)
        g = i.gradient(y, x)
    return tf.linalg.matvec(o.jacobian(g, x), v)


@tf.function
def third():
    with tf.GradientTape() as a:
        with tf.GradientTape() as b:
            with tf.GradientTape() as c:
                y = f(x)
            g = c.gradient(y, x)
        h = b.jacobian(g, x)
    return a.jacobian(h, x)


def metric(p):
    return tf.stack([[1.0 + p[0] ** 2, p[0] * p[1]], [p[0] * p[1], tf.cosh(p[1])]])


p = tf.constant([0.4, 0.9])
with tf.GradientTape() as t:
    t.watch(p)
    G = metric(p)
dG = t.jacobian(G, p)
Gi = tf.linalg.inv(G)
gamma = 0.5 * (
    tf.einsum("kl,jli->kij", Gi, dG)
    + tf.einsum("kl,ilj->kij", Gi, dG)
    - tf.einsum("kl,ijl->kij", Gi, dG)
)
X = tf.constant(np.linspace(-1, 1, 6)[:, None].astype("float32"))
W = tf.Variable([[0.5, -0.3, 0.8]])
b = tf.Variable([0.1, 0.2, -0.1])
with tf.GradientTape() as o:
    o.watch(X)
    with tf.GradientTape() as i:
        i.watch(X)
        u = tf.reduce_sum(tf.tanh(X @ W + b), 1, keepdims=True)
    ux = i.batch_jacobian(u, X)
uxx = o.batch_jacobian(tf.squeeze(ux, 1), X)
a = tf.Variable(2.0)
with tf.GradientTape(persistent=True) as tp:
    w = a**4
    d1 = tp.gradient(w, a)
    d2 = tp.gradient(d1, a)
    d3 = tp.gradient(d2, a)
d4 = tp.gradient(d3, a)
hs = tf.hessians if False else None
results = {
    "hvp": [q().numpy().tolist() for q in (bb, og, fb, bf, full)],
    "third": third().numpy().tolist(),
    "gamma": gamma.numpy().tolist(),
    "uxx": uxx.numpy().ravel().tolist(),
    "d": [float(q) for q in (d1, d2, d3, d4)],
}
