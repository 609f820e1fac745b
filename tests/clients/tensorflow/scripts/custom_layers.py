"""Custom layers and models: build, get_config, from_config, add_loss, activity and weights."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

rng = np.random.default_rng(23)


class Linear(keras.layers.Layer):
    def __init__(self, units=32, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, input_shape):
        self.w = self.add_weight(
            shape=(input_shape[-1], self.units),
            initializer="random_normal",
            trainable=True,
            name="w",
        )
        self.b = self.add_weight(shape=(self.units,), initializer="zeros", trainable=True, name="b")

    def call(self, inputs):
        return tf.matmul(inputs, self.w) + self.b

    def get_config(self):
        config = super().get_config()
        config.update({"units": self.units})
        return config


class ComputeSum(keras.layers.Layer):
    def __init__(self, input_dim):
        super().__init__()
        self.total = self.add_weight(initializer="zeros", shape=(input_dim,), trainable=False)

    def call(self, inputs):
        self.total.assign_add(tf.reduce_sum(inputs, axis=0))
        return self.total


class ActivityRegularizationLayer(keras.layers.Layer):
    def __init__(self, rate=1e-2):
        super().__init__()
        self.rate = rate

    def call(self, inputs):
        self.add_loss(self.rate * tf.reduce_mean(inputs**2))
        return inputs


class MLPBlock(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.linear_1, self.linear_2, self.linear_3 = Linear(6), Linear(6), Linear(1)
        self.penalty = ActivityRegularizationLayer()
        self.gate = self.add_weight(shape=(), initializer="ones", name="gate")

    def call(self, inputs, training=None):
        x = tf.nn.relu(self.linear_1(inputs))
        x = self.penalty(x) * self.gate
        x = tf.nn.relu(self.linear_2(x))
        if training:
            x = x * 0.9
        return self.linear_3(x)


class ResNet(keras.Model):
    def __init__(self, name="resnet"):
        super().__init__(name=name)
        self.block_1, self.block_2 = MLPBlock(), MLPBlock()
        self.head = keras.layers.Dense(
            1, kernel_initializer="he_normal", kernel_regularizer=keras.regularizers.l2(1e-2)
        )

    def call(self, inputs, training=None):
        x = self.block_1(inputs, training=training)
        x = x + self.block_2(inputs, training=training)
        return self.head(tf.concat([inputs, x], axis=1))


x = tf.constant(rng.normal(size=(12, 3)), tf.float32)
y = tf.reduce_sum(tf.sin(x), axis=1, keepdims=True)
model = ResNet()
model(x[:1])
model.set_weights([rng.normal(0, 0.4, w.shape) for w in model.get_weights()])
optimizer = keras.optimizers.SGD(0.05, momentum=0.9)
losses, penalties = [], []
for step in range(10):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(keras.losses.mse(y, model(x, training=True)))
        extra = sum(model.losses)
        total = loss + extra
    grads = tape.gradient(total, model.trainable_weights)
    optimizer.apply_gradients(zip(grads, model.trainable_weights))
    losses.append(float(loss))
    penalties.append(float(extra))

layer = Linear(4)
copy = Linear.from_config(layer.get_config())
summing = ComputeSum(2)
summing(tf.ones((2, 2)))
results = {
    "losses": losses,
    "penalties": penalties,
    "gates": [float(model.block_1.gate), float(model.block_2.gate)],
    "evaluated": model(x[:3]).numpy().ravel().tolist(),
    "counts": [len(model.weights), len(model.trainable_weights), model.count_params()],
    "copied": copy.units,
    "sum": summing(tf.ones((3, 2))).numpy().tolist(),
    "sum_trainable": len(summing.trainable_weights),
    "names": [layer.name for layer in model.layers if layer.name.startswith("mlp")] != [],
}
