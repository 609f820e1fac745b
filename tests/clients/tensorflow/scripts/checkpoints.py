"""Checkpoints: a training saved, continued and restored with its optimizer's state."""

import os
import tempfile

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(52)
x = tf.constant(rng.normal(size=(20, 3)), tf.float32)
y = tf.constant(rng.normal(size=(20, 1)), tf.float32)
initial = [rng.normal(0, 0.4, shape) for shape in ((3, 4), (4,), (4, 1), (1,))]


def build():
    model = tf.keras.Sequential(
        [
            tf.keras.Input((3,)),
            tf.keras.layers.Dense(4, activation="tanh"),
            tf.keras.layers.Dense(1),
        ]
    )
    model.set_weights(initial)
    return model, tf.keras.optimizers.Adam(0.05)


def train(model, optimizer, steps):
    losses = []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        losses.append(float(loss))
    return losses


folder = tempfile.mkdtemp()
model, optimizer = build()
step = tf.Variable(0, dtype=tf.int64)
checkpoint = tf.train.Checkpoint(step=step, model=model, optimizer=optimizer)
manager = tf.train.CheckpointManager(checkpoint, os.path.join(folder, "run"), max_to_keep=2)
before = train(model, optimizer, 4)
step.assign_add(4)
path = manager.save()
uninterrupted = train(model, optimizer, 4)

model, optimizer = build()
optimizer.build(model.trainable_variables)
step = tf.Variable(0, dtype=tf.int64)
checkpoint = tf.train.Checkpoint(step=step, model=model, optimizer=optimizer)
checkpoint.restore(path)
continued = train(model, optimizer, 4)

model.save_weights(os.path.join(folder, "model.weights.h5"))
after = model(x)[:3, 0].numpy().tolist()
other, _ = build()
other.load_weights(os.path.join(folder, "model.weights.h5"))

results = {
    "before": before,
    "uninterrupted": uninterrupted,
    "continued": continued,
    "step": int(step),
    "after": after,
    "loaded": other(x)[:3, 0].numpy().tolist(),
    "latest": os.path.basename(manager.latest_checkpoint),
}
