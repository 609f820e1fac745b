"""A search over hyperparameters with tf.Module: layers of one's own, momentum, early stopping."""

import itertools

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(53)
x = rng.uniform(-2, 2, (60, 2)).astype(np.float32)
y = np.sin(x[:, :1] * 2) * x[:, 1:]
x_train, y_train, x_val, y_val = x[:40], y[:40], x[40:], y[40:]
ACTIVATIONS = {"tanh": tf.tanh, "gelu": tf.nn.gelu}


class Dense(tf.Module):
    def __init__(self, out_features, generator, activation=None, name=None):
        super().__init__(name=name)
        self.is_built = False
        self.out_features, self.generator, self.activation = out_features, generator, activation

    def __call__(self, x):
        if not self.is_built:
            limit = np.sqrt(6 / (x.shape[-1] + self.out_features))
            w = self.generator.uniform(-limit, limit, (x.shape[-1], self.out_features))
            self.w = tf.Variable(tf.cast(w, tf.float32), name="w")
            self.b = tf.Variable(tf.zeros([self.out_features]), name="b")
            self.is_built = True
        y = tf.matmul(x, self.w) + self.b
        return y if self.activation is None else self.activation(y)


class MLP(tf.Module):
    def __init__(self, sizes, activation, name=None):
        super().__init__(name=name)
        generator = np.random.default_rng(54)
        self.layers = []
        with self.name_scope:
            for size in sizes[:-1]:
                self.layers.append(Dense(size, generator, ACTIVATIONS[activation]))
            self.layers.append(Dense(sizes[-1], generator))

    @tf.Module.with_name_scope
    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def l2_penalty(module):
    return tf.add_n([tf.nn.l2_loss(v) for v in module.trainable_variables if v.shape.rank > 1])


def run(width, activation, weight_decay, patience=3):
    model = MLP([width, width, 1], activation, name="mlp")
    model(x_train[:1])
    velocity = [tf.Variable(tf.zeros_like(v), trainable=False) for v in model.trainable_variables]
    best, waited, curve = np.inf, 0, []
    for epoch in range(12):
        for i in range(0, 40, 20):
            with tf.GradientTape() as tape:
                error = model(x_train[i : i + 20]) - y_train[i : i + 20]
                loss = tf.reduce_mean(error**2) + weight_decay * l2_penalty(model)
            gradients = tape.gradient(loss, model.trainable_variables)
            for v, m, g in zip(model.trainable_variables, velocity, gradients):
                m.assign(0.8 * m + g)
                v.assign_sub(0.1 * m)
        validation = tf.reduce_mean((model(x_val) - y_val) ** 2).numpy()
        curve.append(float(validation))
        if validation < best - 1e-4:
            best, waited = validation, 0
        else:
            waited += 1
            if waited >= patience:
                break
    return model, float(best), curve


found = {}
for width, activation, decay in itertools.product((4, 8), ("tanh", "gelu"), (0.0, 1e-2)):
    model, best, curve = run(width, activation, decay)
    found[f"{width}-{activation}-{decay}"] = [best, len(curve)]
winner = min(found, key=lambda name: found[name][0])

results = {
    "found": found,
    "winner": winner,
    "curve": curve,
    "variables": [v.name for v in model.variables],
    "modules": len(model.submodules),
    "size": sum(int(tf.size(v)) for v in model.trainable_variables),
}
