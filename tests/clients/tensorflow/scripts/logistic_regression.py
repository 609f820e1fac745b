"""Logistic regression with normalised inputs, a confusion matrix and decision thresholds."""

import numpy as np
import tensorflow as tf

tf.random.set_seed(22)
rng = np.random.default_rng(22)

n = 120
labels = rng.integers(0, 2, n)
inputs = rng.normal(size=(n, 5)) + labels[:, None] * np.array([1.0, -0.5, 0.25, 0.0, 0.8])
inputs, labels = inputs.astype(np.float32), labels.astype(np.float32)
x_train, x_test, y_train, y_test = inputs[:90], inputs[90:], labels[:90], labels[90:]


class Normalize(tf.Module):
    def __init__(self, x):
        self.mean = tf.Variable(tf.math.reduce_mean(x, axis=0), trainable=False)
        self.std = tf.Variable(tf.math.reduce_std(x, axis=0), trainable=False)

    def norm(self, x):
        return (x - self.mean) / self.std


class LogisticRegression(tf.Module):
    def __init__(self):
        self.built = False

    def __call__(self, x, train=True):
        if not self.built:
            self.w = tf.Variable(tf.random.uniform(shape=[x.shape[-1], 1], seed=22))
            self.b = tf.Variable(tf.random.uniform(shape=[], seed=22))
            self.built = True
        z = tf.squeeze(tf.add(tf.matmul(x, self.w), self.b), axis=1)
        return z if train else tf.sigmoid(z)


def log_loss(y_pred, y):
    ce = tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=y_pred)
    return tf.reduce_mean(ce)


def accuracy(y_pred, y):
    return tf.reduce_mean(tf.cast(tf.equal(tf.cast(y_pred > 0.5, tf.float32), y), tf.float32))


norm_x = Normalize(x_train)
train = tf.data.Dataset.from_tensor_slices((norm_x.norm(x_train), y_train)).batch(30)
log_reg = LogisticRegression()
losses, accuracies = [], []
for epoch in range(20):
    batch_losses = []
    for x_batch, y_batch in train:
        with tf.GradientTape() as tape:
            batch_loss = log_loss(log_reg(x_batch), y_batch)
        grads = tape.gradient(batch_loss, log_reg.trainable_variables)
        for g, v in zip(grads, log_reg.variables):
            v.assign_sub(0.2 * g)
        batch_losses.append(batch_loss)
    losses.append(tf.reduce_mean(batch_losses).numpy())
    accuracies.append(accuracy(log_reg(norm_x.norm(x_train), train=False), y_train).numpy())

probabilities = log_reg(norm_x.norm(x_test), train=False)
predicted = tf.cast(tf.greater(probabilities, 0.5), tf.int32)
matrix = tf.math.confusion_matrix(tf.cast(y_test, tf.int32), predicted, num_classes=2)
curve = []
for threshold in tf.linspace(0.1, 0.9, 5):
    positive = probabilities > threshold
    hits = tf.math.count_nonzero(tf.logical_and(positive, y_test > 0.5))
    curve.append([int(hits), int(tf.math.count_nonzero(positive))])

results = {
    "losses": [float(each) for each in losses[::5]],
    "accuracies": [float(each) for each in accuracies[::5]],
    "w": tf.squeeze(log_reg.w).numpy().tolist(),
    "b": float(log_reg.b),
    "confusion": matrix.numpy().tolist(),
    "curve": curve,
}
