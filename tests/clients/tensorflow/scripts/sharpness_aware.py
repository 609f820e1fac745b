"""Ways to a flat minimum: sharpness-aware steps, lookahead, averaged weights, mixup, freezing."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

rng = np.random.default_rng(73)
y = rng.integers(0, 3, 48)
x = (rng.normal(size=(3, 6))[y] + rng.normal(size=(48, 6))).astype("float32")
one_hot = tf.one_hot(y, 3)
initial = [rng.normal(0, 0.4, shape) for shape in ((6, 8), (8,), (8, 3), (3,))]


def build():
    model = keras.Sequential(
        [keras.Input((6,)), keras.layers.Dense(8, "relu"), keras.layers.Dense(3)]
    )
    model.set_weights(initial)
    return model


def loss_fn(model, x, y):
    return tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(y, model(x, training=True)))


def sam(model, optimizer, rho=0.05):
    variables = model.trainable_variables
    with tf.GradientTape() as tape:
        loss = loss_fn(model, x, one_hot)
    gradients = tape.gradient(loss, variables)
    norm = tf.linalg.global_norm(gradients)
    steps = [g * rho / (norm + 1e-12) for g in gradients]
    for v, e in zip(variables, steps):
        v.assign_add(e)
    with tf.GradientTape() as tape:
        perturbed = loss_fn(model, x, one_hot)
    gradients = tape.gradient(perturbed, variables)
    for v, e in zip(variables, steps):
        v.assign_sub(e)
    optimizer.apply_gradients(zip(gradients, variables))
    return loss, perturbed


model, optimizer = build(), keras.optimizers.SGD(0.2, momentum=0.9)
by_sam = [[float(part) for part in sam(model, optimizer)] for _ in range(6)]

model, optimizer = build(), keras.optimizers.Adam(0.05)
slow = [tf.Variable(v) for v in model.trainable_variables]
average = [tf.zeros_like(v) for v in model.trainable_variables]
lookahead = []
for step in range(1, 9):
    mix = tf.constant(rng.beta(0.4, 0.4, (48, 1)), tf.float32)
    other = rng.permutation(48)
    mixed = mix * x + (1 - mix) * tf.gather(x, other)
    mixed_y = mix * one_hot + (1 - mix) * tf.gather(one_hot, other)
    with tf.GradientTape() as tape:
        loss = loss_fn(model, mixed, mixed_y)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    average = [a + (v - a) / step for a, v in zip(average, model.trainable_variables)]
    if step % 4 == 0:
        for s, v in zip(slow, model.trainable_variables):
            s.assign_add(0.5 * (v - s))
            v.assign(s)
    lookahead.append(float(loss))
for v, a in zip(model.trainable_variables, average):
    v.assign(a)
averaged = loss_fn(model, x, one_hot)

model, optimizer = build(), keras.optimizers.SGD(0.3)
model.layers[0].trainable = False
mask = tf.constant(np.abs(initial[2]) > 0.2, tf.float32)  # pruned weights stay at zero
model.layers[1].kernel.assign(model.layers[1].kernel * mask)
for step in range(5):
    with tf.GradientTape() as tape:
        loss = loss_fn(model, x, one_hot)
    variables = model.trainable_variables
    gradients = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip([gradients[0] * mask, gradients[1]], variables))

results = {
    "sam": by_sam,
    "lookahead": lookahead,
    "averaged": float(averaged),
    "frozen": [len(variables), bool(np.allclose(model.layers[0].get_weights()[0], initial[0]))],
    "pruned": float(loss),
    "zeros": int(tf.math.count_nonzero(tf.equal(model.layers[1].kernel, 0.0))),
}
