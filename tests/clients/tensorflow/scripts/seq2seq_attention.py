"""Sequence to sequence with Bahdanau attention: GRU encoder, GRUCell decoder, masked loss."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(18)
VOCAB, EMBED, UNITS, LENGTH, BATCH = 8, 5, 6, 4, 6
START = 1

sources = rng.integers(2, VOCAB, (18, LENGTH))
sources[::3, -1] = 0  # padding
targets = np.where(sources > 0, (sources - 1) % (VOCAB - 2) + 2, 0)[:, ::-1].copy()
targets[targets[:, 0] == 0] = np.roll(targets[targets[:, 0] == 0], -1, axis=1)


class Encoder(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.embedding = tf.keras.layers.Embedding(VOCAB, EMBED)
        self.gru = tf.keras.layers.GRU(UNITS, return_sequences=True, return_state=True)

    def call(self, x, hidden):
        return self.gru(self.embedding(x), initial_state=hidden)

    def initialize_hidden_state(self, batch):
        return tf.zeros((batch, UNITS))


class BahdanauAttention(tf.keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.W1 = tf.keras.layers.Dense(units)
        self.W2 = tf.keras.layers.Dense(units)
        self.V = tf.keras.layers.Dense(1)

    def call(self, query, values):
        query_with_time_axis = tf.expand_dims(query, 1)
        score = self.V(tf.nn.tanh(self.W1(query_with_time_axis) + self.W2(values)))
        attention_weights = tf.nn.softmax(score, axis=1)
        context_vector = tf.reduce_sum(attention_weights * values, axis=1)
        return context_vector, attention_weights


class Decoder(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.embedding = tf.keras.layers.Embedding(VOCAB, EMBED)
        self.cell = tf.keras.layers.GRUCell(UNITS)
        self.fc = tf.keras.layers.Dense(VOCAB)
        self.attention = BahdanauAttention(UNITS)

    def call(self, x, hidden, enc_output):
        context_vector, attention_weights = self.attention(hidden, enc_output)
        x = tf.concat([context_vector, self.embedding(x)], axis=-1)
        output, states = self.cell(x, [hidden])
        state = states[0] if isinstance(states, (list, tuple)) else states
        return self.fc(output), state, attention_weights


loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")


def loss_function(real, pred):
    mask = tf.math.logical_not(tf.math.equal(real, 0))
    loss_ = loss_object(real, pred)
    mask = tf.cast(mask, dtype=loss_.dtype)
    return tf.reduce_mean(loss_ * mask)


encoder, decoder = Encoder(), Decoder()
optimizer = tf.keras.optimizers.Adam(0.02)


def batch_loss(inp, targ):
    loss = 0.0
    enc_output, dec_hidden = encoder(inp, encoder.initialize_hidden_state(len(inp)))
    dec_input = tf.fill([len(inp)], START)
    for t in range(targ.shape[1]):
        predictions, dec_hidden, _ = decoder(dec_input, dec_hidden, enc_output)
        loss += loss_function(targ[:, t], predictions)
        dec_input = targ[:, t]  # teacher forcing
    return loss


inp, targ = tf.constant(sources, tf.int32), tf.constant(targets, tf.int32)
batch_loss(inp[:2], targ[:2])
for model in (encoder, decoder):
    model.set_weights([rng.normal(0, 0.4, w.shape) for w in model.get_weights()])
losses = []
for epoch in range(3):
    for i in range(0, len(sources), BATCH):
        with tf.GradientTape() as tape:
            loss = batch_loss(inp[i : i + BATCH], targ[i : i + BATCH])
        variables = encoder.trainable_variables + decoder.trainable_variables
        gradients = tape.gradient(loss, variables)
        optimizer.apply_gradients(zip(gradients, variables))
        losses.append(float(loss / LENGTH))

enc_out, hidden = encoder(inp[:1], encoder.initialize_hidden_state(1))
dec_input, translated, attended = tf.constant([START]), [], []
for t in range(LENGTH):
    predictions, hidden, weights = decoder(dec_input, hidden, enc_out)
    attended.append(tf.reshape(weights, (-1,)).numpy().tolist())
    dec_input = tf.argmax(predictions, axis=-1, output_type=tf.int32)
    translated.append(int(dec_input[0]))

results = {
    "losses": losses,
    "translated": translated,
    "attention": attended,
    "hidden": hidden[0].numpy().tolist(),
}
