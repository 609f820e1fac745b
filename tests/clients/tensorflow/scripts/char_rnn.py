"""A character model by a recurrent network: ids of a vocabulary, carried states, sampling."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(19)
text = "the rain in spain stays mainly in the plain. " * 6
vocab = sorted(set(text))
char2idx = {u: i for i, u in enumerate(vocab)}
text_as_int = np.array([char2idx[c] for c in text])
SEQ, BATCH, EMBED, UNITS = 12, 4, 6, 10

char_dataset = tf.data.Dataset.from_tensor_slices(text_as_int)
sequences = char_dataset.batch(SEQ + 1, drop_remainder=True)


def split_input_target(sequence):
    return sequence[:-1], sequence[1:]


dataset = sequences.map(split_input_target).batch(BATCH, drop_remainder=True)


class MyModel(tf.keras.Model):
    def __init__(self, vocab_size, embedding_dim, rnn_units):
        super().__init__()
        self.embedding = tf.keras.layers.Embedding(vocab_size, embedding_dim)
        self.lstm = tf.keras.layers.LSTM(rnn_units, return_sequences=True, return_state=True)
        self.dense = tf.keras.layers.Dense(vocab_size)

    def call(self, inputs, states=None, return_state=False, training=False):
        x = self.embedding(inputs, training=training)
        x, h, c = self.lstm(x, initial_state=states, training=training)
        x = self.dense(x, training=training)
        return (x, [h, c]) if return_state else x


model = MyModel(len(vocab), EMBED, UNITS)
for input_example, target_example in dataset.take(1):
    shape = model(input_example).shape.as_list()
model.set_weights([rng.normal(0, 0.3, w.shape) for w in model.get_weights()])
loss = tf.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = tf.keras.optimizers.Adam(0.02)
mean = tf.metrics.Mean()


@tf.function
def train_step(inputs, labels):
    with tf.GradientTape() as tape:
        predictions = model(inputs, training=True)
        value = loss(labels, predictions)
    grads = tape.gradient(value, model.trainable_variables)
    grads = [tf.clip_by_norm(g, 1.0) for g in grads]
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return {"loss": value}


epochs = []
for epoch in range(2):
    mean.reset_state()
    for inp, target in dataset:
        logs = train_step(inp, target)
        mean.update_state(logs["loss"])
    epochs.append(mean.result().numpy().item())

# generate greedily, with a state that is carried
states, char, generated = None, tf.constant([[char2idx["t"]]]), []
for _ in range(10):
    logits, states = model(char, states=states, return_state=True)
    logits = logits[:, -1, :] / 0.5
    char = tf.argmax(logits, axis=-1)[:, tf.newaxis]
    generated.append(vocab[int(char[0, 0])])

results = {
    "epochs": epochs,
    "perplexity": float(tf.exp(epochs[-1])),
    "generated": "".join(generated),
    "logits": logits[0].numpy().tolist(),
    "shape": shape,
    "state": states[1][0].numpy().tolist(),
    "batches": sum(1 for _ in dataset),
}
