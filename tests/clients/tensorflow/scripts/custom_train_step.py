"""fit() with train_step and test_step of one's own, sample weights and a gradient-norm metric."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

rng = np.random.default_rng(24)
loss_tracker = keras.metrics.Mean(name="loss")
mae_metric = keras.metrics.MeanAbsoluteError(name="mae")


class CustomModel(keras.Model):
    def train_step(self, data):
        if len(data) == 3:
            x, y, sample_weight = data
        else:
            sample_weight, (x, y) = None, data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = tf.square(y - y_pred)
            if sample_weight is not None:
                loss = loss * sample_weight[:, tf.newaxis]
            loss = tf.reduce_mean(loss)
        trainable_vars = self.trainable_variables
        gradients = tape.gradient(loss, trainable_vars)
        self.optimizer.apply_gradients(zip(gradients, trainable_vars))
        loss_tracker.update_state(loss)
        mae_metric.update_state(y, y_pred, sample_weight=sample_weight)
        return {
            "loss": loss_tracker.result(),
            "mae": mae_metric.result(),
            "norm": tf.linalg.global_norm(gradients),
        }

    def test_step(self, data):
        x, y = data
        y_pred = self(x, training=False)
        loss_tracker.update_state(tf.reduce_mean(tf.square(y - y_pred)))
        mae_metric.update_state(y, y_pred)
        return {m.name: m.result() for m in self.metrics}

    @property
    def metrics(self):
        return [loss_tracker, mae_metric]


inputs = keras.Input(shape=(5,))
hidden = keras.layers.Dense(6, activation="swish")(inputs)
model = CustomModel(inputs, keras.layers.Dense(1)(hidden))
model.set_weights([rng.normal(0, 0.4, w.shape) for w in model.get_weights()])
model.compile(optimizer=keras.optimizers.Adam(0.02))

x = rng.normal(size=(40, 5)).astype("float32")
y = (np.abs(x[:, :1]) + x[:, 1:2]).astype("float32")
weights = rng.uniform(size=40).astype("float32")
plain = model.fit(x, y, batch_size=10, epochs=3, shuffle=False, verbose=0)
weighted = model.fit(
    x,
    y,
    sample_weight=weights,
    batch_size=10,
    epochs=2,
    shuffle=False,
    verbose=0,
    validation_data=(x[:10], y[:10]),
)
evaluated = model.evaluate(x, y, batch_size=20, verbose=0, return_dict=True)


# the same with what compile() was given, by compute_loss
class ByCompile(keras.Model):
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compute_loss(y=y, y_pred=y_pred)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply(gradients, self.trainable_variables)
        for metric in self.metrics:
            if metric.name == "loss":
                metric.update_state(loss)
            else:
                metric.update_state(y, y_pred)
        return {m.name: m.result() for m in self.metrics}


compiled = ByCompile(inputs, keras.layers.Dense(1)(hidden))
compiled.layers[-1].set_weights([rng.normal(0, 0.4, (6, 1)), np.zeros(1)])
compiled.compile(optimizer="sgd", loss="mse", metrics=["mae"])
history = compiled.fit(x, y, batch_size=20, epochs=2, shuffle=False, verbose=0)


def numbers(history):
    return {name: [float(v) for v in values] for name, values in sorted(history.history.items())}


results = {
    "plain": numbers(plain),
    "weighted": numbers(weighted),
    "evaluated": {name: float(value) for name, value in sorted(evaluated.items())},
    "compiled": numbers(history),
}
