"""Reptile: few-shot classification with weights interpolated towards each task's solution."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

rng = np.random.default_rng(31)
CLASSES, SHOTS, INNER, META_STEPS, META_STEP_SIZE = 3, 4, 3, 6, 0.25
prototypes = rng.uniform(size=(8, 6, 6, 1)).astype(np.float32)


def mini_dataset():
    labels = np.tile(np.arange(CLASSES), SHOTS)
    chosen = rng.permutation(len(prototypes))[:CLASSES]
    images = prototypes[chosen[labels]] + 0.1 * rng.normal(size=(len(labels), 6, 6, 1))
    dataset = tf.data.Dataset.from_tensor_slices((images.astype(np.float32), labels))
    return dataset.batch(6).repeat(1), images.astype(np.float32), labels


def conv_bn(x):
    x = layers.Conv2D(filters=6, kernel_size=3, strides=2, padding="same")(x)
    x = layers.BatchNormalization()(x)
    return layers.ReLU()(x)


inputs = layers.Input(shape=(6, 6, 1))
x = conv_bn(conv_bn(inputs))
x = layers.Flatten()(x)
outputs = layers.Dense(CLASSES, activation="softmax")(x)
model = keras.Model(inputs=inputs, outputs=outputs)
for weight in model.trainable_weights:
    if len(weight.shape) > 1:
        weight.assign(rng.normal(0, 0.3, weight.shape))
model.compile()
optimizer = keras.optimizers.SGD(learning_rate=0.1)

losses = []
for meta_iter in range(META_STEPS):
    frac_done = meta_iter / META_STEPS
    cur_meta_step_size = (1 - frac_done) * META_STEP_SIZE
    old_vars = model.get_weights()
    dataset, _, _ = mini_dataset()
    for _ in range(INNER):
        for images, labels in dataset:
            with tf.GradientTape() as tape:
                preds = model(images)
                loss = keras.losses.sparse_categorical_crossentropy(labels, preds)
            grads = tape.gradient(loss, model.trainable_weights)
            optimizer.apply_gradients(zip(grads, model.trainable_weights))
    losses.append(float(tf.reduce_mean(loss)))
    new_vars = model.get_weights()
    for var in range(len(new_vars)):
        new_vars[var] = old_vars[var] + (new_vars[var] - old_vars[var]) * cur_meta_step_size
    model.set_weights(new_vars)

_, images, labels = mini_dataset()
predictions = model.predict(images, verbose=0)
results = {
    "losses": losses,
    "probabilities": predictions[0].tolist(),
    "correct": int((predictions.argmax(1) == labels).sum()),
    "bias": model.get_weights()[-1].tolist(),
    "dtype": str(predictions.dtype),
}
