"""Lookup tables and string features feeding an embedding trained with a tape."""

import tensorflow as tf

tf.random.set_seed(0)
keys = tf.constant(["red", "green", "blue"])
vals = tf.range(3, dtype=tf.int64)
table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, vals), default_value=-1)
vocab_table = tf.lookup.StaticVocabularyTable(
    tf.lookup.KeyValueTensorInitializer(keys, vals), num_oov_buckets=2
)
words = tf.constant(["blue", "red", "pink", "green", "red"])
ids = table.lookup(words)
print(ids)
emb = tf.Variable(tf.random.normal([4, 3], seed=1))
lens = tf.cast(tf.strings.length(words), tf.float32)


@tf.function
def step(w, l):
    with tf.GradientTape() as tape:
        i = table.lookup(w)
        i = tf.where(i < 0, tf.cast(3, tf.int64), i)
        e = tf.nn.embedding_lookup(emb, i)
        loss = tf.reduce_mean((tf.reduce_sum(e, 1) - l) ** 2)
    g = tape.gradient(loss, emb)
    emb.scatter_nd_sub(tf.expand_dims(g.indices, 1), 0.1 * g.values)
    return loss


losses = [float(step(words, lens)) for _ in range(4)]
counts = (
    tf.lookup.experimental.DenseHashTable(
        key_dtype=tf.string, value_dtype=tf.int64, default_value=0, empty_key="$", deleted_key="&"
    )
    if hasattr(tf.lookup.experimental, "DenseHashTable")
    else None
)
mt = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
mt.insert(keys, vals + 5)
results = {
    "ids": ids.numpy().tolist(),
    "losses": losses,
    "size": int(table.size()),
    "v": vocab_table.lookup(tf.constant(["red", "blue"])).numpy().tolist(),
    "n": int(vocab_table.size()),
    "m": mt.lookup(tf.constant(["blue", "x"])).numpy().tolist(),
}
