"""Pix2pix: a U-Net generator with skips, a patch discriminator, adversarial and L1 losses."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(63)
LAMBDA = 10
inputs = rng.uniform(-1, 1, (6, 8, 8, 1)).astype("float32")
targets = np.sign(inputs) * np.sqrt(np.abs(inputs))


def downsample(filters, size, apply_batchnorm=True):
    result = tf.keras.Sequential()
    result.add(tf.keras.layers.Conv2D(filters, size, strides=2, padding="same", use_bias=False))
    if apply_batchnorm:
        result.add(tf.keras.layers.BatchNormalization())
    result.add(tf.keras.layers.LeakyReLU())
    return result


def upsample(filters, size):
    result = tf.keras.Sequential()
    result.add(
        tf.keras.layers.Conv2DTranspose(filters, size, strides=2, padding="same", use_bias=False)
    )
    result.add(tf.keras.layers.BatchNormalization())
    result.add(tf.keras.layers.ReLU())
    return result


def Generator():
    inp = tf.keras.layers.Input(shape=[8, 8, 1])
    down_stack = [downsample(4, 4, apply_batchnorm=False), downsample(6, 4)]
    up_stack = [upsample(4, 4)]
    last = tf.keras.layers.Conv2DTranspose(1, 4, strides=2, padding="same", activation="tanh")
    x, skips = inp, []
    for down in down_stack:
        x = down(x)
        skips.append(x)
    skips = reversed(skips[:-1])
    for up, skip in zip(up_stack, skips):
        x = up(x)
        x = tf.keras.layers.Concatenate()([x, skip])
    return tf.keras.Model(inputs=inp, outputs=last(x))


def Discriminator():
    inp = tf.keras.layers.Input(shape=[8, 8, 1], name="input_image")
    tar = tf.keras.layers.Input(shape=[8, 8, 1], name="target_image")
    x = tf.keras.layers.concatenate([inp, tar])
    x = downsample(4, 4, False)(x)
    x = tf.keras.layers.ZeroPadding2D()(x)
    x = tf.keras.layers.Conv2D(6, 3, strides=1, use_bias=False)(x)
    x = tf.keras.layers.BatchNormalization()(x)
    x = tf.keras.layers.LeakyReLU()(x)
    return tf.keras.Model(inputs=[inp, tar], outputs=tf.keras.layers.Conv2D(1, 3, strides=1)(x))


generator, discriminator = Generator(), Discriminator()
for model in (generator, discriminator):
    for weight in model.trainable_variables:
        if len(weight.shape) == 4:
            weight.assign(rng.normal(0, 0.2, weight.shape))
loss_object = tf.keras.losses.BinaryCrossentropy(from_logits=True)
generator_optimizer = tf.keras.optimizers.Adam(2e-3, beta_1=0.5)
discriminator_optimizer = tf.keras.optimizers.Adam(2e-3, beta_1=0.5)


@tf.function
def train_step(input_image, target):
    with tf.GradientTape() as gen_tape, tf.GradientTape() as disc_tape:
        gen_output = generator(input_image, training=True)
        disc_real_output = discriminator([input_image, target], training=True)
        disc_generated_output = discriminator([input_image, gen_output], training=True)
        gan_loss = loss_object(tf.ones_like(disc_generated_output), disc_generated_output)
        l1_loss = tf.reduce_mean(tf.abs(target - gen_output))
        gen_total_loss = gan_loss + LAMBDA * l1_loss
        real_loss = loss_object(tf.ones_like(disc_real_output), disc_real_output)
        generated_loss = loss_object(tf.zeros_like(disc_generated_output), disc_generated_output)
        disc_loss = real_loss + generated_loss
    generator_gradients = gen_tape.gradient(gen_total_loss, generator.trainable_variables)
    discriminator_gradients = disc_tape.gradient(disc_loss, discriminator.trainable_variables)
    generator_optimizer.apply_gradients(zip(generator_gradients, generator.trainable_variables))
    discriminator_optimizer.apply_gradients(
        zip(discriminator_gradients, discriminator.trainable_variables)
    )
    return gen_total_loss, gan_loss, l1_loss, disc_loss


history = []
for step in range(4):
    rows = slice(2 * (step % 3), 2 * (step % 3) + 2)
    losses = train_step(tf.constant(inputs[rows]), tf.constant(targets[rows]))
    history.append([float(loss) for loss in losses])

moving = [w for w in generator.non_trainable_variables if "mean" in w.name]
results = {
    "history": history,
    "shape": discriminator([inputs, targets]).shape.as_list(),
    "output": generator(inputs[:1], training=False)[0, 3, :, 0].numpy().tolist(),
    "moving": [tf.reduce_mean(w).numpy().tolist() for w in moving],
    "trainable": [len(m.trainable_variables) for m in (generator, discriminator)],
}
