"""NMT with attention, 2.0 manner: subclassed encoder and decoder, GRU states, teacher forcing."""

import re
import unicodedata

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(11)


def unicode_to_ascii(s):
    return "".join(c for c in unicodedata.normalize("NFD", s) if unicodedata.category(c) != "Mn")


def preprocess_sentence(w):
    w = unicode_to_ascii(w.lower().strip())
    w = re.sub(r"([?.!,¿])", r" \1 ", w)
    w = re.sub(r'[" "]+', " ", w)
    w = re.sub(r"[^a-zA-Z?.!,¿]+", " ", w)
    return "<start> " + w.strip() + " <end>"


pairs = [
    ("Go.", "Ve."),
    ("Hi!", "¡Hola!"),
    ("Run, now!", "¡Corre ahora!"),
    ("Who?", "¿Quién?"),
    ("I am here.", "Estoy aquí."),
    ("He ran.", "Él corrió."),
]
inp = [preprocess_sentence(a) for a, _ in pairs]
targ = [preprocess_sentence(b) for _, b in pairs]


def tokenize(lang):
    vocab = {}
    for s in lang:
        for w in s.split():
            vocab.setdefault(w, len(vocab) + 1)
    seqs = [[vocab[w] for w in s.split()] for s in lang]
    return tf.keras.preprocessing.sequence.pad_sequences(seqs, padding="post"), vocab


input_tensor, inp_lang = tokenize(inp)
target_tensor, targ_lang = tokenize(targ)
BATCH_SIZE, embedding_dim, units = 3, 6, 8
vocab_inp_size, vocab_tar_size = len(inp_lang) + 1, len(targ_lang) + 1
dataset = tf.data.Dataset.from_tensor_slices((input_tensor, target_tensor)).shuffle(
    6, seed=1, reshuffle_each_iteration=False
)
dataset = dataset.batch(BATCH_SIZE, drop_remainder=True)
example_input_batch, example_target_batch = next(iter(dataset))


class Encoder(tf.keras.Model):
    def __init__(self, vocab_size, embedding_dim, enc_units, batch_sz):
        super(Encoder, self).__init__()
        self.batch_sz = batch_sz
        self.enc_units = enc_units
        self.embedding = tf.keras.layers.Embedding(vocab_size, embedding_dim)
        self.gru = tf.keras.layers.GRU(
            self.enc_units,
            return_sequences=True,
            return_state=True,
            recurrent_initializer="glorot_uniform",
        )

    def call(self, x, hidden):
        x = self.embedding(x)
        output, state = self.gru(x, initial_state=hidden)
        return output, state

    def initialize_hidden_state(self):
        return tf.zeros((self.batch_sz, self.enc_units))


class BahdanauAttention(tf.keras.layers.Layer):
    def __init__(self, units):
        super(BahdanauAttention, self).__init__()
        self.W1 = tf.keras.layers.Dense(units)
        self.W2 = tf.keras.layers.Dense(units)
        self.V = tf.keras.layers.Dense(1)

    def call(self, query, values):
        query_with_time_axis = tf.expand_dims(query, 1)
        score = self.V(tf.nn.tanh(self.W1(query_with_time_axis) + self.W2(values)))
        attention_weights = tf.nn.softmax(score, axis=1)
        context_vector = attention_weights * values
        context_vector = tf.reduce_sum(context_vector, axis=1)
        return context_vector, attention_weights


class Decoder(tf.keras.Model):
    def __init__(self, vocab_size, embedding_dim, dec_units, batch_sz):
        super(Decoder, self).__init__()
        self.embedding = tf.keras.layers.Embedding(vocab_size, embedding_dim)
        self.gru = tf.keras.layers.GRU(
            dec_units,
            return_sequences=True,
            return_state=True,
            recurrent_initializer="glorot_uniform",
        )
        self.fc = tf.keras.layers.Dense(vocab_size)
        self.attention = BahdanauAttention(dec_units)

    def call(self, x, hidden, enc_output):
        context_vector, attention_weights = self.attention(hidden, enc_output)
        x = self.embedding(x)
        x = tf.concat([tf.expand_dims(context_vector, 1), x], axis=-1)
        output, state = self.gru(x)
        output = tf.reshape(output, (-1, output.shape[2]))
        x = self.fc(output)
        return x, state, attention_weights


encoder = Encoder(vocab_inp_size, embedding_dim, units, BATCH_SIZE)
sample_hidden = encoder.initialize_hidden_state()
sample_output, sample_hidden = encoder(example_input_batch, sample_hidden)
print("Encoder output shape:", sample_output.shape)
decoder = Decoder(vocab_tar_size, embedding_dim, units, BATCH_SIZE)
optimizer = tf.keras.optimizers.Adam()
loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")


def loss_function(real, pred):
    mask = tf.math.logical_not(tf.math.equal(real, 0))
    loss_ = loss_object(real, pred)
    mask = tf.cast(mask, dtype=loss_.dtype)
    loss_ *= mask
    return tf.reduce_mean(loss_)


@tf.function
def train_step(inp, targ, enc_hidden):
    loss = 0
    with tf.GradientTape() as tape:
        enc_output, enc_hidden = encoder(inp, enc_hidden)
        dec_hidden = enc_hidden
        dec_input = tf.expand_dims([targ_lang["<start>"]] * BATCH_SIZE, 1)
        for t in range(1, targ.shape[1]):
            predictions, dec_hidden, _ = decoder(dec_input, dec_hidden, enc_output)
            loss += loss_function(targ[:, t], predictions)
            dec_input = tf.expand_dims(targ[:, t], 1)
    batch_loss = loss / int(targ.shape[1])
    variables = encoder.trainable_variables + decoder.trainable_variables
    gradients = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(gradients, variables))
    return batch_loss


losses = []
for epoch in range(3):
    enc_hidden = encoder.initialize_hidden_state()
    total_loss = 0
    for batch, (inp_b, targ_b) in enumerate(dataset.take(2)):
        batch_loss = train_step(inp_b, targ_b, enc_hidden)
        total_loss += batch_loss
        if batch % 100 == 0:
            print("Epoch {} Batch {} Loss {:.4f}".format(epoch + 1, batch, batch_loss.numpy()))
    losses.append(float(total_loss / 2))


def evaluate(sentence):
    attention_plot = np.zeros((target_tensor.shape[1], input_tensor.shape[1]))
    inputs = [inp_lang[i] for i in preprocess_sentence(sentence).split(" ")]
    inputs = tf.keras.preprocessing.sequence.pad_sequences(
        [inputs], maxlen=input_tensor.shape[1], padding="post"
    )
    inputs = tf.convert_to_tensor(inputs)
    hidden = [tf.zeros((1, units))]
    enc_out, enc_hidden = encoder(inputs, hidden)
    dec_hidden = enc_hidden
    dec_input = tf.expand_dims([targ_lang["<start>"]], 0)
    result = []
    for t in range(target_tensor.shape[1]):
        predictions, dec_hidden, attention_weights = decoder(dec_input, dec_hidden, enc_out)
        attention_weights = tf.reshape(attention_weights, (-1,))
        attention_plot[t] = attention_weights.numpy()
        predicted_id = tf.argmax(predictions[0]).numpy()
        result.append(int(predicted_id))
        dec_input = tf.expand_dims([predicted_id], 0)
    return result, attention_plot


ids, plot = evaluate("Who?")
results = {"losses": losses, "ids": ids, "plot": plot.tolist(), "shape": list(sample_output.shape)}
