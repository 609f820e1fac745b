"""Siamese networks: a triplet loss with a distance layer, and batch-hard mining."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

rng = np.random.default_rng(33)
labels = np.repeat(np.arange(4), 5)
points = rng.normal(size=(4, 6))[labels] + 0.4 * rng.normal(size=(20, 6))
points = points.astype("float32")


def triplets(count):
    rows = []
    for _ in range(count):
        anchor_class, other = rng.permutation(4)[:2]
        a, p = rng.permutation(5)[:2]
        rows.append((5 * anchor_class + a, 5 * anchor_class + p, 5 * other + rng.integers(5)))
    return [points[list(column)] for column in zip(*rows)]


embedding = keras.Sequential(
    [layers.Input((6,)), layers.Dense(8, activation="relu"), layers.Dense(3, use_bias=False)],
    name="Embedding",
)
embedding.set_weights([rng.normal(0, 0.5, w.shape) for w in embedding.get_weights()])


class DistanceLayer(layers.Layer):
    def call(self, anchor, positive, negative):
        ap_distance = tf.reduce_sum(tf.square(anchor - positive), -1)
        an_distance = tf.reduce_sum(tf.square(anchor - negative), -1)
        return ap_distance, an_distance


class SiameseModel(keras.Model):
    def __init__(self, embedding, margin=0.5):
        super().__init__()
        self.embedding = embedding
        self.distance = DistanceLayer()
        self.margin = margin
        self.loss_tracker = keras.metrics.Mean(name="loss")

    def call(self, inputs):
        a, p, n = inputs
        return self.distance(self.embedding(a), self.embedding(p), self.embedding(n))

    def train_step(self, data):
        with tf.GradientTape() as tape:
            loss = self._compute_loss(data)
        gradients = tape.gradient(loss, self.embedding.trainable_weights)
        self.optimizer.apply_gradients(zip(gradients, self.embedding.trainable_weights))
        self.loss_tracker.update_state(loss)
        return {"loss": self.loss_tracker.result()}

    def _compute_loss(self, data):
        ap_distance, an_distance = self(data)
        return tf.maximum(ap_distance - an_distance + self.margin, 0.0)

    @property
    def metrics(self):
        return [self.loss_tracker]


siamese_model = SiameseModel(embedding)
siamese_model.compile(optimizer=keras.optimizers.SGD(0.01), weighted_metrics=[])
dataset = tf.data.Dataset.from_tensor_slices(tuple(triplets(24)))
dataset = dataset.batch(8, drop_remainder=False).prefetch(tf.data.AUTOTUNE)
history = siamese_model.fit(dataset, epochs=3, verbose=0)


def pairwise_distances(z):
    distances = tf.reduce_sum(tf.square(z[:, None] - z[None]), axis=-1)
    mask = tf.cast(tf.equal(distances, 0.0), tf.float32)
    return tf.sqrt(distances + mask * 1e-16) * (1.0 - mask)


def batch_hard(labels, z, margin=0.5):
    distances = pairwise_distances(z)
    same = tf.equal(labels[None], labels[:, None])
    positive = tf.cast(same, tf.float32) - tf.eye(len(labels))
    hardest_positive = tf.reduce_max(positive * distances, axis=1)
    furthest = tf.reduce_max(distances, axis=1, keepdims=True)
    masked = distances + furthest * tf.cast(same, tf.float32)
    hardest_negative = tf.reduce_min(masked, axis=1)
    return tf.reduce_mean(tf.nn.relu(hardest_positive - hardest_negative + margin))


optimizer, mined = keras.optimizers.SGD(0.05), []
for step in range(5):
    with tf.GradientTape() as tape:
        loss = batch_hard(tf.constant(labels), embedding(points))
    gradients = tape.gradient(loss, embedding.trainable_weights)
    optimizer.apply_gradients(zip(gradients, embedding.trainable_weights))
    mined.append(float(loss))

cosine = keras.metrics.CosineSimilarity()
z = embedding(points)
cosine.update_state(z[0], z[1])
results = {
    "history": [float(v) for v in history.history["loss"]],
    "mined": mined,
    "cosine": float(cosine.result()),
    "distances": pairwise_distances(z)[0].numpy().tolist(),
}
