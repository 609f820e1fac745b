"""Examples written to files of records, read in shards, interleaved, and learnt from."""

import os
import tempfile

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(3)
rng = np.random.default_rng(8)
folder = tempfile.mkdtemp()


def _bytes_feature(value):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


def _float_feature(values):
    return tf.train.Feature(float_list=tf.train.FloatList(value=values))


def _int64_feature(value):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))


def serialize(features, label, matrix):
    feature = {
        "features": _float_feature(features),
        "label": _int64_feature(label),
        "matrix": _bytes_feature(tf.io.serialize_tensor(matrix).numpy()),
        "name": _bytes_feature(f"row {label}".encode()),
    }
    return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()


for shard in range(3):
    path = os.path.join(folder, f"part-{shard}.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for _ in range(5):
            row = rng.normal(size=3).astype("float32")
            label = int(row.sum() > 0)
            writer.write(serialize(row, label, tf.constant(np.outer(row, row))))

DESCRIPTION = {
    "features": tf.io.FixedLenFeature([3], tf.float32),
    "label": tf.io.FixedLenFeature([], tf.int64, default_value=0),
    "matrix": tf.io.FixedLenFeature([], tf.string),
    "name": tf.io.FixedLenFeature([], tf.string),
    "weight": tf.io.FixedLenFeature([], tf.float32, default_value=1.5),
}


def parse(text):
    example = tf.io.parse_single_example(text, DESCRIPTION)
    matrix = tf.ensure_shape(tf.io.parse_tensor(example["matrix"], tf.float32), [3, 3])
    return example["features"], tf.linalg.trace(matrix), example["label"], example["weight"]


files = tf.data.Dataset.list_files(os.path.join(folder, "*.tfrecord"), shuffle=False)
dataset = (
    files.interleave(tf.data.TFRecordDataset, cycle_length=3)
    .map(parse)
    .shuffle(15, seed=4)
    .batch(5)
)
weights = [
    tf.Variable(tf.random.normal([4, 4], stddev=0.5, seed=1), name="hidden"),
    tf.Variable(tf.zeros([4]), name="hidden_bias"),
    tf.Variable(tf.random.normal([4, 1], stddev=0.5, seed=2), name="output"),
]


def model(inputs):
    hidden, bias, output = weights
    return tf.matmul(tf.tanh(tf.matmul(inputs, hidden) + bias), output)


optimizer = tf.compat.v1.train.RMSPropOptimizer(0.05)
global_step = tf.Variable(0, dtype=tf.int64, trainable=False)
losses = []
for epoch in range(3):
    for features, trace, label, weight in dataset:
        with tf.GradientTape() as tape:
            inputs = tf.concat([features, trace[:, None]], axis=1)
            logits = model(inputs)[:, 0]
            entropy = tf.nn.sigmoid_cross_entropy_with_logits(
                labels=tf.cast(label, tf.float32), logits=logits
            )
            loss = tf.reduce_mean(weight * entropy)
        gradients = tape.gradient(loss, weights)
        optimizer.apply_gradients(zip(gradients, weights), global_step=global_step)
        losses.append(float(loss))

first = tf.train.Example.FromString(next(iter(tf.data.TFRecordDataset(path))).numpy())
results = {
    "losses": losses,
    "steps": int(global_step),
    "features": list(first.features.feature["features"].float_list.value),
    "name": first.features.feature["name"].bytes_list.value[0].decode(),
    "logits": model(inputs)[:, 0].numpy().tolist(),
}
