"""DP-SGD: per-example gradients by jacobian, vectorized_map and loops."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(8)
model = tf.keras.Sequential(
    [tf.keras.layers.Dense(4, activation="relu", input_shape=(3,)), tf.keras.layers.Dense(2)]
)
X = np.random.RandomState(1).randn(6, 3).astype("float32")
Y = np.array([0, 1, 1, 0, 1, 0])
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(
    from_logits=True,
    reduction=tf.keras.losses.Reduction.NONE if hasattr(tf.keras.losses, "Reduction") else "none",
)
with tf.GradientTape(persistent=True) as tape:
    losses = loss_fn(Y, model(X))
jac = tape.jacobian(losses, model.trainable_variables)
jac2 = tape.jacobian(losses, model.trainable_variables, experimental_use_pfor=False)


def clipped(grads, l2=0.5):
    flat = tf.concat([tf.reshape(g, [g.shape[0], -1]) for g in grads], 1)
    norms = tf.norm(flat, axis=1)
    factor = tf.minimum(1.0, l2 / (norms + 1e-6))
    return [
        tf.reduce_mean(g * tf.reshape(factor, [-1] + [1] * (len(g.shape) - 1)), 0) for g in grads
    ], norms


g, norms = clipped(jac)


def one(args):
    x, y = args
    with tf.GradientTape() as t:
        l = loss_fn(y[None], model(x[None]))
    return t.gradient(l, model.trainable_variables)


pe = tf.vectorized_map(one, (tf.constant(X), tf.constant(Y)))
pl = tf.map_fn(
    one,
    (tf.constant(X), tf.constant(Y)),
    fn_output_signature=[tf.TensorSpec(v.shape) for v in model.trainable_variables],
)
opt = tf.keras.optimizers.SGD(0.1)
for _ in range(3):
    with tf.GradientTape() as t:
        l = loss_fn(Y, model(X))
    j = t.jacobian(l, model.trainable_variables)
    gg, _ = clipped(j)
    opt.apply_gradients(zip(gg, model.trainable_variables))
xt = tf.constant(X)
with tf.GradientTape() as t:
    t.watch(xt)
    out = tf.nn.softmax(model(xt))
bj = t.batch_jacobian(out, xt)
results = {
    "norms": norms.numpy().tolist(),
    "g": [v.numpy().tolist() for v in g],
    "pe": [float(tf.norm(v)) for v in pe],
    "pl": [float(tf.norm(v)) for v in pl],
    "same": bool(np.allclose(jac[0], jac2[0], atol=1e-5)),
    "after": float(tf.reduce_mean(l)),
    "bj": bj.numpy().tolist(),
}
