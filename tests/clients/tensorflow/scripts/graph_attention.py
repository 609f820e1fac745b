"""Graph networks with tf.sparse: GCN, GraphSAGE by segment means, GAT with sparse softmax."""

import numpy as np
import tensorflow as tf

tf.random.set_seed(1)
edges = np.array([[0, 1], [1, 0], [1, 2], [2, 1], [2, 3], [3, 2], [0, 3], [3, 0], [4, 0], [0, 4]])
n = 5
A = tf.sparse.reorder(
    tf.SparseTensor(edges.astype(np.int64), np.ones(len(edges), np.float32), [n, n])
)
A_hat = tf.sparse.add(A, tf.sparse.eye(n))
deg = tf.sparse.reduce_sum(A_hat, axis=1)
dinv = tf.pow(deg, -0.5)
norm = tf.SparseTensor(
    A_hat.indices,
    A_hat.values * tf.gather(dinv, A_hat.indices[:, 0]) * tf.gather(dinv, A_hat.indices[:, 1]),
    A_hat.dense_shape,
)
X = tf.random.normal([n, 4], seed=2)
labels = tf.constant([0, 1, 1, 0, 1])
mask = tf.constant([True, True, False, True, False])


class GCN(tf.keras.layers.Layer):
    def __init__(self, units, activation=None, **kw):
        super().__init__(**kw)
        self.units = units
        self.activation = tf.keras.activations.get(activation)

    def build(self, s):
        self.w = self.add_weight(
            shape=(4 if self.units == 6 else 6, self.units),
            initializer=tf.keras.initializers.GlorotUniform(seed=3),
            name="w",
        )

    def call(self, inputs):
        x, a = inputs
        return self.activation(tf.sparse.sparse_dense_matmul(a, tf.matmul(x, self.w)))


l1, l2 = GCN(6, "relu"), GCN(2)
att = tf.Variable(tf.random.normal([12, 1], seed=5) * 0.3, name="att")
Wg = tf.Variable(tf.random.normal([4, 6], seed=6) * 0.3)


def gat(x):
    h = x @ Wg
    s, d = A_hat.indices[:, 0], A_hat.indices[:, 1]
    e = tf.nn.leaky_relu(tf.squeeze(tf.concat([tf.gather(h, s), tf.gather(h, d)], 1) @ att, 1))
    a = tf.sparse.softmax(tf.SparseTensor(A_hat.indices, e, A_hat.dense_shape))
    return tf.sparse.sparse_dense_matmul(a, h)


def gat2(x):
    h = x @ Wg
    s, d = A_hat.indices[:, 0], A_hat.indices[:, 1]
    e = tf.nn.leaky_relu(tf.squeeze(tf.concat([tf.gather(h, s), tf.gather(h, d)], 1) @ att, 1))
    mx = tf.gather(tf.math.unsorted_segment_max(e, s, n), s)
    ex = tf.exp(e - mx)
    den = tf.gather(tf.math.unsorted_segment_sum(ex, s, n), s)
    return tf.math.unsorted_segment_sum((ex / den)[:, None] * tf.gather(h, d), s, n)


opt = tf.keras.optimizers.Adam(0.05)
losses = []
for _ in range(6):
    with tf.GradientTape() as tape:
        logits = l2([l1([X, norm]), norm])
        ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        loss = tf.reduce_mean(tf.boolean_mask(ce, mask)) + 5e-4 * tf.add_n(
            [tf.nn.l2_loss(v) for v in l1.trainable_variables]
        )
    vs = l1.trainable_variables + l2.trainable_variables
    opt.apply_gradients(zip(tape.gradient(loss, vs), vs))
    losses.append(float(loss))
with tf.GradientTape(persistent=True) as tape:
    a, b = tf.reduce_sum(gat2(X) ** 2), tf.reduce_sum(gat(X) ** 2)
g2 = tape.gradient(a, [att, Wg])
try:
    g1 = [v.numpy().tolist() for v in tape.gradient(b, [att, Wg])]
except LookupError as e:
    g1 = type(e).__name__
deg_mean = tf.math.segment_mean(tf.gather(X, A.indices[:, 1]), A.indices[:, 0])
results = {
    "losses": losses,
    "g2": [v.numpy().tolist() for v in g2],
    "g1": g1,
    "ab": [float(a), float(b)],
    "sage": deg_mean.numpy().tolist(),
    "deg": deg.numpy().tolist(),
}
