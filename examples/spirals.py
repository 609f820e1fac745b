"""Code written for TensorFlow, with one import changed: two spirals are told apart.

    python examples/spirals.py [picture.png]

Keras's layers, losses and optimisers and a tape for each step, with nothing of TensorFlow
installed: each step is one request. Run with TensorFlow itself, it does the same.
"""

import os
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import gradwire.tf as tf  # import tensorflow as tf
import matplotlib.pyplot as plt
import numpy as np

os.environ.setdefault("GRADWIRE_URL", "local")
STEPS = 300

rng = np.random.default_rng(0)
turn = np.sqrt(rng.uniform(0.02, 1, 300)) * 3 * np.pi
spiral = np.stack([np.cos(turn), np.sin(turn)], axis=1) * turn[:, None] / 10
spiral += rng.normal(scale=0.03, size=spiral.shape)
x = tf.constant(np.concatenate([spiral, -spiral]), tf.float32)
y = tf.constant(np.repeat([[1.0], [0.0]], 300, axis=0), tf.float32)

tf.keras.utils.set_random_seed(1)
model = tf.keras.Sequential(
    [
        tf.keras.layers.Dense(32, activation="swish"),
        tf.keras.layers.Dense(32, activation="swish"),
        tf.keras.layers.Dense(1),
    ]
)
entropy = tf.keras.losses.BinaryCrossentropy(from_logits=True)
optimizer = tf.keras.optimizers.Adam(0.02)

losses = []
begin = perf_counter()
for _ in range(STEPS):
    with tf.GradientTape() as tape:
        loss = entropy(y, model(x))
    slopes = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(slopes, model.trainable_variables, strict=True))
    losses.append(float(loss))
seconds = perf_counter() - begin
accuracy = float(tf.reduce_mean(tf.cast((model(x) > 0) == (y > 0.5), tf.float32)))

print(f"{len(losses)} steps in {seconds:.2f} s, {1000 * seconds / len(losses):.1f} ms each")
print(f"loss {losses[0]:.3f} → {losses[-1]:.4f}, {accuracy:.1%} of {len(x)} points are told apart")


# What it thinks of every place, and how much a small move would change that: a gradient in x.

axis = np.linspace(-1.02, 1.02, 120)
places = tf.constant(np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2), tf.float32)
with tf.GradientTape() as tape:
    tape.watch(places)
    verdict = tf.sigmoid(model(places))
slope = tf.norm(tape.gradient(verdict, places), axis=1)

plt.style.use(Path(__file__).with_name("gradwire.mplstyle"))
figure, panels = plt.subplots(1, 3, figsize=(11, 3.6), width_ratios=[1, 1.2, 1.2])
panels[0].plot(losses)
panels[0].set(title="Loss", xlabel="step", yscale="log")
for axes, title, values, colours in [
    (panels[1], "Which spiral", verdict, "coolwarm"),
    (panels[2], "Where a small move changes it", slope, "viridis"),
]:
    field, extent = values.numpy().reshape(120, 120), (axis[0], axis[-1], axis[0], axis[-1])
    axes.imshow(field, cmap=colours, origin="lower", extent=extent, interpolation="bilinear")
    axes.set_title(title)
    axes.set_aspect("equal")
    axes.axis("off")
for points, colour in (spiral, "C1"), (-spiral, "C0"):
    panels[1].plot(*points.T, "o", color=colour, ms=3, mec="white", mew=0.4)
picture = sys.argv[1] if len(sys.argv) > 1 else Path(tempfile.gettempdir(), "spirals.png")
figure.savefig(picture)
print(f"\npicture: {picture}")
