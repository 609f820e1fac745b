"""Word2vec: skip-grams with negative sampling, a subclassed model and nearest words."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

rng = np.random.default_rng(35)
sentences = [
    "the king and the queen rule the land",
    "the queen and the king love the people",
    "dogs and cats live in the house",
    "cats and dogs sleep in the house",
]
tokens = [sentence.split() for sentence in sentences]
vocab = {}
for words in tokens:
    for word in words:
        vocab.setdefault(word, len(vocab))
inverse = {index: word for word, index in vocab.items()}
NEGATIVES, SIZE, WINDOW = 3, 5, 2

targets, contexts, labels = [], [], []
for words in tokens:
    ids = [vocab[word] for word in words]
    for i, target in enumerate(ids):
        for j in range(max(0, i - WINDOW), min(len(ids), i + WINDOW + 1)):
            if i != j:
                negatives = rng.choice([k for k in vocab.values() if k != ids[j]], NEGATIVES)
                targets.append(target)
                contexts.append([ids[j], *negatives])
                labels.append([1] + [0] * NEGATIVES)
targets, contexts, labels = np.array(targets), np.array(contexts), np.array(labels)
dataset = tf.data.Dataset.from_tensor_slices(((targets, contexts), labels))
dataset = dataset.batch(24, drop_remainder=True).cache().prefetch(buffer_size=tf.data.AUTOTUNE)


class Word2Vec(tf.keras.Model):
    def __init__(self, vocab_size, embedding_dim):
        super().__init__()
        self.target_embedding = layers.Embedding(vocab_size, embedding_dim, name="w2v_embedding")
        self.context_embedding = layers.Embedding(vocab_size, embedding_dim)

    def call(self, pair):
        target, context = pair
        if len(target.shape) == 2:
            target = tf.squeeze(target, axis=1)
        word_emb = self.target_embedding(target)
        context_emb = self.context_embedding(context)
        return tf.einsum("be,bce->bc", word_emb, context_emb)


word2vec = Word2Vec(len(vocab), SIZE)
word2vec((targets[:1], contexts[:1]))
word2vec.set_weights([rng.uniform(-0.5, 0.5, w.shape) for w in word2vec.get_weights()])
word2vec.compile(
    optimizer=tf.keras.optimizers.Adam(0.05),
    loss=tf.keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[tf.keras.metrics.BinaryAccuracy(threshold=0.0)],
)
history = word2vec.fit(dataset, epochs=3, verbose=0)

# the same objective with sigmoids and by hand, with sparse rows in SGD
E = tf.Variable(word2vec.target_embedding.get_weights()[0])
C = tf.Variable(word2vec.context_embedding.get_weights()[0])
optimizer, losses = tf.optimizers.SGD(0.5), []
for (target, context), label in dataset.take(3):
    with tf.GradientTape() as tape:
        dots = tf.linalg.matvec(tf.nn.embedding_lookup(C, context), tf.gather(E, target))
        signs = tf.cast(2 * label - 1, tf.float32)
        loss = -tf.reduce_mean(tf.math.log_sigmoid(signs * dots))
    gradients = tape.gradient(loss, [E, C])
    optimizer.apply_gradients(zip(gradients, [E, C]))
    losses.append(float(loss))

normalized = tf.nn.l2_normalize(E, axis=1)
similar = tf.matmul(normalized, normalized[vocab["king"]][:, None])[:, 0]
values, indices = tf.math.top_k(similar, k=3)
results = {
    "loss": [float(v) for v in history.history["loss"]],
    "accuracy": [float(v) for v in history.history["binary_accuracy"]],
    "losses": losses,
    "nearest": [inverse[int(i)] for i in indices],
    "similar": values.numpy().tolist(),
    "pairs": len(targets),
}
