"""Graph networks: a sparse graph convolution, message passing by segments, graph attention."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(64)
NODES, FEATURES, CLASSES = 12, 5, 3
labels = np.arange(NODES) % CLASSES
edges = np.array(
    [(i, j) for i in range(NODES) for j in range(NODES) if i < j and (i + j) % 4 == 0 or i + 3 == j]
)
source = np.concatenate([edges[:, 0], edges[:, 1], np.arange(NODES)])
target = np.concatenate([edges[:, 1], edges[:, 0], np.arange(NODES)])
order = np.lexsort((target, source))
source, target = source[order], target[order]
x = tf.constant(np.eye(CLASSES)[labels] @ rng.normal(size=(CLASSES, FEATURES)), tf.float32)
x += tf.constant(0.5 * rng.normal(size=x.shape), tf.float32)
degree = np.bincount(source, minlength=NODES)
weights = (1 / np.sqrt(degree[source] * degree[target])).astype(np.float32)
adjacency = tf.SparseTensor(np.stack([source, target], 1), weights, (NODES, NODES))


def glorot(*shape):
    limit = np.sqrt(6 / sum(shape))
    return tf.Variable(tf.constant(rng.uniform(-limit, limit, shape), tf.float32))


def gcn(x, w1, w2):
    h = tf.nn.relu(tf.sparse.sparse_dense_matmul(adjacency, x @ w1))
    return tf.sparse.sparse_dense_matmul(adjacency, h @ w2)


def message_passing(x, w_self, w_message):
    messages = tf.gather(x, source) @ w_message
    mean = tf.math.unsorted_segment_mean(messages, target, NODES)
    largest = tf.math.unsorted_segment_max(messages, target, NODES)
    return x @ w_self + tf.concat([mean, largest], axis=1)[:, :CLASSES] + mean


def attention(x, w, a):
    h = x @ w
    scores = tf.nn.leaky_relu(
        tf.gather(h @ a[: w.shape[1]], target) + tf.gather(h @ a[w.shape[1] :], source)
    )[:, 0]
    scores = tf.exp(tf.clip_by_value(scores, -2, 2))
    sums = tf.math.unsorted_segment_sum(scores, target, NODES)
    normalised = scores / tf.gather(sums, target)
    gathered = tf.gather(h, source) * normalised[:, None]
    return tf.math.segment_sum(
        tf.gather(gathered, np.argsort(target, kind="stable")), np.sort(target)
    )


def loss_of(logits, mask):
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    return tf.reduce_sum(losses * mask) / tf.reduce_sum(mask)


networks = {
    "gcn": (gcn, [glorot(FEATURES, 6), glorot(6, CLASSES)]),
    "messages": (message_passing, [glorot(FEATURES, CLASSES), glorot(FEATURES, CLASSES)]),
    "attention": (attention, [glorot(FEATURES, CLASSES), glorot(2 * CLASSES, 1)]),
}
train_mask = tf.constant(np.arange(NODES) % 4 != 0, tf.float32)
results = {}
for name, (function, variables) in networks.items():
    optimizer = tf.keras.optimizers.Adam(0.05)
    history = []
    for step in range(10):
        with tf.GradientTape() as tape:
            logits = function(x, *variables)
            loss = loss_of(logits, train_mask)
        gradients = tape.gradient(loss, variables)
        optimizer.apply_gradients(zip(gradients, variables))
        history.append(float(loss))
    results[name] = {
        "losses": history[::3],
        "test": float(loss_of(function(x, *variables), 1 - train_mask)),
        "norms": [float(tf.norm(g)) for g in gradients],
        "logits": logits[1].numpy().tolist(),
    }
laplacian = tf.eye(NODES) - tf.sparse.to_dense(tf.sparse.reorder(adjacency))
results["spectrum"] = tf.linalg.eigvalsh(laplacian)[:3].numpy().round(3).tolist()
