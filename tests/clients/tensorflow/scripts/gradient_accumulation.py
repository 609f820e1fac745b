"""Accumulated and clipped gradients: small batches equal a large one, and norms stay bounded."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(27)
x = tf.constant(rng.normal(size=(32, 6)), tf.float32)
y = tf.constant((x.numpy() @ rng.normal(size=(6, 2)) + 3.0).astype(np.float32))


def build():
    generator = np.random.default_rng(28)
    model = tf.keras.Sequential(
        [tf.keras.layers.Dense(8, activation="softplus"), tf.keras.layers.Dense(2)]
    )
    model.build((None, 6))
    model.set_weights([generator.normal(0, 0.4, w.shape) for w in model.get_weights()])
    return model


loss_fn = tf.keras.losses.MeanSquaredError()
accumulated_model, whole_model = build(), build()
opt_a, opt_b = tf.keras.optimizers.Adam(0.05), tf.keras.optimizers.Adam(0.05)
train_ds = tf.data.Dataset.from_tensor_slices((x, y)).batch(8)
ACCUMULATE = 4

accumulators = [tf.Variable(tf.zeros_like(v)) for v in accumulated_model.trainable_variables]
curve = []
for epoch in range(3):
    for step, (inputs, targets) in enumerate(train_ds):
        with tf.GradientTape() as tape:
            loss = loss_fn(targets, accumulated_model(inputs, training=True)) / ACCUMULATE
        gradients = tape.gradient(loss, accumulated_model.trainable_variables)
        for accumulator, gradient in zip(accumulators, gradients):
            accumulator.assign_add(gradient)
        if (step + 1) % ACCUMULATE == 0:
            opt_a.apply_gradients(zip(accumulators, accumulated_model.trainable_variables))
            for accumulator in accumulators:
                accumulator.assign(tf.zeros_like(accumulator))
    with tf.GradientTape() as tape:
        loss = loss_fn(y, whole_model(x, training=True))
    gradients = tape.gradient(loss, whole_model.trainable_variables)
    opt_b.apply_gradients(zip(gradients, whole_model.trainable_variables))
    curve.append(loss.numpy())
gap = max(
    float(tf.reduce_max(tf.abs(a - b)))
    for a, b in zip(accumulated_model.weights, whole_model.weights)
)

# clipping, in each of its ways
with tf.GradientTape(persistent=True) as tape:
    loss = 50.0 * loss_fn(y, whole_model(x))
    by_example = tf.reduce_sum((whole_model(x) - y) ** 2, axis=1)
gradients = tape.gradient(loss, whole_model.trainable_variables)
clipped, norm = tf.clip_by_global_norm(gradients, 5.0)
by_norm = [tf.clip_by_norm(g, 1.0) for g in gradients]
by_value = [tf.clip_by_value(g, -0.5, 0.5) for g in gradients]
by_rows = tf.clip_by_norm(gradients[0], 0.3, axes=[0])

# per-example gradients, clipped and averaged as in private training
jacobian = tape.jacobian(by_example, whole_model.trainable_variables)
del tape
flat = tf.concat([tf.reshape(j, (32, -1)) for j in jacobian], axis=1)
factors = tf.minimum(1.0, 10.0 / tf.norm(flat, axis=1, keepdims=True))
private = tf.reduce_mean(flat * factors, axis=0)

results = {
    "curve": [float(each) for each in curve],
    "same": gap < 1e-5,
    "norm": float(norm),
    "clipped": float(tf.linalg.global_norm(clipped)),
    "by_norm": [float(tf.norm(g)) for g in by_norm],
    "by_value": [float(tf.reduce_sum(g)) for g in by_value],
    "by_rows": tf.norm(by_rows, axis=0).numpy().tolist(),
    "private": private[:8].numpy().tolist(),
    "bounded": int(tf.reduce_sum(tf.cast(factors < 1.0, tf.int32))),
}
