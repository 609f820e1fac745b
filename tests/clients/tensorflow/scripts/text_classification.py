"""Sentences classified by a bag of words, a convolution and a mean of embeddings."""

import re
import string

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(5)
GOOD = ["a great film", "what a lovely, lovely story!", "great acting<br />and great music"]
BAD = ["a boring film", "what a waste of time...", "bad acting and BAD music"]
texts = np.array((GOOD + BAD) * 3)
labels = np.array(([1] * 3 + [0] * 3) * 3, "float32")
raw = tf.data.Dataset.from_tensor_slices((texts, labels)).shuffle(18, seed=2).batch(6)


def standardize(text):
    lowered = tf.strings.lower(text)
    stripped = tf.strings.regex_replace(lowered, "<br />", " ")
    return tf.strings.regex_replace(stripped, f"[{re.escape(string.punctuation)}]", "")


vectorize = layers.TextVectorization(
    standardize=standardize, max_tokens=20, output_mode="int", output_sequence_length=6
)
vectorize.adapt(raw.map(lambda text, label: text))
counts = layers.TextVectorization(output_mode="tf_idf", ngrams=2, max_tokens=16)
counts.adapt(texts)

model = tf.keras.Sequential(
    [
        layers.Embedding(20, 8),
        layers.Conv1D(6, 3, padding="same", activation="relu"),
        layers.Dropout(0.2),
        layers.GlobalAveragePooling1D(),
        layers.Dense(1),
    ]
)
model.compile(
    loss=tf.keras.losses.BinaryCrossentropy(from_logits=True),
    optimizer="adam",
    metrics=[tf.keras.metrics.BinaryAccuracy(threshold=0.0)],
)
train = raw.map(lambda text, label: (vectorize(text), label)).cache().prefetch(tf.data.AUTOTUNE)
history = model.fit(train, epochs=4, verbose=0)

export = tf.keras.Sequential([vectorize, model, layers.Activation("sigmoid")])
bag = tf.keras.Sequential([layers.Dense(1)])
optimizer = tf.keras.optimizers.Adagrad(0.5)
losses = []
for text, label in raw:
    with tf.GradientTape() as tape:
        logits = bag(counts(text))[:, 0]
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=label, logits=logits))
    gradients = tape.gradient(loss, bag.trainable_variables)
    optimizer.apply_gradients(zip(gradients, bag.trainable_variables))
    losses.append(float(loss))

results = {
    "vocabulary": [str(word) for word in vectorize.get_vocabulary()],
    "pairs": [str(word) for word in counts.get_vocabulary()],
    "history": {name: [float(each) for each in values] for name, values in history.history.items()},
    "said": export(tf.constant(["great music", "a waste"]))[:, 0].numpy().tolist(),
    "losses": losses,
    "encoded": vectorize(["what a story"]).numpy().tolist(),
}
