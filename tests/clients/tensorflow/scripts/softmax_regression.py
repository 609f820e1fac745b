"""Softmax regression written out: one-hot labels, manual cross entropy, accuracy by class."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(3)
CLASSES, FEATURES = 4, 6
centres = rng.normal(scale=1.5, size=(CLASSES, FEATURES))
y_all = rng.integers(0, CLASSES, 160)
x_all = (centres[y_all] + rng.normal(size=(160, FEATURES))).astype("float32")

W = tf.Variable(tf.zeros([FEATURES, CLASSES]), name="weight")
b = tf.Variable(tf.zeros([CLASSES]), name="bias")


def softmax(X):
    X_exp = tf.exp(X - tf.reduce_max(X, axis=1, keepdims=True))
    return X_exp / tf.reduce_sum(X_exp, 1, keepdims=True)


def net(X):
    return softmax(tf.matmul(tf.reshape(X, (-1, W.shape[0])), W) + b)


def cross_entropy(y_pred, y_true):
    y_true = tf.one_hot(y_true, depth=CLASSES)
    y_pred = tf.clip_by_value(y_pred, 1e-9, 1.0)
    return tf.reduce_mean(-tf.reduce_sum(y_true * tf.math.log(y_pred), axis=1))


def picked(y_hat, y):
    return tf.boolean_mask(
        y_hat, tf.one_hot(y, depth=y_hat.shape[-1], on_value=True, off_value=False, dtype=tf.bool)
    )


def accuracy(y_hat, y):
    hits = tf.equal(tf.argmax(y_hat, 1), tf.cast(y, tf.int64))
    return tf.reduce_mean(tf.cast(hits, tf.float32), axis=-1)


optimizer = tf.optimizers.SGD(0.5)
train_data = tf.data.Dataset.from_tensor_slices((x_all[:120], y_all[:120]))
train_data = train_data.repeat().batch(32).prefetch(1)
history = []
for step, (batch_x, batch_y) in enumerate(train_data.take(40), 1):
    with tf.GradientTape() as g:
        loss = cross_entropy(net(batch_x), batch_y)
    gradients = g.gradient(loss, [W, b])
    optimizer.apply_gradients(zip(gradients, [W, b]))
    if step % 10 == 0:
        history.append([float(loss), float(accuracy(net(batch_x), batch_y))])

scores = net(x_all[120:])
truth = tf.constant(y_all[120:], tf.int32)
per_class = tf.math.unsorted_segment_mean(
    tf.cast(tf.equal(tf.argmax(scores, 1, output_type=tf.int32), truth), tf.float32),
    truth,
    num_segments=CLASSES,
)
top = tf.math.in_top_k(truth, scores, k=2)

results = {
    "history": history,
    "bias": b.numpy().tolist(),
    "W": W.numpy()[0].tolist(),
    "picked": picked(scores, truth)[:5].numpy().tolist(),
    "per_class": per_class.numpy().tolist(),
    "top2": int(tf.reduce_sum(tf.cast(top, tf.int32))),
}
