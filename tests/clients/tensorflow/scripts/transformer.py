"""A transformer block by hand: scaled dot-product attention with heads, masks, warm-up schedule."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(20)
VOCAB, D_MODEL, HEADS, DFF, LENGTH = 9, 8, 2, 12, 5


def get_angles(pos, i, d_model):
    angle_rates = 1 / np.power(10000, (2 * (i // 2)) / np.float32(d_model))
    return pos * angle_rates


def positional_encoding(position, d_model):
    angle_rads = get_angles(np.arange(position)[:, None], np.arange(d_model)[None, :], d_model)
    angle_rads[:, 0::2] = np.sin(angle_rads[:, 0::2])
    angle_rads[:, 1::2] = np.cos(angle_rads[:, 1::2])
    return tf.cast(angle_rads[np.newaxis, ...], dtype=tf.float32)


def create_look_ahead_mask(size):
    return 1 - tf.linalg.band_part(tf.ones((size, size)), -1, 0)


def scaled_dot_product_attention(q, k, v, mask):
    matmul_qk = tf.matmul(q, k, transpose_b=True)
    dk = tf.cast(tf.shape(k)[-1], tf.float32)
    scaled_attention_logits = matmul_qk / tf.math.sqrt(dk)
    if mask is not None:
        scaled_attention_logits += mask * -1e9
    attention_weights = tf.nn.softmax(scaled_attention_logits, axis=-1)
    return tf.matmul(attention_weights, v), attention_weights


class MultiHeadAttention(tf.keras.layers.Layer):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads, self.depth = num_heads, d_model // num_heads
        self.wq, self.wk, self.wv, self.dense = [tf.keras.layers.Dense(d_model) for _ in range(4)]

    def split_heads(self, x, batch_size):
        x = tf.reshape(x, (batch_size, -1, self.num_heads, self.depth))
        return tf.transpose(x, perm=[0, 2, 1, 3])

    def call(self, x, mask=None):
        batch_size = tf.shape(x)[0]
        q, k, v = [self.split_heads(w(x), batch_size) for w in (self.wq, self.wk, self.wv)]
        scaled, weights = scaled_dot_product_attention(q, k, v, mask)
        scaled = tf.transpose(scaled, perm=[0, 2, 1, 3])
        return self.dense(
            tf.reshape(scaled, (batch_size, -1, self.num_heads * self.depth))
        ), weights


class Block(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.embedding = tf.keras.layers.Embedding(VOCAB, D_MODEL)
        self.mha = MultiHeadAttention(D_MODEL, HEADS)
        self.ffn = tf.keras.Sequential(
            [tf.keras.layers.Dense(DFF, activation="gelu"), tf.keras.layers.Dense(D_MODEL)]
        )
        self.layernorm1 = tf.keras.layers.LayerNormalization(epsilon=1e-6)
        self.layernorm2 = tf.keras.layers.LayerNormalization(epsilon=1e-6)
        self.final = tf.keras.layers.Dense(VOCAB)

    def call(self, x, training=False):
        seq_len = tf.shape(x)[1]
        x = self.embedding(x) * tf.math.sqrt(tf.cast(D_MODEL, tf.float32))
        x += positional_encoding(LENGTH, D_MODEL)[:, :seq_len, :]
        attended, weights = self.mha(x, create_look_ahead_mask(seq_len))
        x = self.layernorm1(x + attended)
        x = self.layernorm2(x + self.ffn(x))
        return self.final(x), weights


class CustomSchedule(tf.keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, d_model, warmup_steps=8):
        super().__init__()
        self.d_model, self.warmup_steps = tf.cast(d_model, tf.float32), warmup_steps

    def __call__(self, step):
        step = tf.cast(step, tf.float32) + 1.0
        arg1, arg2 = tf.math.rsqrt(step), step * (self.warmup_steps**-1.5)
        return tf.math.rsqrt(self.d_model) * tf.math.minimum(arg1, arg2) * 0.3


tokens = tf.constant((rng.integers(0, 3, (8, 1)) + 2 * np.arange(LENGTH + 1)) % VOCAB)
model = Block()
model(tokens[:, :-1])
for variable in model.trainable_variables:
    if len(variable.shape) > 1:
        variable.assign(rng.normal(0, 0.3, variable.shape))
optimizer = tf.keras.optimizers.Adam(CustomSchedule(D_MODEL), beta_1=0.9, beta_2=0.98, epsilon=1e-9)
loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")
losses, accuracies = [], []
for step in range(15):
    with tf.GradientTape() as tape:
        predictions, weights = model(tokens[:, :-1], training=True)
        loss = tf.reduce_mean(loss_object(tokens[:, 1:], predictions))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    hits = tf.equal(tokens[:, 1:], tf.argmax(predictions, axis=2))
    losses.append(float(loss))
    accuracies.append(float(tf.reduce_mean(tf.cast(hits, tf.float32))))

results = {
    "losses": losses[::3],
    "accuracies": accuracies[::7],
    "attention": weights[0, 1].numpy().tolist(),
    "norm": float(tf.linalg.global_norm(gradients)),
    "rate": float(optimizer.learning_rate),
    "sparse": [type(g).__name__ == "IndexedSlices" for g in gradients][0],
}
