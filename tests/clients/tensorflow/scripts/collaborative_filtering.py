"""Collaborative filtering: embeddings of users and items, sparse gradients, ranking by scores."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

rng = np.random.default_rng(34)
USERS, ITEMS, SIZE = 9, 12, 4
pairs = np.array([(u, i) for u in range(USERS) for i in range(ITEMS) if (u * i + u) % 3])
truth = rng.normal(size=(USERS, 2)) @ rng.normal(size=(2, ITEMS))
ratings = 1 / (1 + np.exp(-truth[pairs[:, 0], pairs[:, 1]]))
order = rng.permutation(len(pairs))
x, y = pairs[order], ratings[order].astype("float32")[:, None]


class RecommenderNet(keras.Model):
    def __init__(self, num_users, num_items, embedding_size, **kwargs):
        super().__init__(**kwargs)
        self.user_embedding = layers.Embedding(
            num_users,
            embedding_size,
            embeddings_regularizer=keras.regularizers.l2(1e-4),
        )
        self.user_bias = layers.Embedding(num_users, 1, embeddings_initializer="zeros")
        self.item_embedding = layers.Embedding(num_items, embedding_size)
        self.item_bias = layers.Embedding(num_items, 1, embeddings_initializer="zeros")

    def call(self, inputs):
        user_vector = self.user_embedding(inputs[:, 0])
        item_vector = self.item_embedding(inputs[:, 1])
        dot = tf.reduce_sum(user_vector * item_vector, axis=1, keepdims=True)
        logits = dot + self.user_bias(inputs[:, 0]) + self.item_bias(inputs[:, 1])
        return tf.nn.sigmoid(logits)


model = RecommenderNet(USERS, ITEMS, SIZE)
model(x[:1])
model.set_weights([rng.normal(0, 0.3, w.shape) for w in model.get_weights()])
model.compile(
    loss=tf.keras.losses.BinaryCrossentropy(), optimizer=keras.optimizers.Adam(learning_rate=0.05)
)
history = model.fit(
    x=x[:36],
    y=y[:36],
    batch_size=12,
    epochs=4,
    verbose=0,
    shuffle=False,
    validation_data=(x[36:], y[36:]),
)

# plain matrix factorisation, whose gradients are slices
P = tf.Variable(rng.normal(0, 0.3, (USERS, SIZE)), dtype=tf.float32)
Q = tf.Variable(rng.normal(0, 0.3, (ITEMS, SIZE)), dtype=tf.float32)
optimizer = tf.keras.optimizers.Adagrad(0.3)
losses, kinds = [], set()
for step in range(8):
    batch = slice(6 * step, 6 * step + 6)
    with tf.GradientTape() as tape:
        p = tf.nn.embedding_lookup(P, x[batch, 0])
        q = tf.gather(Q, x[batch, 1])
        loss = tf.reduce_mean((tf.reduce_sum(p * q, axis=1) - y[batch, 0]) ** 2)
    gradients = tape.gradient(loss, [P, Q])
    kinds |= {isinstance(g, tf.IndexedSlices) for g in gradients}
    optimizer.apply_gradients(zip(gradients, [P, Q]))
    losses.append(float(loss))
repeated = gradients[0]
summed = tf.math.unsorted_segment_sum(repeated.values, repeated.indices, USERS)
dense = tf.convert_to_tensor(repeated)

scores = model.predict(np.array([[3, item] for item in range(ITEMS)]), verbose=0).flatten()
best = tf.math.top_k(scores, k=3)
results = {
    "loss": [float(v) for v in history.history["loss"]],
    "val_loss": [float(v) for v in history.history["val_loss"]],
    "losses": losses,
    "sparse": sorted(kinds),
    "rows": [int(i) for i in repeated.indices],
    "same": bool(tf.reduce_all(tf.abs(summed - dense) < 1e-6)),
    "gradient": dense[:, 0].numpy().tolist(),
    "best": best.indices.numpy().tolist(),
    "scores": best.values.numpy().tolist(),
}
