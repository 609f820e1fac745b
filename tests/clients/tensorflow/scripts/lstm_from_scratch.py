"""An LSTM from scratch: gates by hand, truncated backpropagation, perplexity, dropout by masks."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(60)
VOCAB, HIDDEN, STEPS, BATCH = 6, 8, 5, 4
corpus = np.tile([0, 2, 4, 1, 3, 5, 2, 0], 12)


def get_lstm_params(vocab_size, num_hiddens):
    def normal(shape):
        return tf.Variable(tf.constant(rng.normal(0, 0.3, shape), dtype=tf.float32))

    def three():
        return (
            normal((vocab_size, num_hiddens)),
            normal((num_hiddens, num_hiddens)),
            tf.Variable(tf.zeros(num_hiddens), dtype=tf.float32),
        )

    gates = [p for _ in range(4) for p in three()]
    return [*gates, normal((num_hiddens, vocab_size)), tf.Variable(tf.zeros(vocab_size))]


def lstm(inputs, state, params):
    W_xi, W_hi, b_i, W_xf, W_hf, b_f, W_xo, W_ho, b_o, W_xc, W_hc, b_c, W_hq, b_q = params
    (H, C) = state
    outputs = []
    for X in tf.unstack(inputs):
        I = tf.sigmoid(tf.matmul(X, W_xi) + tf.matmul(H, W_hi) + b_i)
        F = tf.sigmoid(tf.matmul(X, W_xf) + tf.matmul(H, W_hf) + b_f)
        O = tf.sigmoid(tf.matmul(X, W_xo) + tf.matmul(H, W_ho) + b_o)
        C_tilda = tf.tanh(tf.matmul(X, W_xc) + tf.matmul(H, W_hc) + b_c)
        C = F * C + I * C_tilda
        H = O * tf.tanh(C)
        outputs.append(tf.matmul(H, W_hq) + b_q)
    return tf.concat(outputs, axis=0), (H, C)


def grad_clipping(grads, theta):
    theta = tf.constant(theta, dtype=tf.float32)
    new_grad = []
    for grad in grads:
        if isinstance(grad, tf.IndexedSlices):
            new_grad.append(tf.convert_to_tensor(grad))
        else:
            new_grad.append(grad)
    norm = tf.math.sqrt(sum((tf.reduce_sum(grad**2)).numpy() for grad in new_grad))
    norm = tf.cast(norm, tf.float32)
    if tf.greater(norm, theta):
        for i, grad in enumerate(new_grad):
            new_grad[i] = grad * theta / norm
    return new_grad, norm


def batches():
    width = (len(corpus) - 1) // BATCH
    xs = corpus[: BATCH * width].reshape(BATCH, width)
    ys = corpus[1 : BATCH * width + 1].reshape(BATCH, width)
    for i in range(0, STEPS * (width // STEPS), STEPS):
        yield xs[:, i : i + STEPS], ys[:, i : i + STEPS]


params = get_lstm_params(VOCAB, HIDDEN)
updater = tf.keras.optimizers.SGD(1.0)
perplexities, norms = [], []
for epoch in range(3):
    state, total, count = None, 0.0, 0
    for X, Y in batches():
        if state is None:
            state = (tf.zeros((BATCH, HIDDEN)), tf.zeros((BATCH, HIDDEN)))
        mask = tf.constant(rng.uniform(size=(BATCH, HIDDEN)) < 0.9, tf.float32) / 0.9
        with tf.GradientTape(persistent=True) as g:
            y_hat, state = lstm(
                tf.one_hot(tf.transpose(X), VOCAB), (state[0] * mask, state[1]), params
            )
            y = tf.reshape(tf.transpose(Y), (-1))
            loss = tf.reduce_mean(
                tf.keras.losses.sparse_categorical_crossentropy(y, y_hat, from_logits=True)
            )
        grads, norm = grad_clipping(g.gradient(loss, params), 1.0)
        updater.apply_gradients(zip(grads, params))
        state = tuple(tf.stop_gradient(s) for s in state)
        total += loss * float(tf.size(y))
        count += tf.cast(tf.size(y), tf.float32)
        norms.append(float(norm))
    perplexities.append(float(tf.exp(total / count)))

results = {
    "perplexities": perplexities,
    "norms": norms[::4],
    "state": state[0][0].numpy().tolist(),
    "predicted": tf.argmax(y_hat, axis=1)[:6].numpy().tolist(),
}
