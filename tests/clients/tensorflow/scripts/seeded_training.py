"""A training whose every draw comes from TensorFlow's seeds: weights, shuffles, dropout, noise."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(7)
x = tf.random.normal((64, 6))
y = tf.cast(tf.reduce_sum(x[:, :3], axis=1) > 0, tf.int32)


def draw(name, shape=(3, 4)):
    return getattr(keras.initializers, name)(seed=3)(shape)


model = keras.Sequential(
    [
        keras.Input((6,)),
        keras.layers.Dense(8, activation="relu", kernel_initializer="he_normal"),
        keras.layers.Dropout(0.25),
        keras.layers.Dense(
            2, kernel_initializer=keras.initializers.RandomUniform(-0.2, 0.2, seed=11)
        ),
    ]
)
dataset = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(64, seed=5).batch(16)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.Adam(0.02)
losses = []
for epoch in range(2):
    for inputs, labels in dataset:
        noisy = inputs + 0.1 * tf.random.normal(tf.shape(inputs))
        with tf.GradientTape() as tape:
            loss = loss_fn(labels, model(noisy, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        losses.append(float(loss))

names = ["GlorotUniform", "GlorotNormal", "HeNormal", "LecunUniform", "RandomNormal"]
results = {
    "losses": losses,
    "drawn": {name: draw(name).numpy()[0].tolist() for name in [*names, "TruncatedNormal"]},
    "orthogonal": np.abs(draw("Orthogonal", (3, 3)).numpy()[0]).tolist(),
    "weights": model.get_weights()[0][0].tolist(),
    "permuted": tf.random.shuffle(tf.range(8), seed=2).numpy().tolist(),
    "categories": tf.random.categorical(tf.math.log([[0.2, 0.3, 0.5]]), 8, seed=4)[0]
    .numpy()
    .tolist(),
}
