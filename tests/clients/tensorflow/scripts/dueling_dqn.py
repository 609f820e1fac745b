"""Dueling double DQN: prioritized replay, weighted Huber loss, epsilon schedule, target sync."""

import random
from collections import deque, namedtuple

import numpy as np
import tensorflow as tf

random.seed(0)
np.random.seed(0)
tf.random.set_seed(0)
tf.keras.utils.set_random_seed(0)
Transition = namedtuple("Transition", "s a r s2 d")


class Dueling(tf.keras.Model):
    def __init__(self, n):
        super(Dueling, self).__init__()
        self.fc = tf.keras.layers.Dense(8, "relu")
        self.v = tf.keras.layers.Dense(1)
        self.a = tf.keras.layers.Dense(n)

    def call(self, x):
        x = self.fc(x)
        v = self.v(x)
        a = self.a(x)
        return v + (a - tf.math.reduce_mean(a, axis=1, keepdims=True))

    def advantage(self, s):
        return self.a(self.fc(s))


q, t = Dueling(3), Dueling(3)
q.compile(loss="mse", optimizer=tf.keras.optimizers.Adam(0.01))
t.compile(loss="mse", optimizer="adam")
q(np.zeros((1, 2), "f4"))
t(np.zeros((1, 2), "f4"))
t.set_weights(q.get_weights())
huber = tf.keras.losses.Huber(reduction="none")
mem, pri = deque(maxlen=30), deque(maxlen=30)
s = np.array([1.0, 0.0], "f4")
eps, log = 1.0, []
for step in range(40):
    a = (
        random.randrange(3)
        if random.random() < eps
        else int(tf.argmax(q.advantage(s[None])[0]).numpy())
    )
    s2 = (s + 0.1 * np.array([s[1], a - 1 - 0.3 * s[0]])).astype("f4")
    r = -float(np.abs(s2).sum())
    d = step % 10 == 9
    mem.append(Transition(s, a, r, s2, d))
    pri.append(max(pri, default=1.0))
    s = s2 if not d else np.array([1.0, 0.0], "f4")
    eps = max(0.1, eps * 0.95)
    if step < 12:
        continue
    p = np.array(pri) ** 0.6
    p /= p.sum()
    idx = np.random.choice(len(mem), 8, p=p)
    w = (len(mem) * p[idx]) ** -0.4
    w /= w.max()
    S, A, R, S2, D = (np.array(c) for c in zip(*[mem[i] for i in idx]))
    best = tf.argmax(q(S2), axis=1)
    tq = tf.gather(t(S2), best, axis=1, batch_dims=1)
    y = R.astype("f4") + 0.95 * tq * (1 - D.astype("f4"))
    with tf.GradientTape() as tape:
        qa = tf.gather_nd(q(S), tf.stack([tf.range(8), A.astype(np.int32)], axis=1))
        td = y - qa
        loss = tf.reduce_mean(huber(y[:, None], qa[:, None]) * w.astype("f4"))
    g = tape.gradient(loss, q.trainable_variables)
    q.optimizer.apply_gradients(zip(g, q.trainable_variables))
    for i, e in zip(idx, np.abs(td.numpy())):
        pri[i] = float(e) + 1e-3
    if step % 5 == 0:
        t.set_weights([0.5 * a_ + 0.5 * b_ for a_, b_ in zip(q.get_weights(), t.get_weights())])
    log.append(float(loss))
results = {"log": log, "q": q(np.eye(2, dtype="f4")).numpy().tolist(), "eps": eps}
