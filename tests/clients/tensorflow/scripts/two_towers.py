"""Recommendation by two towers: users and titles looked up, embedded, and ranked in a batch."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(17)
rng = np.random.default_rng(6)
users = np.array([f"user {n}" for n in rng.integers(0, 6, 40)])
titles = np.array([f"title {n}" for n in rng.integers(0, 8, 40)])
ages = rng.normal(35, 10, size=40).astype("float32")
ratings = rng.integers(1, 6, 40).astype("float32")
dataset = tf.data.Dataset.from_tensor_slices(
    {"user": users, "title": titles, "age": ages, "rating": ratings}
).batch(10)

user_lookup = layers.StringLookup(mask_token=None)
user_lookup.adapt(dataset.map(lambda row: row["user"]))
title_lookup = layers.StringLookup(mask_token=None, max_tokens=7)
title_lookup.adapt(dataset.map(lambda row: row["title"]))
ages_in_bins = layers.Discretization(bin_boundaries=[25.0, 35.0, 45.0])
normalize = layers.Normalization(axis=None)
normalize.adapt(dataset.map(lambda row: row["age"]))
encode = layers.CategoryEncoding(num_tokens=4, output_mode="one_hot")


class UserTower(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.embedding = layers.Embedding(user_lookup.vocabulary_size(), 4)
        self.dense = layers.Dense(4)

    def call(self, row):
        bins = encode(ages_in_bins(row["age"]))
        age = tf.reshape(normalize(row["age"]), (-1, 1))
        return self.dense(tf.concat([self.embedding(user_lookup(row["user"])), bins, age], axis=1))


class Towers(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.user = UserTower()
        self.title = tf.keras.Sequential(
            [title_lookup, layers.Embedding(title_lookup.vocabulary_size(), 4)]
        )
        self.rating = tf.keras.Sequential([layers.Dense(6, "relu"), layers.Dense(1)])
        self.ranked = tf.keras.metrics.SparseTopKCategoricalAccuracy(k=3)

    def call(self, row):
        user, title = self.user(row), self.title(row["title"])
        return user, title, self.rating(tf.concat([user, title], axis=1))

    def train_step(self, row):
        with tf.GradientTape() as tape:
            user, title, rating = self(row)
            scores = tf.matmul(user, title, transpose_b=True)
            labels = tf.range(tf.shape(scores)[0])
            retrieval = tf.reduce_sum(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=scores)
            )
            squared = tf.reduce_mean((rating[:, 0] - row["rating"]) ** 2)
            loss = 0.1 * retrieval + squared
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        self.ranked.update_state(labels, scores)
        return {"loss": loss, "squared": squared, "top 3": self.ranked.result()}


model = Towers()
model.compile(optimizer=tf.keras.optimizers.Adagrad(0.1))
history = model.fit(dataset, epochs=3, verbose=0)

names = title_lookup.get_vocabulary()
query = {"user": tf.constant(["user 1"]), "age": tf.constant([30.0])}
scores = tf.matmul(model.user(query), model.title(tf.constant(names)), transpose_b=True)
best = tf.math.top_k(scores[0], k=3)
results = {
    "history": {name: [float(each) for each in values] for name, values in history.history.items()},
    "vocabulary": [str(name) for name in names],
    "best": [str(names[int(place)]) for place in best.indices],
    "scores": best.values.numpy().tolist(),
}
