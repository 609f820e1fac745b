"""A neural radiance field in miniature: encoded positions, volume rendering with cumprod."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(66)
L_EMBED, SAMPLES, SIZE = 2, 8, 5


def posenc(x):
    rets = [x]
    for i in range(L_EMBED):
        for fn in [tf.sin, tf.cos]:
            rets.append(fn(2.0**i * x))
    return tf.concat(rets, -1)


def init_model(width=12):
    relu = tf.keras.layers.ReLU()
    inputs = tf.keras.Input(shape=(3 + 3 * 2 * L_EMBED,))
    outputs = inputs
    for i in range(3):
        outputs = tf.keras.layers.Dense(width, activation=relu if i < 2 else "relu")(outputs)
        if i == 1:
            outputs = tf.keras.layers.Concatenate()([outputs, inputs])
    outputs = tf.keras.layers.Dense(4, activation=None)(outputs)
    return tf.keras.Model(inputs=inputs, outputs=outputs)


def get_rays(H, W, focal, c2w):
    i, j = tf.meshgrid(tf.range(W, dtype=tf.float32), tf.range(H, dtype=tf.float32), indexing="xy")
    dirs = tf.stack([(i - W * 0.5) / focal, -(j - H * 0.5) / focal, -tf.ones_like(i)], -1)
    rays_d = tf.reduce_sum(dirs[..., np.newaxis, :] * c2w[:3, :3], -1)
    rays_o = tf.broadcast_to(c2w[:3, -1], tf.shape(rays_d))
    return rays_o, rays_d


def render_rays(network_fn, rays_o, rays_d, near=1.0, far=3.0):
    z_vals = tf.linspace(near, far, SAMPLES)
    pts = rays_o[..., None, :] + rays_d[..., None, :] * z_vals[..., :, None]
    raw = network_fn(posenc(tf.reshape(pts, [-1, 3])))
    raw = tf.reshape(raw, list(pts.shape[:-1]) + [4])
    sigma_a = tf.nn.relu(raw[..., 3])
    rgb = tf.math.sigmoid(raw[..., :3])
    dists = tf.concat(
        [z_vals[..., 1:] - z_vals[..., :-1], tf.broadcast_to([1e10], z_vals[..., :1].shape)], -1
    )
    alpha = 1.0 - tf.exp(-sigma_a * dists)
    weights = alpha * tf.math.cumprod(1.0 - alpha + 1e-10, -1, exclusive=True)
    rgb_map = tf.reduce_sum(weights[..., None] * rgb, -2)
    depth_map = tf.reduce_sum(weights * z_vals, -1)
    acc_map = tf.reduce_sum(weights, -1)
    return rgb_map, depth_map, acc_map


model = init_model()
model.set_weights([rng.normal(0, 0.35, w.shape) for w in model.get_weights()])
pose = np.eye(4, dtype=np.float32)
pose[2, 3] = 2.0
rays_o, rays_d = get_rays(SIZE, SIZE, 4.0, tf.constant(pose))
target = np.stack(np.mgrid[0:SIZE, 0:SIZE].tolist() + [np.ones((SIZE, SIZE))], -1) / SIZE
target = tf.constant(target, tf.float32)
optimizer = tf.keras.optimizers.Adam(5e-3)
psnrs = []
for i in range(10):
    with tf.GradientTape() as tape:
        rgb, depth, acc = render_rays(model, rays_o, rays_d)
        loss = tf.reduce_mean(tf.square(rgb - target))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    psnrs.append(float(-10.0 * tf.math.log(loss) / tf.math.log(10.0)))

origin = tf.constant([0.1, 0.0, 2.0])
with tf.GradientTape() as tape:
    tape.watch(origin)
    seen, depth_at, _ = render_rays(model, origin[None], rays_d[2, 2:3])
by_camera = tape.jacobian(seen, origin)

results = {
    "psnrs": psnrs,
    "depth": depth[2].numpy().tolist(),
    "opacity": acc[0].numpy().tolist(),
    "rgb": rgb[4, 1].numpy().tolist(),
    "by_camera": by_camera[0].numpy().tolist(),
}
