"""A hidden Markov model: the forward algorithm by tf.scan, gradients as counts, and Viterbi."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(42)
STATES, SYMBOLS, LENGTH = 3, 4, 14
sequences = tf.constant(rng.integers(0, SYMBOLS, (5, LENGTH)), tf.int32)
start = tf.Variable(tf.constant(rng.normal(size=STATES), tf.float32), name="start")
transition = tf.Variable(tf.constant(rng.normal(size=(STATES, STATES)), tf.float32))
emission = tf.Variable(tf.constant(rng.normal(size=(STATES, SYMBOLS)), tf.float32))
variables = [start, transition, emission]


def log_likelihood(sequences):
    log_start = tf.nn.log_softmax(start)
    log_transition = tf.nn.log_softmax(transition, axis=1)
    log_emission = tf.transpose(tf.nn.log_softmax(emission, axis=1))
    emitted = tf.gather(log_emission, tf.transpose(sequences))  # time, sequence, state

    def step(alpha, e):
        return tf.reduce_logsumexp(alpha[:, :, None] + log_transition[None], axis=1) + e

    alphas = tf.scan(step, emitted[1:], initializer=log_start + emitted[0])
    return tf.reduce_logsumexp(alphas[-1], axis=-1)


def viterbi(sequence):
    score = tf.nn.log_softmax(start) + tf.nn.log_softmax(emission)[:, sequence[0]]
    pointers = []
    for symbol in sequence[1:]:
        candidates = score[:, None] + tf.nn.log_softmax(transition, axis=1)
        pointers.append(tf.argmax(candidates, axis=0))
        score = tf.reduce_max(candidates, axis=0) + tf.nn.log_softmax(emission)[:, symbol]
    state = int(tf.argmax(score))
    path = [state]
    for pointer in reversed(pointers):
        state = int(pointer[state])
        path.append(state)
    return path[::-1], tf.reduce_max(score)


optimizer = tf.keras.optimizers.Adam(0.1)
history = []
for iteration in range(12):
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(log_likelihood(sequences))
    gradients = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(gradients, variables))
    history.append(float(loss))

# the gradient in a log-probability is an expected count
log_emission = tf.nn.log_softmax(emission, axis=1)
log_transition = tf.nn.log_softmax(transition, axis=1)
with tf.GradientTape(persistent=True) as tape:
    tape.watch([log_emission, log_transition])
    alpha = tf.nn.log_softmax(start) + tf.gather(log_emission, sequences[0, 0], axis=1)
    for t in range(1, LENGTH):
        alpha = tf.reduce_logsumexp(alpha[:, None] + log_transition, axis=0)
        alpha += tf.gather(log_emission, sequences[0, t], axis=1)
    total = tf.reduce_logsumexp(alpha)
emitted = tape.gradient(total, log_emission)
moved = tape.gradient(total, log_transition)
path, score = viterbi(sequences[0].numpy())

results = {
    "history": history[::3],
    "start": tf.nn.softmax(start).numpy().tolist(),
    "emitted": emitted.numpy().tolist(),
    "counts": [float(tf.reduce_sum(emitted)), float(tf.reduce_sum(moved))],
    "path": path,
    "score": float(score),
    "total": float(total),
}
