"""Saliency, integrated gradients, SmoothGrad and Grad-CAM of a small convolutional network."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(16)
inputs = tf.keras.Input((8, 8, 3))
x = tf.keras.layers.Conv2D(6, 3, activation="relu", padding="same", name="conv")(inputs)
x = tf.keras.layers.MaxPooling2D(2)(x)
x = tf.keras.layers.Conv2D(6, 3, activation="relu", padding="same", name="last_conv")(x)
x = tf.keras.layers.GlobalAveragePooling2D()(x)
outputs = tf.keras.layers.Dense(4, name="scores")(x)
model = tf.keras.Model(inputs, outputs)
model.set_weights([rng.normal(0, 0.4, w.shape) for w in model.get_weights()])
image = tf.constant(rng.uniform(size=(8, 8, 3)), tf.float32)
baseline = tf.zeros(shape=(8, 8, 3))
target = int(tf.argmax(model(image[None]), axis=1)[0])


def interpolate_images(baseline, image, alphas):
    alphas_x = alphas[:, tf.newaxis, tf.newaxis, tf.newaxis]
    baseline_x = tf.expand_dims(baseline, axis=0)
    input_x = tf.expand_dims(image, axis=0)
    delta = input_x - baseline_x
    return baseline_x + alphas_x * delta


def compute_gradients(images, target_class_idx):
    with tf.GradientTape() as tape:
        tape.watch(images)
        logits = model(images)
        probs = tf.nn.softmax(logits, axis=-1)[:, target_class_idx]
    return tape.gradient(probs, images)


def integral_approximation(gradients):
    grads = (gradients[:-1] + gradients[1:]) / tf.constant(2.0)
    return tf.math.reduce_mean(grads, axis=0)


@tf.function
def integrated_gradients(baseline, image, target_class_idx, m_steps=20, batch_size=7):
    alphas = tf.linspace(start=0.0, stop=1.0, num=m_steps + 1)
    gradient_batches = []
    for alpha in range(0, m_steps + 1, batch_size):
        to = min(alpha + batch_size, m_steps + 1)
        batch = interpolate_images(baseline, image, alphas[alpha:to])
        gradient_batches.append(compute_gradients(batch, target_class_idx))
    total_gradients = tf.concat(gradient_batches, axis=0)
    return (image - baseline) * integral_approximation(total_gradients)


def grad_cam(image, class_index):
    grad_model = tf.keras.models.Model(
        [model.inputs], [model.get_layer("last_conv").output, model.output]
    )
    with tf.GradientTape() as tape:
        last_conv_output, predictions = grad_model(image[tf.newaxis])
        class_channel = predictions[:, class_index]
    grads = tape.gradient(class_channel, last_conv_output)
    pooled_grads = tf.reduce_mean(grads, axis=(0, 1, 2))
    heatmap = last_conv_output[0] @ pooled_grads[..., tf.newaxis]
    heatmap = tf.squeeze(heatmap)
    return tf.maximum(heatmap, 0) / tf.math.reduce_max(heatmap)


saliency = tf.reduce_max(tf.abs(compute_gradients(image[None], target)), axis=-1)[0]
attributions = integrated_gradients(baseline, image, target)
noisy = image + tf.constant(0.1 * rng.normal(size=(6, 8, 8, 3)), tf.float32)
smooth = tf.reduce_mean(compute_gradients(noisy, target), axis=0)
heatmap = grad_cam(image, target)
overlay = tf.image.resize(heatmap[..., None], (8, 8), method="bilinear")[..., 0]
change = [float(tf.nn.softmax(model(each[None]))[0, target]) for each in (image, baseline)]

results = {
    "target": target,
    "saliency": saliency[3].numpy().tolist(),
    "attributions": tf.reduce_sum(attributions, axis=-1)[4].numpy().tolist(),
    "completeness": float(tf.reduce_sum(attributions)) - (change[0] - change[1]),
    "total": float(tf.reduce_sum(attributions)),
    "smooth": smooth[2, 5].numpy().tolist(),
    "heatmap": heatmap.numpy().tolist(),
    "overlay": overlay[4].numpy().tolist(),
}
