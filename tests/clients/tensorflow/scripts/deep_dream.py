"""Deep dream: gradient ascent on activations, by octaves of a resized image and in rolled tiles."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(14)
inputs = tf.keras.layers.Input((None, None, 3))
x = tf.keras.layers.Conv2D(4, 3, strides=1, padding="same", activation="elu", name="mixed1")(inputs)
x = tf.keras.layers.Conv2D(6, 3, strides=2, padding="same", activation="elu", name="mixed2")(x)
base_model = tf.keras.Model(inputs, x)
base_model.set_weights([rng.normal(0, 0.25, w.shape) for w in base_model.get_weights()])
layers = [base_model.get_layer(name).output for name in ["mixed1", "mixed2"]]
dream_model = tf.keras.Model(inputs=base_model.input, outputs=layers)
original = tf.constant(rng.uniform(-1, 1, (12, 12, 3)), tf.float32)


def calc_loss(img, model):
    img_batch = tf.expand_dims(img, axis=0)
    layer_activations = model(img_batch)
    if len(layer_activations) == 1:
        layer_activations = [layer_activations]
    return tf.reduce_sum([tf.math.reduce_mean(act**2) for act in layer_activations])


class DeepDream(tf.Module):
    def __init__(self, model):
        self.model = model

    @tf.function(
        input_signature=(
            tf.TensorSpec(shape=[None, None, 3], dtype=tf.float32),
            tf.TensorSpec(shape=[], dtype=tf.int32),
            tf.TensorSpec(shape=[], dtype=tf.float32),
        )
    )
    def __call__(self, img, steps, step_size):
        loss = tf.constant(0.0)
        for n in tf.range(steps):
            with tf.GradientTape() as tape:
                tape.watch(img)
                loss = calc_loss(img, self.model)
            gradients = tape.gradient(loss, img)
            gradients /= tf.math.reduce_std(gradients) + 1e-8
            img = img + gradients * step_size
            img = tf.clip_by_value(img, -1, 1)
        return loss, img


deepdream = DeepDream(dream_model)
loss, dreamed = deepdream(original, tf.constant(4), tf.constant(0.05))

octaves, img = [], original
base_shape = tf.cast(tf.shape(original)[:-1], tf.float32)
for n in range(-1, 2):
    new_shape = tf.cast(base_shape * (1.3**n), tf.int32)
    img = tf.image.resize(img, new_shape)
    octave_loss, img = deepdream(img, tf.constant(2), tf.constant(0.05))
    octaves.append([int(new_shape[0]), float(octave_loss)])

shift = tf.constant([3, -2])
rolled = tf.roll(original, shift=shift, axis=[0, 1])
gradients = tf.zeros_like(rolled)
for i in range(0, 12, 6):
    with tf.GradientTape() as tape:
        tape.watch(rolled)
        tile_loss = calc_loss(rolled[i : i + 6, 0:6], dream_model)
    gradients = gradients + tape.gradient(tile_loss, rolled)
gradients = tf.roll(gradients, shift=-shift, axis=[0, 1])

results = {
    "loss": float(loss),
    "dreamed": dreamed[5, 5].numpy().tolist(),
    "octaves": octaves,
    "resized": img[4, 4].numpy().tolist(),
    "tiles": gradients[6, 9].numpy().tolist(),
    "zero": int(tf.math.count_nonzero(tf.equal(gradients, 0.0))),
}
