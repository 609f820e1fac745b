"""Soft actor-critic in miniature, with a replay buffer, squashed gaussians and soft updates."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import Model
from tensorflow.keras.layers import Concatenate, Dense
from tensorflow.keras.optimizers import Adam

tf.random.set_seed(0)
np.random.seed(0)
tf.keras.utils.set_random_seed(0)
tf.keras.backend.set_floatx("float32")
LOG_STD_MIN, LOG_STD_MAX, EPS = -20, 2, 1e-6


class ReplayBuffer:
    def __init__(self, size, dim):
        self.s = np.zeros((size, dim), np.float32)
        self.a = np.zeros((size, 1), np.float32)
        self.r = np.zeros(size, np.float32)
        self.s2 = np.zeros((size, dim), np.float32)
        self.d = np.zeros(size, np.float32)
        self.ptr = self.n = 0
        self.size = size

    def store(self, s, a, r, s2, d):
        i = self.ptr
        self.s[i], self.a[i], self.r[i], self.s2[i], self.d[i] = s, a, r, s2, d
        self.ptr = (self.ptr + 1) % self.size
        self.n = min(self.n + 1, self.size)

    def sample(self, k):
        idx = np.random.randint(0, self.n, size=k)
        return [tf.convert_to_tensor(v[idx]) for v in (self.s, self.a, self.r, self.s2, self.d)]


class Actor(Model):
    def __init__(self):
        super().__init__()
        self.d1 = Dense(8, activation="relu")
        self.mu = Dense(1)
        self.log_std = Dense(1)

    def call(self, s):
        x = self.d1(s)
        mu, log_std = self.mu(x), tf.clip_by_value(self.log_std(x), LOG_STD_MIN, LOG_STD_MAX)
        std = tf.exp(log_std)
        eps = tf.random.normal(tf.shape(mu), seed=4)
        u = mu + std * eps
        a = tf.tanh(u)
        logp = -0.5 * (((u - mu) / (std + EPS)) ** 2 + 2 * log_std + np.log(2 * np.pi))
        logp -= tf.math.log(1 - a**2 + EPS)
        return a, tf.squeeze(logp, axis=-1)


class Critic(Model):
    def __init__(self):
        super().__init__()
        self.cat = Concatenate()
        self.d1 = Dense(8, activation="relu")
        self.q = Dense(1)

    def call(self, s, a):
        return tf.squeeze(self.q(self.d1(self.cat([s, a]))), -1)


actor, q1, q2, q1t, q2t = Actor(), Critic(), Critic(), Critic(), Critic()
dummy = tf.zeros((1, 2))
actor(dummy)
for q in (q1, q2, q1t, q2t):
    q(dummy, tf.zeros((1, 1)))
q1t.set_weights(q1.get_weights())
q2t.set_weights(q2.get_weights())
log_alpha = tf.Variable(0.0, dtype=tf.float32, name="log_alpha")
target_entropy = -1.0
aopt, qopt1, qopt2, alopt = Adam(3e-3), Adam(3e-3), Adam(3e-3), Adam(3e-3)


@tf.function
def update(s, a, r, s2, d):
    alpha = tf.exp(log_alpha)
    a2, logp2 = actor(s2)
    qt = tf.minimum(q1t(s2, a2), q2t(s2, a2))
    y = tf.stop_gradient(r + 0.99 * (1 - d) * (qt - alpha * logp2))
    with tf.GradientTape() as t1:
        l1 = tf.reduce_mean((q1(s, a) - y) ** 2)
    with tf.GradientTape() as t2:
        l2 = tf.reduce_mean((q2(s, a) - y) ** 2)
    qopt1.apply_gradients(zip(t1.gradient(l1, q1.trainable_variables), q1.trainable_variables))
    qopt2.apply_gradients(zip(t2.gradient(l2, q2.trainable_variables), q2.trainable_variables))
    with tf.GradientTape() as t3:
        an, logp = actor(s)
        la = tf.reduce_mean(alpha * logp - tf.minimum(q1(s, an), q2(s, an)))
    aopt.apply_gradients(zip(t3.gradient(la, actor.trainable_variables), actor.trainable_variables))
    with tf.GradientTape() as t4:
        lal = -tf.reduce_mean(log_alpha * tf.stop_gradient(logp + target_entropy))
    alopt.apply_gradients([(t4.gradient(lal, log_alpha), log_alpha)])
    for t, q in ((q1t, q1), (q2t, q2)):
        for tv, v in zip(t.variables, q.variables):
            tv.assign(0.99 * tv + 0.01 * v)
    return l1, l2, la, lal


buf = ReplayBuffer(50, 2)
s = np.array([1.0, 0.0], np.float32)
log = []
for step in range(24):
    a, _ = actor(tf.expand_dims(tf.convert_to_tensor(s), 0))
    a = a.numpy()[0]
    s2 = np.array([s[0] + 0.1 * s[1], s[1] + 0.1 * a[0] - 0.1 * s[0]], np.float32)
    buf.store(s, a, -float(np.sum(s2**2)), s2, float(step % 8 == 7))
    s = s2
    if step > 10:
        log.append([float(x) for x in update(*buf.sample(8))])
results = {
    "log": log,
    "alpha": float(tf.exp(log_alpha)),
    "w": [float(tf.norm(v)) for v in actor.trainable_weights],
}
