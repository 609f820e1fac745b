"""A small U-Net that segments discs, with a loss of overlap, MeanIoU, and a step of its own."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(11)
rng = np.random.default_rng(3)
rows, columns = np.mgrid[:8, :8]


def disc():
    centre, radius = rng.uniform(2, 6, 2), rng.uniform(1.5, 3.0)
    mask = (rows - centre[0]) ** 2 + (columns - centre[1]) ** 2 < radius**2
    image = mask + 0.3 * rng.normal(size=(8, 8))
    return image[..., None].astype("float32"), mask[..., None].astype("int32")


images, masks = map(np.stack, zip(*[disc() for _ in range(16)]))
dataset = tf.data.Dataset.from_tensor_slices((images, masks)).batch(4)


def block(x, filters):
    x = layers.Conv2D(filters, 3, padding="same", kernel_initializer="he_normal")(x)
    x = layers.BatchNormalization()(x)
    return layers.Activation("relu")(x)


inputs = tf.keras.Input((8, 8, 1))
first = block(inputs, 4)
second = block(layers.MaxPooling2D()(first), 6)
up = layers.Conv2DTranspose(4, 2, strides=2, padding="same")(second)
merged = block(layers.Concatenate()([up, first]), 4)
model = tf.keras.Model(inputs, layers.Conv2D(1, 1, activation="sigmoid")(merged))

overlap = tf.keras.losses.Dice()
entropy = tf.keras.losses.BinaryFocalCrossentropy(gamma=1.5)
optimizer = tf.keras.optimizers.Adam(0.01)
mean_iou = tf.keras.metrics.MeanIoU(num_classes=2)
binary_iou = tf.keras.metrics.BinaryIoU(target_class_ids=[1], threshold=0.4)
recall = tf.keras.metrics.Recall(thresholds=[0.3, 0.5, 0.7])


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        predicted = model(x, training=True)
        loss = overlap(y, predicted) + entropy(y, predicted)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss, predicted


losses, ious = [], []
for epoch in range(3):
    mean_iou.reset_state()
    for x, y in dataset:
        loss, predicted = train_step(x, y)
        losses.append(float(loss))
        mean_iou.update_state(y, tf.cast(predicted > 0.5, tf.int32))
        binary_iou.update_state(y, predicted)
        recall.update_state(y, predicted)
    ious.append(float(mean_iou.result()))

results = {
    "losses": losses,
    "ious": ious,
    "of discs": float(binary_iou.result()),
    "recall": recall.result().numpy().tolist(),
    "mask": model(images[:1])[0, 3, :, 0].numpy().tolist(),
}
