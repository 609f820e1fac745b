"""A convolutional variational autoencoder (CVAE) with log-normal densities and a sampled ELBO."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(5)
images = (rng.uniform(size=(24, 8, 8, 1)) < 0.2).astype("float32")
images[:, 2:6, 2:6] = 1.0 - images[:, 2:6, 2:6]
train_dataset = tf.data.Dataset.from_tensor_slices(images[:16]).batch(8)
test_images = tf.constant(images[16:])


class CVAE(tf.keras.Model):
    """Convolutional variational autoencoder."""

    def __init__(self, latent_dim):
        super().__init__()
        self.latent_dim = latent_dim
        self.encoder = tf.keras.Sequential(
            [
                tf.keras.layers.InputLayer(input_shape=(8, 8, 1)),
                tf.keras.layers.Conv2D(4, kernel_size=3, strides=(2, 2), activation="relu"),
                tf.keras.layers.Flatten(),
                tf.keras.layers.Dense(latent_dim + latent_dim),
            ]
        )
        self.decoder = tf.keras.Sequential(
            [
                tf.keras.layers.InputLayer(input_shape=(latent_dim,)),
                tf.keras.layers.Dense(units=4 * 4 * 4, activation=tf.nn.relu),
                tf.keras.layers.Reshape(target_shape=(4, 4, 4)),
                tf.keras.layers.Conv2DTranspose(
                    filters=4, kernel_size=3, strides=2, padding="same", activation="relu"
                ),
                tf.keras.layers.Conv2DTranspose(1, kernel_size=3, strides=1, padding="same"),
            ]
        )

    def sample(self, eps):
        return self.decode(eps, apply_sigmoid=True)

    def encode(self, x):
        mean, logvar = tf.split(self.encoder(x), num_or_size_splits=2, axis=1)
        return mean, logvar

    def reparameterize(self, mean, logvar, eps):
        return eps * tf.exp(logvar * 0.5) + mean

    def decode(self, z, apply_sigmoid=False):
        logits = self.decoder(z)
        return tf.sigmoid(logits) if apply_sigmoid else logits


def log_normal_pdf(sample, mean, logvar, raxis=1):
    log2pi = tf.math.log(2.0 * np.pi)
    return tf.reduce_sum(
        -0.5 * ((sample - mean) ** 2.0 * tf.exp(-logvar) + logvar + log2pi), axis=raxis
    )


def compute_loss(model, x, eps):
    mean, logvar = model.encode(x)
    z = model.reparameterize(mean, logvar, eps)
    x_logit = model.decode(z)
    cross_ent = tf.nn.sigmoid_cross_entropy_with_logits(logits=x_logit, labels=x)
    logpx_z = -tf.reduce_sum(cross_ent, axis=[1, 2, 3])
    logpz = log_normal_pdf(z, 0.0, 0.0)
    logqz_x = log_normal_pdf(z, mean, logvar)
    return -tf.reduce_mean(logpx_z + logpz - logqz_x)


@tf.function
def train_step(model, x, eps, optimizer):
    with tf.GradientTape() as tape:
        loss = compute_loss(model, x, eps)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))


def normal(*shape):
    return tf.constant(rng.normal(size=shape), tf.float32)


model = CVAE(latent_dim=2)
for variable in model.trainable_variables:
    variable.assign(0.25 * normal(*variable.shape))
optimizer = tf.keras.optimizers.Adam(1e-2)
eps = normal(8, 2)
elbos = [-compute_loss(model, test_images, eps)]
for epoch in range(5):
    for train_x in train_dataset:
        train_step(model, train_x, normal(8, 2), optimizer)
    loss = tf.keras.metrics.Mean()
    loss(compute_loss(model, test_images, eps))
    elbos.append(-loss.result())

predictions = model.sample(tf.constant([[0.5, -0.5]]))
results = {
    "elbos": [float(elbo) for elbo in elbos],
    "sample": predictions[0, :, 4, 0].numpy().tolist(),
    "latent": model.encode(test_images)[0][0].numpy().tolist(),
    "variables": len(model.trainable_variables),
}
