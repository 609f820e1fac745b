"""A series forecast from windows: recurrent layers, a residual model, and batches by number."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(23)
rng = np.random.default_rng(12)
time = np.arange(60)
series = np.stack(
    [np.sin(time / 5.0) + 0.1 * rng.normal(size=60), np.cos(time / 5.0), time / 60.0], axis=1
).astype("float32")
mean, deviation = series[:40].mean(axis=0), series[:40].std(axis=0)
series = (series - mean) / deviation

train = tf.keras.utils.timeseries_dataset_from_array(
    series[:40], series[6:40, :1], sequence_length=6, batch_size=8, shuffle=True, seed=2
)
test = tf.keras.utils.timeseries_dataset_from_array(
    series[40:], series[46:, :1], sequence_length=6, sampling_rate=1, batch_size=8
)


class Residual(tf.keras.Model):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def call(self, inputs, training=None):
        return inputs[:, -1, :1] + self.model(inputs, training=training)


model = Residual(
    tf.keras.Sequential(
        [
            layers.LSTM(8, return_sequences=True),
            layers.GRU(6, dropout=0.1),
            layers.Dense(1, kernel_initializer=tf.initializers.zeros()),
        ]
    )
)
model.compile(
    loss=tf.keras.losses.Huber(),
    optimizer=tf.keras.optimizers.Adafactor(0.05),
    metrics=[tf.keras.metrics.MeanAbsoluteError(), tf.keras.metrics.R2Score()],
)
history = model.fit(train, epochs=3, validation_data=test, verbose=0)


class Windows(tf.keras.utils.PyDataset):
    def __init__(self, values, length, **kwargs):
        super().__init__(**kwargs)
        self.values, self.length, self.epochs = values, length, 0

    def __len__(self):
        return (len(self.values) - self.length) // 8

    def __getitem__(self, index):
        starts = range(8 * index, 8 * index + 8)
        windows = np.stack([self.values[start : start + self.length] for start in starts])
        return windows, np.stack([self.values[start + self.length, :1] for start in starts])

    def on_epoch_end(self):
        self.epochs += 1


windows = Windows(series[:40], 6)
linear = tf.keras.Sequential([layers.Flatten(), layers.Dense(1)])
linear.compile(loss="mse", optimizer=tf.keras.optimizers.SGD(0.01, momentum=0.9))
fitted = linear.fit(windows, epochs=2, shuffle=False, verbose=0)


def named(history):
    return {name: np.asarray(values).tolist() for name, values in history.history.items()}


results = {
    "history": named(history),
    "linear": named(fitted),
    "forecast": model.predict(test, verbose=0)[:4, 0].tolist(),
    "evaluated": [float(each) for each in model.evaluate(test, verbose=0)],
}
