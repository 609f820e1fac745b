"""Contrastive learning: SimCLR's NT-Xent loss with augmented views, then a linear probe."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(32)
BATCH, TEMPERATURE = 12, 0.3
labels = rng.integers(0, 3, 36)
prototypes = rng.normal(size=(3, 5, 5, 1))
images = (prototypes[labels] + 0.3 * rng.normal(size=(36, 5, 5, 1))).astype("float32")


def augment(batch):
    batch = tf.constant(batch)
    flip = tf.constant(rng.uniform(size=len(batch)) < 0.5)
    batch = tf.where(flip[:, None, None, None], tf.image.flip_left_right(batch), batch)
    scale = tf.constant(rng.uniform(0.8, 1.2, (len(batch), 1, 1, 1)), tf.float32)
    return batch * scale + tf.constant(0.1 * rng.normal(size=batch.shape), tf.float32)


encoder = tf.keras.Sequential(
    [
        tf.keras.layers.Conv2D(6, 3, activation="relu", padding="same", input_shape=(5, 5, 1)),
        tf.keras.layers.GlobalMaxPooling2D(),
        tf.keras.layers.Dense(6),
    ]
)
head = tf.keras.Sequential(
    [
        tf.keras.layers.Dense(6, activation="relu", input_shape=(6,)),
        tf.keras.layers.Dense(4),
    ]
)
for net in (encoder, head):
    net.set_weights([rng.normal(0, 0.5, w.shape) for w in net.get_weights()])


def nt_xent(projections_1, projections_2):
    projections_1 = tf.math.l2_normalize(projections_1, axis=1)
    projections_2 = tf.math.l2_normalize(projections_2, axis=1)
    similarities = tf.matmul(projections_1, projections_2, transpose_b=True) / TEMPERATURE
    batch_size = tf.shape(projections_1)[0]
    contrastive_labels = tf.range(batch_size)
    loss_1_2 = tf.keras.losses.sparse_categorical_crossentropy(
        contrastive_labels, similarities, from_logits=True
    )
    loss_2_1 = tf.keras.losses.sparse_categorical_crossentropy(
        contrastive_labels, tf.transpose(similarities), from_logits=True
    )
    return tf.reduce_mean(loss_1_2 + loss_2_1) / 2


def with_masks(projections):
    """The loss over all pairs of both views, the diagonal left out."""
    z = tf.nn.l2_normalize(projections, axis=-1)
    logits = tf.einsum("id,jd->ij", z, z) / TEMPERATURE
    n = tf.shape(z)[0]
    logits = tf.linalg.set_diag(logits, tf.fill([n], -1e9))
    positives = tf.roll(tf.eye(n), shift=n // 2, axis=1)
    return tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(positives, logits))


optimizer = tf.keras.optimizers.Adam(0.01)
losses, others = [], []
for step in range(9):
    batch = images[step % 3 :: 3]
    first, second = augment(batch), augment(batch)
    with tf.GradientTape() as tape:
        z_1 = head(encoder(first, training=True), training=True)
        z_2 = head(encoder(second, training=True), training=True)
        loss = nt_xent(z_1, z_2)
        other = with_masks(tf.concat([z_1, z_2], axis=0))
        total = loss + 0.5 * other
    variables = encoder.trainable_weights + head.trainable_weights
    gradients = tape.gradient(total, variables)
    optimizer.apply_gradients(zip(gradients, variables))
    losses.append(float(loss))
    others.append(float(other))

features = encoder(images)
probe = tf.Variable(tf.zeros((6, 3)))
for step in range(10):
    with tf.GradientTape() as tape:
        logits = tf.stop_gradient(features) @ probe
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
    probe.assign_sub(0.5 * tape.gradient(loss, probe))

results = {
    "losses": losses,
    "others": others[::4],
    "probe": float(loss),
    "accuracy": float(np.mean(np.argmax(features.numpy() @ probe.numpy(), axis=1) == labels)),
    "feature": features[0].numpy().tolist(),
}
