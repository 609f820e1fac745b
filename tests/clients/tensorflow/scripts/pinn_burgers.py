"""A physics-informed network for Burgers' equation: u_t + u u_x = nu u_xx, by nested tapes."""

import numpy as np
import tensorflow as tf

DTYPE = "float32"
tf.keras.backend.set_floatx(DTYPE)
rng = np.random.default_rng(0)
pi = tf.constant(np.pi, dtype=DTYPE)
viscosity = 0.01 / pi

t_r, x_r = rng.uniform(0, 1, (60, 1)), rng.uniform(-1, 1, (60, 1))
X_r = tf.constant(np.concatenate([t_r, x_r], axis=1), dtype=DTYPE)
x_0 = rng.uniform(-1, 1, (20, 1))
X_0 = tf.constant(np.concatenate([np.zeros_like(x_0), x_0], axis=1), dtype=DTYPE)
u_0 = -tf.sin(pi * X_0[:, 1:])
t_b = rng.uniform(0, 1, (20, 1))
x_b = np.where(rng.uniform(size=(20, 1)) < 0.5, -1.0, 1.0)
X_b = tf.constant(np.concatenate([t_b, x_b], axis=1), dtype=DTYPE)
u_b = tf.zeros((20, 1), dtype=DTYPE)
lb, ub = tf.constant([0.0, -1.0], dtype=DTYPE), tf.constant([1.0, 1.0], dtype=DTYPE)


def init_model(num_hidden_layers=3, num_neurons_per_layer=10):
    model = tf.keras.Sequential()
    model.add(tf.keras.Input((2,)))
    scaling_layer = tf.keras.layers.Lambda(lambda x: 2.0 * (x - lb) / (ub - lb) - 1.0)
    model.add(scaling_layer)
    for _ in range(num_hidden_layers):
        model.add(
            tf.keras.layers.Dense(
                num_neurons_per_layer,
                activation=tf.keras.activations.get("tanh"),
                kernel_initializer=lambda shape, dtype=None: tf.constant(
                    rng.normal(0, np.sqrt(2 / sum(shape)), shape), tf.float32
                ),
            )
        )
    model.add(
        tf.keras.layers.Dense(
            1,
            kernel_initializer=lambda shape, dtype=None: tf.constant(
                rng.normal(0, 0.3, shape), tf.float32
            ),
        )
    )
    return model


def fun_r(t, x, u, u_t, u_x, u_xx):
    return u_t + u * u_x - viscosity * u_xx


def get_r(model, X_r):
    with tf.GradientTape(persistent=True) as tape:
        t, x = X_r[:, 0:1], X_r[:, 1:2]
        tape.watch(t)
        tape.watch(x)
        u = model(tf.stack([t[:, 0], x[:, 0]], axis=1))
        u_x = tape.gradient(u, x)
    u_t = tape.gradient(u, t)
    u_xx = tape.gradient(u_x, x)
    del tape
    return fun_r(t, x, u, u_t, u_x, u_xx)


def compute_loss(model, X_r, X_data, u_data):
    loss = tf.reduce_mean(tf.square(get_r(model, X_r)))
    for points, values in zip(X_data, u_data):
        loss += tf.reduce_mean(tf.square(values - model(points)))
    return loss


def get_grad(model, X_r, X_data, u_data):
    with tf.GradientTape(persistent=True) as tape:
        loss = compute_loss(model, X_r, X_data, u_data)
    g = tape.gradient(loss, model.trainable_variables)
    del tape
    return loss, g


model = init_model()
lr = tf.keras.optimizers.schedules.PiecewiseConstantDecay([10, 20], [1e-2, 5e-3, 1e-3])
optim = tf.keras.optimizers.Adam(learning_rate=lr)


@tf.function
def train_step():
    loss, grad_theta = get_grad(model, X_r, [X_0, X_b], [u_0, u_b])
    optim.apply_gradients(zip(grad_theta, model.trainable_variables))
    return loss


hist = [train_step().numpy() for _ in range(30)]
residual = get_r(model, X_r)
results = {
    "losses": [float(each) for each in hist[::5]],
    "residual": [float(tf.reduce_mean(residual)), float(tf.math.reduce_std(residual))],
    "u": model(tf.constant([[0.5, 0.25], [0.0, -0.5]])).numpy().ravel().tolist(),
    "gradients": [g is not None for g in get_grad(model, X_r, [X_0], [u_0])[1]],
}
