"""DCGAN on small synthetic images: two tapes, two optimizers, transposed convolutions."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

rng = np.random.default_rng(1)
BATCH_SIZE, NOISE_DIM, EPOCHS = 8, 6, 3

rows, columns = np.mgrid[0:8, 0:8]
phases = rng.uniform(0, np.pi, (24, 1, 1))
train_images = np.sin(0.8 * rows + phases) * np.cos(0.6 * columns - phases)
train_images = train_images[..., np.newaxis].astype("float32")
train_dataset = tf.data.Dataset.from_tensor_slices(train_images).batch(BATCH_SIZE)


def make_generator_model():
    model = tf.keras.Sequential()
    model.add(layers.Input((NOISE_DIM,)))
    model.add(layers.Dense(2 * 2 * 8, use_bias=False))
    model.add(layers.BatchNormalization())
    model.add(layers.LeakyReLU())
    model.add(layers.Reshape((2, 2, 8)))
    model.add(layers.Conv2DTranspose(4, (3, 3), strides=(2, 2), padding="same", use_bias=False))
    model.add(layers.BatchNormalization())
    model.add(layers.LeakyReLU())
    model.add(
        layers.Conv2DTranspose(
            1, (3, 3), strides=(2, 2), padding="same", use_bias=False, activation="tanh"
        )
    )
    return model


def make_discriminator_model():
    return tf.keras.Sequential(
        [
            layers.Input((8, 8, 1)),
            layers.Conv2D(4, (3, 3), strides=(2, 2), padding="same"),
            layers.LeakyReLU(),
            layers.Conv2D(8, (3, 3), strides=(2, 2), padding="same"),
            layers.LeakyReLU(),
            layers.Flatten(),
            layers.Dense(1),
        ]
    )


generator = make_generator_model()
discriminator = make_discriminator_model()
for model in (generator, discriminator):  # the DCGAN paper's normal(0, 0.02), wider here
    for weight in model.trainable_variables:
        if len(weight.shape) > 1:
            weight.assign(rng.normal(0.0, 0.3, weight.shape))

cross_entropy = tf.keras.losses.BinaryCrossentropy(from_logits=True)


def discriminator_loss(real_output, fake_output):
    real_loss = cross_entropy(tf.ones_like(real_output), real_output)
    fake_loss = cross_entropy(tf.zeros_like(fake_output), fake_output)
    return real_loss + fake_loss


def generator_loss(fake_output):
    return cross_entropy(tf.ones_like(fake_output), fake_output)


generator_optimizer = tf.keras.optimizers.Adam(1e-2, beta_1=0.5)
discriminator_optimizer = tf.keras.optimizers.Adam(1e-2, beta_1=0.5)


@tf.function
def train_step(images, noise):
    with tf.GradientTape() as gen_tape, tf.GradientTape() as disc_tape:
        generated_images = generator(noise, training=True)
        real_output = discriminator(images, training=True)
        fake_output = discriminator(generated_images, training=True)
        gen_loss = generator_loss(fake_output)
        disc_loss = discriminator_loss(real_output, fake_output)
    gen_gradients = gen_tape.gradient(gen_loss, generator.trainable_variables)
    disc_gradients = disc_tape.gradient(disc_loss, discriminator.trainable_variables)
    generator_optimizer.apply_gradients(zip(gen_gradients, generator.trainable_variables))
    discriminator_optimizer.apply_gradients(zip(disc_gradients, discriminator.trainable_variables))
    return gen_loss, disc_loss


history = []
for epoch in range(EPOCHS):
    for image_batch in train_dataset:
        noise = tf.constant(rng.normal(size=(BATCH_SIZE, NOISE_DIM)), tf.float32)
        gen_loss, disc_loss = train_step(image_batch, noise)
        history.append([float(gen_loss), float(disc_loss)])

sample = generator(tf.ones([1, NOISE_DIM]), training=False)
results = {
    "history": history,
    "sample": sample[0, :, 0, 0].numpy().tolist(),
    "shape": sample.shape.as_list(),
    "decision": float(discriminator(sample)[0, 0]),
    "parameters": [generator.count_params(), discriminator.count_params()],
}
