"""A classifier of stripes whose images are flipped, turned, moved and changed in contrast."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(13)
rng = np.random.default_rng(4)
stripes = np.zeros((24, 10, 10, 3), "float32")
labels = np.arange(24) % 2
stripes[labels == 0, ::2] = 200.0
stripes[labels == 1, :, ::2] = 200.0
images = np.clip(stripes + 30 * rng.normal(size=stripes.shape), 0, 255).astype("float32")

augmentation = tf.keras.Sequential(
    [
        layers.RandomFlip("horizontal_and_vertical"),
        layers.RandomRotation(0.05, fill_mode="nearest"),
        layers.RandomZoom(0.1),
        layers.RandomTranslation(0.1, 0.1, fill_mode="wrap"),
        layers.RandomContrast(0.2),
        layers.RandomBrightness(0.1),
    ]
)
prepare = tf.keras.Sequential([layers.Resizing(9, 9), layers.RandomCrop(8, 8, seed=3)])


def loaded(image, label):
    return prepare(image, training=True), tf.one_hot(label, 2)


dataset = (
    tf.data.Dataset.from_tensor_slices((images, labels))
    .shuffle(24, seed=1)
    .map(loaded)
    .batch(8)
    .prefetch(tf.data.AUTOTUNE)
)
model = tf.keras.Sequential(
    [
        tf.keras.Input((8, 8, 3)),
        augmentation,
        layers.Rescaling(1.0 / 127.5, offset=-1),
        layers.Conv2D(6, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(2),
    ]
)
objective = tf.keras.losses.CategoricalFocalCrossentropy(from_logits=True, label_smoothing=0.1)
optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.5)
losses = []
for epoch in range(2):
    for x, y in dataset:
        with tf.GradientTape() as tape:
            loss = objective(y, model(x, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        losses.append(float(loss))

test = layers.CenterCrop(8, 8)(images)
results = {
    "losses": losses,
    "logits": model(test[:3]).numpy().tolist(),
    "augmented": augmentation(test[:1], training=True)[0, 2, :, 0].numpy().tolist(),
}
