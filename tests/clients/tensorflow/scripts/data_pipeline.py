"""tf.data: map, filter, window, zip, padded batches, interleave, generators, and training."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(51)
series = np.sin(np.arange(60) / 5.0).astype("float32")


def windowed_dataset(series, window_size, batch_size):
    dataset = tf.data.Dataset.from_tensor_slices(series)
    dataset = dataset.window(window_size + 1, shift=1, drop_remainder=True)
    dataset = dataset.flat_map(lambda window: window.batch(window_size + 1))
    dataset = dataset.map(lambda window: (window[:-1], window[-1:]))
    return dataset.batch(batch_size).prefetch(1)


def numbers():
    for n in range(7):
        yield n, np.full(n % 3 + 1, n, np.float32)


generated = tf.data.Dataset.from_generator(
    numbers,
    output_signature=(
        tf.TensorSpec(shape=(), dtype=tf.int32),
        tf.TensorSpec(shape=(None,), dtype=tf.float32),
    ),
)
padded = [
    [n.numpy().tolist(), values.numpy().tolist()]
    for n, values in generated.padded_batch(3, padded_shapes=([], [None]))
]

even = tf.data.Dataset.range(20).filter(lambda n: n % 2 == 0).map(lambda n: n * n)
paired = tf.data.Dataset.zip((even, tf.data.Dataset.range(100, 120).skip(3)))
total = paired.reduce(np.int64(0), lambda state, pair: state + pair[0] + pair[1])
enumerated = [[int(i), int(v)] for i, v in even.enumerate(start=5).shard(num_shards=3, index=1)]
interleaved = tf.data.Dataset.range(3).interleave(
    lambda n: tf.data.Dataset.from_tensors(n).repeat(3), cycle_length=2, block_length=2
)
joined = even.take(2).concatenate(tf.data.Dataset.from_tensor_slices(np.array([-1, -2])))
dictionary = tf.data.Dataset.from_tensor_slices({"a": [1, 2, 3], "b": [[1.0], [2.0], [3.0]]})
scaled = dictionary.map(lambda d: {"c": tf.cast(d["a"], tf.float32) * d["b"]})

w = tf.Variable(tf.constant(rng.normal(0, 0.1, (8, 1)), tf.float32))
b = tf.Variable(tf.zeros(1))
optimizer = tf.keras.optimizers.SGD(0.02, momentum=0.9)
mean = tf.keras.metrics.Mean()
losses = []
for epoch in range(3):
    mean.reset_state()
    for x, y in windowed_dataset(series, 8, 13):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.keras.losses.huber(y, x @ w + b))
        optimizer.apply_gradients(zip(tape.gradient(loss, [w, b]), [w, b]))
        mean.update_state(loss)
    losses.append(float(mean.result()))

iterator = iter(windowed_dataset(series, 8, 13))
first, _ = next(iterator)
results = {
    "padded": padded,
    "total": int(total),
    "enumerated": enumerated,
    "interleaved": [int(n) for n in interleaved],
    "joined": list(map(int, joined.as_numpy_iterator())),
    "scaled": [float(d["c"][0]) for d in scaled],
    "taken": len(list(even.take(4))),
    "window": first[1].numpy().tolist(),
    "losses": losses,
    "w": w[:, 0].numpy().tolist(),
    "spec": str(dictionary.element_spec["b"].shape),
}
