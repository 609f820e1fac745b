"""Maximum likelihood of gamma, beta, negative binomial, Student and Dirichlet laws by gradients."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(74)
lgamma = tf.math.lgamma
DATA = {
    "gamma": tf.constant(rng.gamma(2.5, 0.8, 40)),
    "beta": tf.constant(rng.beta(2.0, 3.5, 40)),
    "negative_binomial": tf.constant(rng.negative_binomial(4, 0.4, 40).astype(float)),
    "student": tf.constant(rng.standard_t(4.0, 40) + 1.0),
    "dirichlet": tf.constant(rng.dirichlet([1.0, 2.0, 4.0], 40)),
    "von_mises": tf.constant(rng.vonmises(0.5, 2.0, 40)),
}


def gamma(x, p):
    shape, rate = tf.unstack(tf.exp(p))
    return shape * tf.math.log(rate) - lgamma(shape) + (shape - 1) * tf.math.log(x) - rate * x


def beta(x, p):
    a, b = tf.unstack(tf.nn.softplus(p))
    log_beta = tf.math.lbeta(tf.stack([a, b]))
    return tf.math.xlogy(a - 1, x) + tf.math.xlog1py(b - 1, -x) - log_beta


def negative_binomial(x, p):
    r, q = tf.exp(p[0]), tf.sigmoid(p[1])
    log_choose = lgamma(x + r) - lgamma(r) - lgamma(x + 1)
    return log_choose + r * tf.math.log1p(-q) + x * tf.math.log(q)


def student(x, p):
    nu, scale, mean = tf.exp(p[0]), tf.exp(p[1]), p[2]
    z = (x - mean) / scale
    half = lgamma((nu + 1) / 2) - lgamma(nu / 2) - 0.5 * tf.math.log(np.pi * nu) - p[1]
    return half - (nu + 1) / 2 * tf.math.log1p(z**2 / nu)


def dirichlet(x, p):
    alpha = tf.exp(p)
    norm = lgamma(tf.reduce_sum(alpha)) - tf.reduce_sum(lgamma(alpha))
    return norm + tf.reduce_sum((alpha - 1) * tf.math.log(x), axis=-1)


def von_mises(x, p):
    kappa = tf.exp(p[1])
    log_bessel = tf.math.log(tf.math.bessel_i0e(kappa)) + kappa
    return kappa * tf.cos(x - p[0]) - tf.math.log(tf.constant(2 * np.pi, tf.float64)) - log_bessel


LAWS = [gamma, beta, negative_binomial, student, dirichlet, von_mises]
STARTS = {"student": [1.0, 0.0, 0.0], "dirichlet": [0.0, 0.0, 0.0]}
results = {}
for law in LAWS:
    name = law.__name__
    p = tf.Variable(STARTS.get(name, [0.3, 0.3]), dtype=tf.float64)
    history = []
    for step in range(8):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                nll = -tf.reduce_mean(law(DATA[name], p))
            gradient = inner.gradient(nll, p)
        information = outer.jacobian(gradient, p)
        eigenvalues, vectors = tf.linalg.eigh(information)
        safe = tf.maximum(tf.abs(eigenvalues), 0.05)
        newton = tf.linalg.matvec(
            vectors / safe, tf.linalg.matvec(vectors, gradient, transpose_a=True)
        )
        p.assign_sub(tf.clip_by_norm(newton, 1.0))
        history.append(float(nll))
    results[name] = {
        "history": history[::3],
        "estimate": p.numpy().tolist(),
        "information": information.numpy().tolist(),
    }
psi = tf.math.digamma(tf.constant([0.5, 2.0]))
results["special"] = [*psi.numpy().tolist(), *tf.math.polygamma(1.0, [0.5, 2.0]).numpy().tolist()]
