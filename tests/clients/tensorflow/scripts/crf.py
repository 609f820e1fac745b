"""Linear-chain CRF: forward algorithm with tf.scan and while_loop, Viterbi, trained with a tape."""

import numpy as np
import tensorflow as tf

np.random.seed(7)
B, T, K = 3, 5, 4
emissions = tf.constant(np.random.randn(B, T, 3), tf.float32)
tags = tf.constant(np.random.randint(0, K, (B, T)), tf.int32)
lengths = tf.constant([5, 3, 4])
W = tf.Variable(np.random.randn(3, K) * 0.1, dtype=tf.float32, name="W")
trans = tf.Variable(tf.zeros([K, K]), name="transitions")


def crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params):
    mask = tf.sequence_mask(sequence_lengths, maxlen=tf.shape(tag_indices)[1], dtype=tf.float32)
    unary = tf.reduce_sum(tf.gather(inputs, tag_indices, batch_dims=2) * mask, axis=1)
    start, end = tag_indices[:, :-1], tag_indices[:, 1:]
    flat = start * K + end
    binary = tf.gather(tf.reshape(transition_params, [-1]), flat)
    return unary + tf.reduce_sum(binary * mask[:, 1:], 1)


@tf.function
def crf_log_norm(inputs, sequence_lengths, transition_params):
    first = inputs[:, 0]
    rest = tf.transpose(inputs[:, 1:], [1, 0, 2])

    def body(t, alphas):
        new = rest[t] + tf.reduce_logsumexp(alphas[:, :, None] + transition_params[None], axis=1)
        keep = tf.expand_dims(t + 1 < sequence_lengths, -1)
        return t + 1, tf.where(keep, new, alphas)

    _, alphas = tf.while_loop(lambda t, _: t < tf.shape(rest)[0], body, [tf.constant(0), first])
    return tf.reduce_logsumexp(alphas, axis=1)


def log_norm_scan(inputs, transition_params):
    alphas = tf.scan(
        lambda a, e: e + tf.reduce_logsumexp(a[:, :, None] + transition_params[None], 1),
        tf.transpose(inputs, [1, 0, 2])[1:],
        initializer=inputs[:, 0],
    )
    return tf.reduce_logsumexp(alphas[-1], axis=1)


opt = tf.keras.optimizers.SGD(0.5, momentum=0.9, nesterov=True)
losses = []
for i in range(10):
    with tf.GradientTape() as tape:
        logits = tf.tensordot(emissions, W, axes=1)
        ll = crf_sequence_score(logits, tags, lengths, trans) - crf_log_norm(logits, lengths, trans)
        loss = -tf.reduce_mean(ll)
    gradients = tape.gradient(loss, [W, trans])
    gradients, gnorm = tf.clip_by_global_norm(gradients, 1.0)
    opt.apply_gradients(zip(gradients, [W, trans]))
    losses.append(loss.numpy().item())


def viterbi_decode(score, transition_params):
    trellis = np.zeros_like(score)
    backpointers = np.zeros_like(score, dtype=np.int32)
    trellis[0] = score[0]
    for t in range(1, score.shape[0]):
        v = np.expand_dims(trellis[t - 1], 1) + transition_params
        trellis[t] = score[t] + np.max(v, 0)
        backpointers[t] = np.argmax(v, 0)
    viterbi = [np.argmax(trellis[-1])]
    for bp in reversed(backpointers[1:]):
        viterbi.append(bp[viterbi[-1]])
    viterbi.reverse()
    return [int(v) for v in viterbi], float(np.max(trellis[-1]))


with tf.GradientTape() as tape:
    logits = tf.tensordot(emissions, W, axes=[[2], [0]])
    Z = log_norm_scan(logits, trans)
marginals = tape.gradient(Z, logits)
results = {
    "losses": losses,
    "paths": [viterbi_decode(l, trans.numpy())[0] for l in logits.numpy()],
    "marginals": marginals.numpy().tolist(),
    "Z": Z.numpy().tolist(),
    "trans": trans.numpy().tolist(),
    "gn": float(gnorm),
}
