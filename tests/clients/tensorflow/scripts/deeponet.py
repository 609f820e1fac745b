"""A DeepONet for the antiderivative operator: branch and trunk networks, and their derivative."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(17)
SENSORS, FUNCTIONS, POINTS, WIDTH = 10, 12, 5, 8

sensors = np.linspace(0, 1, SENSORS)
coefficients = rng.normal(size=(FUNCTIONS, 3))
basis = np.stack([np.sin((k + 1) * np.pi * sensors / 2) for k in range(3)])
u_sensors = coefficients @ basis
y_points = rng.uniform(size=(FUNCTIONS, POINTS))
k = (np.arange(3) + 1) * np.pi / 2
targets = np.einsum("fk,fpk->fp", coefficients, (1 - np.cos(y_points[..., None] * k)) / k)

branch_in = tf.constant(np.repeat(u_sensors, POINTS, axis=0), tf.float32)
trunk_in = tf.constant(y_points.reshape(-1, 1), tf.float32)
outputs = tf.constant(targets.reshape(-1, 1), tf.float32)


class DenseStack(tf.keras.layers.Layer):
    def __init__(self, widths, activation="tanh", **kwargs):
        super().__init__(**kwargs)
        self.hidden = [tf.keras.layers.Dense(w, activation=activation) for w in widths[:-1]]
        self.last = tf.keras.layers.Dense(widths[-1])

    def call(self, x):
        for layer in self.hidden:
            x = layer(x)
        return self.last(x)


class DeepONet(tf.keras.Model):
    def __init__(self, width, **kwargs):
        super().__init__(**kwargs)
        self.branch = DenseStack([width, width], name="branch")
        self.trunk = DenseStack([width, width], name="trunk")

    def build(self, input_shape=None):
        self.bias = self.add_weight(name="bias", shape=(1,), initializer="zeros")

    def call(self, inputs):
        u, y = inputs
        return tf.einsum("bi,bi->b", self.branch(u), self.trunk(y))[:, None] + self.bias


model = DeepONet(WIDTH)
model([branch_in, trunk_in])
for variable in sorted(model.trainable_variables, key=lambda v: (v.path, tuple(v.shape))):
    if len(variable.shape) > 1:
        variable.assign(rng.normal(0, 1 / np.sqrt(variable.shape[0]), variable.shape))
optimizer = tf.keras.optimizers.Adam(
    tf.keras.optimizers.schedules.ExponentialDecay(0.02, decay_steps=10, decay_rate=0.9)
)


@tf.function
def train_step(u, y, target):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model([u, y]) - target))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


losses = [float(train_step(branch_in, trunk_in, outputs)) for _ in range(30)]
with tf.GradientTape() as tape:  # the derivative of the antiderivative is the input
    tape.watch(trunk_in)
    s = model([branch_in, trunk_in])
slope = tape.gradient(s, trunk_in)
true_slope = np.einsum("fk,fpk->fp", coefficients, np.sin(y_points[..., None] * k)).reshape(-1, 1)

results = {
    "losses": losses[::6],
    "slopes": slope[:4, 0].numpy().tolist(),
    "slope_error": float(np.sqrt(np.mean((slope.numpy() - true_slope) ** 2))),
    "rate": float(optimizer.learning_rate),
    "weights": len(model.weights),
    "bias": model.bias.numpy().tolist(),
}
