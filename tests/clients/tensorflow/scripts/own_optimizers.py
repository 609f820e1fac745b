"""Optimizers of one's own: update_step, Lion, LARS and lookahead in plain Python, averages."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(4)


class Lion(tf.keras.optimizers.Optimizer):
    def __init__(self, learning_rate=1e-2, beta_1=0.9, beta_2=0.99, wd=0.01, name="Lion", **kwargs):
        super().__init__(name=name, learning_rate=learning_rate, **kwargs)
        self.beta_1, self.beta_2, self.wd = beta_1, beta_2, wd

    def build(self, variables):
        if self.built:
            return
        super().build(variables)
        self._m = []
        for v in variables:
            self._m.append(self.add_variable_from_reference(v, name="momentum"))

    def update_step(self, gradient, variable, learning_rate):
        lr = tf.cast(learning_rate, variable.dtype)
        m = self._m[self._get_variable_index(variable)]
        if isinstance(gradient, tf.IndexedSlices):
            gradient = tf.convert_to_tensor(gradient)
        update = tf.sign(m * self.beta_1 + gradient * (1 - self.beta_1))
        self.assign_sub(variable, lr * (update + self.wd * variable))
        self.assign(m, m * self.beta_2 + gradient * (1 - self.beta_2))

    def get_config(self):
        c = super().get_config()
        c.update({"beta_1": self.beta_1, "beta_2": self.beta_2, "wd": self.wd})
        return c


class Lookahead:
    def __init__(self, opt, k=3, alpha=0.5):
        self.opt, self.k, self.alpha, self.t, self.slow = opt, k, alpha, 0, None

    def apply_gradients(self, gv):
        gv = list(gv)
        if self.slow is None:
            self.slow = [tf.Variable(v, trainable=False) for _, v in gv]
        self.opt.apply_gradients(gv)
        self.t += 1
        if self.t % self.k == 0:
            for s, (_, v) in zip(self.slow, gv):
                s.assign_add(self.alpha * (v - s))
                v.assign(s)


x = np.random.RandomState(0).randn(20, 4).astype("f4")
y = (x @ [[1.0], [2.0], [0.0], [-1.0]]).astype("f4")


def run(opt, n=7):
    m = tf.keras.Sequential(
        [
            tf.keras.Input((4,)),
            tf.keras.layers.Dense(
                5, "tanh", kernel_initializer=tf.keras.initializers.HeNormal(seed=1)
            ),
            tf.keras.layers.Dense(
                1, kernel_initializer=tf.keras.initializers.GlorotUniform(seed=2)
            ),
        ]
    )
    r = []
    for i in range(n):
        with tf.GradientTape() as t:
            l = tf.losses.mse(y, m(x))
            l = tf.reduce_mean(l)
        opt.apply_gradients(zip(t.gradient(l, m.trainable_variables), m.trainable_variables))
        r.append(float(l))
    return r


lion = Lion(1e-2)


class LARS:
    def __init__(self, lr):
        self.lr = lr

    def apply_gradients(self, gv):
        for g, v in gv:
            wn, gn = tf.norm(v), tf.norm(g)
            trust = tf.cond(tf.logical_and(wn > 0, gn > 0), lambda: 0.1 * wn / gn, lambda: 1.0)
            v.assign_sub(self.lr * trust * g)


results = {
    "lion": run(lion),
    "cfg": sorted(lion.get_config()),
    "n": len(lion.variables),
    "look": run(Lookahead(tf.keras.optimizers.SGD(0.05))),
    "lars": run(LARS(0.5)),
    "ema": run(
        tf.keras.optimizers.Adam(0.01, use_ema=True, ema_momentum=0.9, ema_overwrite_frequency=3)
    ),
    "clip": run(tf.keras.optimizers.RMSprop(0.01, clipnorm=0.5, centered=True, momentum=0.9)),
    "ams": run(
        tf.keras.optimizers.Adam(
            tf.keras.optimizers.schedules.PolynomialDecay(0.1, 5, 0.01, power=2), amsgrad=True
        )
    ),
    "nadam": run(tf.keras.optimizers.Nadam(0.02)),
    "ftrl": run(tf.keras.optimizers.Ftrl(0.1)),
    "adadelta": run(tf.keras.optimizers.Adadelta(1.0)),
    "adamax": run(tf.keras.optimizers.Adamax(0.02)),
    "lion2": run(tf.keras.optimizers.Lion(0.01, weight_decay=0.1)),
}
