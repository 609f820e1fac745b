"""Losses of sequences: a linear-chain CRF by hand, connectionist temporal classification."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(67)
BATCH, TIME, TAGS = 3, 6, 4
lengths = tf.constant([6, 4, 5])
tags = tf.constant(rng.integers(0, TAGS, (BATCH, TIME)), tf.int32)
inputs = tf.constant(rng.normal(size=(BATCH, TIME, 5)), tf.float32)
W = tf.Variable(tf.constant(rng.normal(0, 0.4, (5, TAGS)), tf.float32))
transitions = tf.Variable(tf.constant(rng.normal(0, 0.4, (TAGS, TAGS)), tf.float32))


def crf_log_likelihood(unary, tags, lengths):
    mask = tf.sequence_mask(lengths, TIME, dtype=tf.float32)
    taken = tf.gather(unary, tags, axis=2, batch_dims=2)
    score = tf.reduce_sum(taken * mask, axis=1)
    pairs = tf.gather_nd(transitions, tf.stack([tags[:, :-1], tags[:, 1:]], axis=-1))
    score += tf.reduce_sum(pairs * mask[:, 1:], axis=1)
    alpha = unary[:, 0]
    for t in range(1, TIME):
        new = tf.reduce_logsumexp(alpha[:, :, None] + transitions[None], axis=1) + unary[:, t]
        alpha = tf.where(mask[:, t, None] > 0, new, alpha)
    return score - tf.reduce_logsumexp(alpha, axis=1)


optimizer = tf.keras.optimizers.Adam(0.1)
history = []
for step in range(8):
    with tf.GradientTape() as tape:
        unary = tf.tensordot(inputs, W, axes=[[2], [0]])
        loss = -tf.reduce_mean(crf_log_likelihood(unary, tags, lengths))
    gradients = tape.gradient(loss, [W, transitions])
    optimizer.apply_gradients(zip(gradients, [W, transitions]))
    history.append(float(loss))

# marginals are gradients of the log-partition
unary = tf.constant(unary)
with tf.GradientTape() as tape:
    tape.watch(unary)
    total = tf.reduce_sum(crf_log_likelihood(unary, tags, lengths))
pull = tape.gradient(total, unary)
mask = tf.sequence_mask(lengths, TIME, dtype=tf.float32)[..., None]
marginals = tf.one_hot(tags, TAGS) * mask - pull

labels = tf.constant([[1, 2, 0], [3, 1, 2], [2, 0, 0]], tf.int32)
label_length, logit_length = tf.constant([2, 3, 1]), tf.constant([6, 6, 4])
logits = tf.Variable(tf.constant(rng.normal(size=(TIME, BATCH, 5)), tf.float32))
ctc = []
for step in range(5):
    with tf.GradientTape() as tape:
        losses = tf.nn.ctc_loss(
            labels, logits, label_length, logit_length, logits_time_major=True, blank_index=4
        )
        loss = tf.reduce_mean(losses)
    gradient = tape.gradient(loss, logits)
    logits.assign_sub(2.0 * gradient)
    ctc.append([float(each) for each in losses])

weighted = tf.reduce_sum(
    tf.nn.weighted_cross_entropy_with_logits(tf.one_hot([0, 2], 3), [[0.1, -1.0, 2.0]] * 2, 2.5)
)
smoothed = tf.keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1)(
    tf.one_hot([0, 2], 3), tf.constant([[0.1, -1.0, 2.0], [0.5, 0.2, -0.4]])
)
results = {
    "history": history,
    "marginals": marginals[1].numpy().tolist(),
    "sums": tf.reduce_sum(marginals, axis=-1)[1].numpy().tolist(),
    "ctc": ctc,
    "gradient": gradient[5].numpy().tolist(),
    "weighted": float(weighted),
    "smoothed": float(smoothed),
}
