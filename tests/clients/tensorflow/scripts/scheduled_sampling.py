"""Scheduled sampling with TensorArrays, beam search, greedy decoding in tf.while_loop."""

import tensorflow as tf

tf.keras.utils.set_random_seed(9)
V, H, B, T = 6, 5, 3, 4
E_ = tf.keras.layers.Embedding(V, H)
cell = tf.keras.layers.GRUCell(H)
out = tf.keras.layers.Dense(V)
tgt = tf.constant([[1, 2, 3, 4], [2, 2, 5, 1], [3, 1, 1, 0]])
opt = tf.keras.optimizers.RMSprop(0.02, rho=0.8)


@tf.function
def step(tgt, p):
    with tf.GradientTape() as tape:
        state = tf.zeros([B, H])
        tok = tf.zeros([B], tf.int32)
        ta = tf.TensorArray(tf.float32, size=T)
        for t in tf.range(T):
            h, s = cell(E_(tok), [state])
            state = s[0] if isinstance(s, (list, tuple)) else s
            logits = out(h)
            ta = ta.write(t, logits)
            use = (
                tf.random.uniform([B], seed=4) < p
                if False
                else tf.cast(tf.range(B) % 2 == t % 2, tf.bool)
            )
            tok = tf.where(use, tgt[:, t], tf.argmax(logits, -1, output_type=tf.int32))
        logits = tf.transpose(ta.stack(), [1, 0, 2])
        loss = tf.reduce_mean(
            tf.keras.losses.sparse_categorical_crossentropy(tgt, logits, from_logits=True)
        )
    vs = E_.trainable_variables + cell.trainable_variables + out.trainable_variables
    g = tape.gradient(loss, vs)
    g = [
        tf.clip_by_norm(x, 1.0)
        if not isinstance(x, tf.IndexedSlices)
        else tf.clip_by_norm(tf.convert_to_tensor(x), 1.0)
        for x in g
    ]
    opt.apply_gradients(zip(g, vs))
    return loss


E_(tf.zeros([1], tf.int32))
cell(tf.zeros([1, H]), [tf.zeros([1, H])])
out(tf.zeros([1, H]))
losses = [float(step(tgt, 0.5)) for _ in range(5)]


def beam(k=3):
    seqs = tf.zeros([k, 1], tf.int32)
    scores = tf.constant([0.0] + [-1e9] * (k - 1))
    state = tf.zeros([k, H])
    for t in range(T):
        h, s = cell(E_(seqs[:, -1]), [state])
        s = s[0] if isinstance(s, (list, tuple)) else s
        lp = tf.nn.log_softmax(out(h)) + scores[:, None]
        scores, idx = tf.math.top_k(tf.reshape(lp, [-1]), k)
        b, tok = idx // V, idx % V
        seqs = tf.concat([tf.gather(seqs, b), tok[:, None]], 1)
        state = tf.gather(s, b)
    return seqs, scores


s, sc = beam()


@tf.function
def greedy():
    def cond(t, *_):
        return tf.less(t, T)

    def body(t, tok, st, acc):
        h, s = cell(E_(tok), [st])
        s = s[0] if isinstance(s, (list, tuple)) else s
        tok = tf.argmax(out(h), -1, output_type=tf.int32)
        return t + 1, tok, s, tf.concat([acc, tok[:, None]], 1)

    r = tf.while_loop(
        cond,
        body,
        [tf.constant(0), tf.zeros([2], tf.int32), tf.zeros([2, H]), tf.zeros([2, 1], tf.int32)],
        shape_invariants=[
            tf.TensorShape([]),
            tf.TensorShape([2]),
            tf.TensorShape([2, H]),
            tf.TensorShape([2, None]),
        ],
    )
    return r[-1]


results = {
    "losses": losses,
    "beam": s.numpy().tolist(),
    "scores": sc.numpy().tolist(),
    "greedy": greedy().numpy().tolist(),
}
