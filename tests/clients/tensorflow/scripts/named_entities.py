"""Transformer block of keras.io with token and position embedding, custom mask loss, custom fit."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(12)


class TransformerBlock(layers.Layer):
    def __init__(self, embed_dim, num_heads, ff_dim, rate=0.1):
        super().__init__()
        self.att = keras.layers.MultiHeadAttention(num_heads=num_heads, key_dim=embed_dim)
        self.ffn = keras.Sequential(
            [keras.layers.Dense(ff_dim, activation="relu"), keras.layers.Dense(embed_dim)]
        )
        self.layernorm1 = keras.layers.LayerNormalization(epsilon=1e-6)
        self.layernorm2 = keras.layers.LayerNormalization(epsilon=1e-6)
        self.dropout1 = keras.layers.Dropout(rate)
        self.dropout2 = keras.layers.Dropout(rate)

    def call(self, inputs, training=False):
        attn_output = self.att(inputs, inputs)
        attn_output = self.dropout1(attn_output, training=training)
        out1 = self.layernorm1(inputs + attn_output)
        ffn_output = self.ffn(out1)
        ffn_output = self.dropout2(ffn_output, training=training)
        return self.layernorm2(out1 + ffn_output)


class TokenAndPositionEmbedding(layers.Layer):
    def __init__(self, maxlen, vocab_size, embed_dim):
        super().__init__()
        self.token_emb = keras.layers.Embedding(input_dim=vocab_size, output_dim=embed_dim)
        self.pos_emb = keras.layers.Embedding(input_dim=maxlen, output_dim=embed_dim)

    def call(self, inputs):
        maxlen = tf.shape(inputs)[-1]
        positions = tf.range(start=0, limit=maxlen, delta=1)
        position_embeddings = self.pos_emb(positions)
        token_embeddings = self.token_emb(inputs)
        return token_embeddings + position_embeddings


class NERModel(keras.Model):
    def __init__(self, num_tags, vocab_size, maxlen=8, embed_dim=8, num_heads=2, ff_dim=8):
        super().__init__()
        self.embedding_layer = TokenAndPositionEmbedding(maxlen, vocab_size, embed_dim)
        self.transformer_block = TransformerBlock(embed_dim, num_heads, ff_dim)
        self.dropout1 = layers.Dropout(0.1)
        self.ff = layers.Dense(8, activation="relu")
        self.dropout2 = layers.Dropout(0.1)
        self.ff_final = layers.Dense(num_tags, activation="softmax")

    def call(self, inputs, training=False):
        x = self.embedding_layer(inputs)
        x = self.transformer_block(x)
        x = self.dropout1(x, training=training)
        x = self.ff(x)
        x = self.dropout2(x, training=training)
        return self.ff_final(x)


class CustomNonPaddingTokenLoss(keras.losses.Loss):
    def __init__(self, name="custom_ner_loss"):
        super().__init__(name=name)

    def call(self, y_true, y_pred):
        loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=False, reduction=None)
        loss = loss_fn(y_true, y_pred)
        mask = tf.cast((y_true > 0), dtype=tf.float32)
        loss = loss * mask
        return tf.reduce_sum(loss) / tf.reduce_sum(mask)


r = np.random.RandomState(0)
x = [list(map(int, r.randint(1, 20, r.randint(3, 8)))) for _ in range(12)]
yy = [[(v % 3) + 1 for v in s] for s in x]


def gen():
    for a, b in zip(x, yy):
        yield a, b


ds = tf.data.Dataset.from_generator(
    gen, output_types=(tf.int32, tf.int32), output_shapes=([None], [None])
).padded_batch(4, padded_shapes=([None], [None]))
m = NERModel(4, 20)
loss = CustomNonPaddingTokenLoss()
tf.config.run_functions_eagerly(False)
m.compile(optimizer="adam", loss=loss)
h = m.fit(ds, epochs=2, verbose=0)
opt = keras.optimizers.AdamW(1e-3, weight_decay=1e-2)
opt.exclude_from_weight_decay(var_names=["bias"])
tot = []
for a, b in ds:
    with tf.GradientTape() as tape:
        l = loss(b, m(a, training=True))
    g = tape.gradient(l, m.trainable_variables)
    opt.apply_gradients(zip(g, m.trainable_variables))
    tot.append(float(l))
p = tf.argmax(m.predict(tf.constant([x[0]]), verbose=0), axis=-1)
results = {
    "loss": h.history["loss"],
    "tot": tot,
    "p": p.numpy().tolist(),
    "n": m.count_params(),
    "names": [w.name for w in m.trainable_weights][:6],
}
