"""Pieces of one's own: a loss, a metric, a callback, an optimizer and a learning-rate schedule."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

rng = np.random.default_rng(25)


class FocalLoss(keras.losses.Loss):
    def __init__(self, gamma=2.0, alpha=0.25, name="focal", **kwargs):
        super().__init__(name=name, **kwargs)
        self.gamma, self.alpha = gamma, alpha

    def call(self, y_true, y_pred):
        y_true = tf.cast(y_true, y_pred.dtype)
        p = tf.clip_by_value(tf.sigmoid(y_pred), 1e-7, 1 - 1e-7)
        positive = -self.alpha * y_true * (1 - p) ** self.gamma * tf.math.log(p)
        negative = -(1 - self.alpha) * (1 - y_true) * p**self.gamma * tf.math.log(1 - p)
        return tf.reduce_mean(positive + negative, axis=-1)


class F1Score(keras.metrics.Metric):
    def __init__(self, name="f1", **kwargs):
        super().__init__(name=name, **kwargs)
        self.tp = self.add_weight(name="tp", initializer="zeros")
        self.wrong = self.add_weight(name="wrong", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        predicted = tf.cast(y_pred > 0.0, tf.float32)
        truth = tf.cast(y_true, tf.float32)
        self.tp.assign_add(tf.reduce_sum(predicted * truth))
        self.wrong.assign_add(tf.reduce_sum(tf.abs(predicted - truth)))

    def result(self):
        return self.tp / (self.tp + self.wrong / 2 + 1e-7)

    def reset_state(self):
        self.tp.assign(0.0)
        self.wrong.assign(0.0)


class WarmUp(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, initial, steps):
        self.initial, self.steps = initial, steps

    def __call__(self, step):
        step = tf.cast(step, tf.float32)
        warm = self.initial * (step + 1) / self.steps
        return tf.where(step < self.steps, warm, self.initial * tf.exp((self.steps - step) * 0.1))

    def get_config(self):
        return {"initial": self.initial, "steps": self.steps}


class NormalizedMomentum(keras.optimizers.Optimizer):
    def __init__(self, learning_rate=0.01, beta=0.9, name="normalized_momentum", **kwargs):
        super().__init__(learning_rate=learning_rate, name=name, **kwargs)
        self.beta = beta

    def build(self, var_list):
        super().build(var_list)
        self.moments = [
            self.add_variable_from_reference(reference_variable=v, name="m") for v in var_list
        ]

    def update_step(self, gradient, variable, learning_rate):
        lr = tf.cast(learning_rate, variable.dtype)
        m = self.moments[self._get_variable_index(variable)]
        m.assign(self.beta * m + gradient / (tf.norm(gradient) + 1e-7))
        variable.assign_sub(lr * m)


class Recorder(keras.callbacks.Callback):
    def on_train_begin(self, logs=None):
        self.batches, self.epochs, self.rates = [], [], []

    def on_train_batch_end(self, batch, logs=None):
        self.batches.append(float(logs["loss"]))

    def on_epoch_end(self, epoch, logs=None):
        self.epochs.append(sorted(logs))
        self.rates.append(float(self.model.optimizer.learning_rate))
        if logs["f1"] > 0.95:
            self.model.stop_training = True


x = rng.normal(size=(60, 4)).astype("float32")
y = (x[:, :1] - 0.5 * x[:, 1:2] > 0.3).astype("float32")


def fitted(optimizer, epochs=4):
    model = keras.Sequential(
        [keras.Input((4,)), keras.layers.Dense(6, activation="tanh"), keras.layers.Dense(1)]
    )
    generator = np.random.default_rng(26)
    model.set_weights([generator.normal(0, 0.4, w.shape) for w in model.get_weights()])
    model.compile(optimizer=optimizer, loss=FocalLoss(), metrics=[F1Score()])
    recorder = Recorder()
    history = model.fit(
        x, y, batch_size=20, epochs=epochs, shuffle=False, verbose=0, callbacks=[recorder]
    )
    return {
        "loss": [float(v) for v in history.history["loss"]],
        "f1": [float(v) for v in history.history["f1"]],
        "batches": recorder.batches[:4],
        "logs": recorder.epochs[0],
        "rates": recorder.rates,
    }


results = {
    "schedule": fitted(keras.optimizers.Adam(WarmUp(0.05, 5))),
    "optimizer": fitted(NormalizedMomentum(0.05)),
    "config": WarmUp(0.1, 3).get_config(),
}
