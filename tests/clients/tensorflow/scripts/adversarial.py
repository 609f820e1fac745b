"""Adversarial examples for a small classifier: FGSM, PGD, and adversarial training."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(15)
labels = rng.integers(0, 3, 60)
images = rng.uniform(0, 0.4, (60, 6, 6, 1))
for i, label in enumerate(labels):
    images[i, 2 * label : 2 * label + 2] += 0.5
images = images.astype(np.float32)

model = tf.keras.models.Sequential(
    [
        tf.keras.layers.Conv2D(4, 3, activation="relu", input_shape=(6, 6, 1)),
        tf.keras.layers.MaxPool2D(2),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(3),
    ]
)
model.set_weights([rng.normal(0, 0.4, w.shape) for w in model.get_weights()])
loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile("adam", loss_object, metrics=["accuracy"])
model.optimizer.learning_rate = 0.02
model.fit(images[:48], labels[:48], batch_size=12, epochs=6, shuffle=False, verbose=0)


def create_adversarial_pattern(input_image, input_label):
    input_image = tf.convert_to_tensor(input_image)
    with tf.GradientTape() as tape:
        tape.watch(input_image)
        prediction = model(input_image)
        loss = loss_object(input_label, prediction)
    gradient = tape.gradient(loss, input_image)
    return tf.sign(gradient)


def pgd(x, y, eps=0.2, alpha=0.05, steps=5):
    start = x
    x = x + tf.constant(rng.uniform(-eps, eps, x.shape), tf.float32)
    for _ in range(steps):
        x = x + alpha * create_adversarial_pattern(x, y)
        x = tf.clip_by_value(x, start - eps, start + eps)
        x = tf.clip_by_value(x, 0, 1)
    return x


def l2_attack(x, y, eps=0.5):
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(y, model(x))
    gradient = tape.gradient(loss, x)
    norms = tf.norm(tf.reshape(gradient, (len(x), -1)), axis=1)
    return x + eps * gradient / tf.reshape(norms, (-1, 1, 1, 1)), norms


test, truth = tf.constant(images[48:]), tf.constant(labels[48:])
perturbations = create_adversarial_pattern(test, truth)
by_epsilon = {}
for eps in [0, 0.05, 0.15, 0.3]:
    adv_x = tf.clip_by_value(test + eps * perturbations, 0, 1)
    loss, accuracy = model.evaluate(adv_x, truth, verbose=0)
    by_epsilon[str(eps)] = [float(loss), float(accuracy)]
attacked = pgd(test, truth)
moved, norms = l2_attack(test, truth)

for step in range(4):  # adversarial training
    x, y = tf.constant(images[:48]), tf.constant(labels[:48])
    adversarial = x + 0.1 * create_adversarial_pattern(x, y)
    with tf.GradientTape() as tape:
        loss = 0.5 * loss_object(y, model(x)) + 0.5 * loss_object(y, model(adversarial))
    gradients = tape.gradient(loss, model.trainable_variables)
    model.optimizer.apply_gradients(zip(gradients, model.trainable_variables))

results = {
    "by_epsilon": by_epsilon,
    "pgd": model.evaluate(attacked, truth, verbose=0),
    "distance": float(tf.reduce_max(tf.abs(attacked - test))),
    "norms": norms[:4].numpy().tolist(),
    "l2": float(loss_object(truth, model(moved))),
    "trained": float(loss),
}
