"""Losses by keras.backend as in older repositories."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import backend as K
from tensorflow.keras.layers import Dense, Input, Lambda
from tensorflow.keras.models import Model, Sequential

tf.keras.utils.set_random_seed(1)


def dice_coef(y_true, y_pred, smooth=1.0):
    y_true_f = K.flatten(y_true)
    y_pred_f = K.flatten(y_pred)
    intersection = K.sum(y_true_f * y_pred_f)
    return (2.0 * intersection + smooth) / (K.sum(y_true_f) + K.sum(y_pred_f) + smooth)


def dice_loss(y_true, y_pred):
    return 1 - dice_coef(y_true, y_pred)


def focal(y_true, y_pred, gamma=2.0, alpha=0.25):
    pt_1 = tf.where(tf.equal(y_true, 1), y_pred, tf.ones_like(y_pred))
    pt_0 = tf.where(tf.equal(y_true, 0), y_pred, tf.zeros_like(y_pred))
    return -K.mean(alpha * K.pow(1.0 - pt_1, gamma) * K.log(pt_1 + K.epsilon())) - K.mean(
        (1 - alpha) * K.pow(pt_0, gamma) * K.log(1.0 - pt_0 + K.epsilon())
    )


def root_mean_squared_error(y_true, y_pred):
    return K.sqrt(K.mean(K.square(y_pred - y_true), axis=-1))


def euclidean_distance(vects):
    x, y = vects
    sum_square = K.sum(K.square(x - y), axis=1, keepdims=True)
    return K.sqrt(K.maximum(sum_square, K.epsilon()))


def contrastive_loss(y_true, y_pred):
    margin = 1
    return K.mean(
        y_true * K.square(y_pred) + (1 - y_true) * K.square(K.maximum(margin - y_pred, 0))
    )


def sampling(args):
    z_mean, z_log_var = args
    batch = K.shape(z_mean)[0]
    dim = K.int_shape(z_mean)[1]
    epsilon = K.random_normal(shape=(batch, dim), seed=3)
    return z_mean + K.exp(0.5 * z_log_var) * epsilon


rs = np.random.RandomState(3)
x = rs.rand(16, 6).astype("float32")
y = (x.sum(1, keepdims=True) > 3).astype("float32")
model = Sequential()
model.add(Dense(5, activation="tanh", input_dim=6))
model.add(Dense(1, activation="sigmoid"))
model.compile(loss=dice_loss, optimizer="adam", metrics=[dice_coef, root_mean_squared_error])
h = model.fit(x, y, epochs=2, batch_size=8, verbose=0)
opt = tf.keras.optimizers.Adam(0.01)
fl = []
zmv = K.variable(1.0)
for i in range(3):
    with tf.GradientTape() as tape:
        p = model(x, training=True)
        loss = focal(y, p)
    g = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(g, model.trainable_variables))
    fl.append(float(loss))
K.set_value(zmv, 0.002)
lr = float(K.get_value(zmv))
inp = Input(shape=(6,))
base = Model(inp, Dense(3)(inp))
a, b = Input((6,)), Input((6,))
siam = Model([a, b], Lambda(euclidean_distance)([base(a), base(b)]))
siam.compile(loss=contrastive_loss, optimizer=tf.keras.optimizers.RMSprop())
hs = siam.fit([x[:8], x[8:]], y[:8], epochs=2, verbose=0)
zm = tf.Variable(rs.randn(4, 2).astype("float32"))
zl = tf.Variable(tf.zeros((4, 2)))
with tf.GradientTape() as t:
    z = sampling([zm, zl])
    kl = -0.5 * K.mean(K.sum(1 + zl - K.square(zm) - K.exp(zl), axis=-1))
    L = K.sum(K.abs(z)) + kl
gz = t.gradient(L, [zm, zl])
c = K.cast(K.greater(x, 0.5), "float32")
results = {
    "h": h.history["loss"],
    "d": h.history["dice_coef"],
    "fl": fl,
    "lr": lr,
    "hs": hs.history["loss"],
    "gz": [v.numpy().tolist() for v in gz],
    "c": float(K.sum(c)),
    "m": K.eval(
        K.clip(K.dot(K.constant([[1.0, 2.0]]), K.transpose(K.constant([[3.0, 4.0]]))), 0, 5)
    ).tolist(),
    "b": K.batch_dot(K.ones((2, 1, 3)), K.ones((2, 3, 2))).numpy().tolist(),
    "sm": K.softmax(K.variable([[1.0, 2.0]])).numpy().tolist(),
    "ce": K.binary_crossentropy(K.constant([0.0, 1.0]), K.constant([0.2, 0.9])).numpy().tolist(),
}
