"""CycleGAN on tiny images with instance norm, in the tutorial's manner."""

import numpy as np
import tensorflow as tf

AUTOTUNE = tf.data.AUTOTUNE
tf.random.set_seed(3)
tf.keras.utils.set_random_seed(3)
BUFFER_SIZE, BATCH_SIZE, IMG = 8, 1, 8
LAMBDA = 10


def random_crop(image):
    return tf.image.random_crop(image, size=[IMG, IMG, 3])


def normalize(image):
    image = tf.cast(image, tf.float32)
    image = (image / 127.5) - 1
    return image


def random_jitter(image):
    image = tf.image.resize(image, [10, 10], method=tf.image.ResizeMethod.NEAREST_NEIGHBOR)
    image = tf.image.central_crop(image, 0.8)
    image = tf.image.flip_left_right(image)
    return image


def preprocess(image, label):
    return normalize(random_jitter(image))


r = np.random.RandomState(0)
horses = tf.data.Dataset.from_tensor_slices(
    (r.randint(0, 255, (3, IMG, IMG, 3)).astype(np.uint8), [0, 1, 2])
)
zebras = tf.data.Dataset.from_tensor_slices(
    (r.randint(0, 255, (3, IMG, IMG, 3)).astype(np.uint8), [0, 1, 2])
)
train_horses = horses.cache().map(preprocess, num_parallel_calls=AUTOTUNE).batch(BATCH_SIZE)
train_zebras = zebras.cache().map(preprocess, num_parallel_calls=AUTOTUNE).batch(BATCH_SIZE)
sample_horse = next(iter(train_horses))


class InstanceNormalization(tf.keras.layers.Layer):
    def __init__(self, epsilon=1e-5):
        super(InstanceNormalization, self).__init__()
        self.epsilon = epsilon

    def build(self, input_shape):
        self.scale = self.add_weight(
            name="scale",
            shape=input_shape[-1:],
            initializer=tf.random_normal_initializer(1.0, 0.02),
            trainable=True,
        )
        self.offset = self.add_weight(
            name="offset", shape=input_shape[-1:], initializer="zeros", trainable=True
        )

    def call(self, x):
        mean, variance = tf.nn.moments(x, axes=[1, 2], keepdims=True)
        inv = tf.math.rsqrt(variance + self.epsilon)
        normalized = (x - mean) * inv
        return self.scale * normalized + self.offset


def downsample(filters, size, norm_type="instancenorm", apply_norm=True):
    initializer = tf.random_normal_initializer(0.0, 0.02)
    result = tf.keras.Sequential()
    result.add(
        tf.keras.layers.Conv2D(
            filters, size, strides=2, padding="same", kernel_initializer=initializer, use_bias=False
        )
    )
    if apply_norm:
        if norm_type.lower() == "batchnorm":
            result.add(tf.keras.layers.BatchNormalization())
        elif norm_type.lower() == "instancenorm":
            result.add(InstanceNormalization())
    result.add(tf.keras.layers.LeakyReLU())
    return result


def upsample(filters, size, apply_dropout=False):
    initializer = tf.random_normal_initializer(0.0, 0.02)
    result = tf.keras.Sequential()
    result.add(
        tf.keras.layers.Conv2DTranspose(
            filters, size, strides=2, padding="same", kernel_initializer=initializer, use_bias=False
        )
    )
    result.add(InstanceNormalization())
    if apply_dropout:
        result.add(tf.keras.layers.Dropout(0.5))
    result.add(tf.keras.layers.ReLU())
    return result


def unet_generator():
    down_stack = [downsample(4, 3, apply_norm=False), downsample(6, 3)]
    up_stack = [upsample(4, 3)]
    last = tf.keras.layers.Conv2DTranspose(
        3,
        3,
        strides=2,
        padding="same",
        kernel_initializer=tf.random_normal_initializer(0.0, 0.02),
        activation="tanh",
    )
    concat = tf.keras.layers.Concatenate()
    inputs = tf.keras.layers.Input(shape=[None, None, 3])
    x = inputs
    skips = []
    for down in down_stack:
        x = down(x)
        skips.append(x)
    skips = reversed(skips[:-1])
    for up, skip in zip(up_stack, skips):
        x = up(x)
        x = concat([x, skip])
    x = last(x)
    return tf.keras.Model(inputs=inputs, outputs=x)


def discriminator():
    inp = tf.keras.layers.Input(shape=[None, None, 3], name="input_image")
    x = inp
    down1 = downsample(4, 3, "batchnorm", False)(x)
    zero_pad1 = tf.keras.layers.ZeroPadding2D()(down1)
    conv = tf.keras.layers.Conv2D(6, 3, strides=1, use_bias=False)(zero_pad1)
    norm1 = InstanceNormalization()(conv)
    leaky_relu = tf.keras.layers.LeakyReLU()(norm1)
    last = tf.keras.layers.Conv2D(1, 3, strides=1, padding="same")(leaky_relu)
    return tf.keras.Model(inputs=inp, outputs=last)


generator_g, generator_f = unet_generator(), unet_generator()
discriminator_x, discriminator_y = discriminator(), discriminator()
loss_obj = tf.keras.losses.BinaryCrossentropy(from_logits=True)


def discriminator_loss(real, generated):
    real_loss = loss_obj(tf.ones_like(real), real)
    generated_loss = loss_obj(tf.zeros_like(generated), generated)
    return (real_loss + generated_loss) * 0.5


def generator_loss(generated):
    return loss_obj(tf.ones_like(generated), generated)


def calc_cycle_loss(real_image, cycled_image):
    return LAMBDA * tf.reduce_mean(tf.abs(real_image - cycled_image))


def identity_loss(real_image, same_image):
    return LAMBDA * 0.5 * tf.reduce_mean(tf.abs(real_image - same_image))


generator_g_optimizer = tf.keras.optimizers.Adam(2e-4, beta_1=0.5)
generator_f_optimizer = tf.keras.optimizers.Adam(2e-4, beta_1=0.5)
discriminator_x_optimizer = tf.keras.optimizers.Adam(2e-4, beta_1=0.5)
discriminator_y_optimizer = tf.keras.optimizers.Adam(2e-4, beta_1=0.5)
ckpt = tf.train.Checkpoint(generator_g=generator_g, generator_g_optimizer=generator_g_optimizer)


@tf.function
def train_step(real_x, real_y):
    with tf.GradientTape(persistent=True) as tape:
        fake_y = generator_g(real_x, training=True)
        cycled_x = generator_f(fake_y, training=True)
        fake_x = generator_f(real_y, training=True)
        cycled_y = generator_g(fake_x, training=True)
        same_x = generator_f(real_x, training=True)
        same_y = generator_g(real_y, training=True)
        disc_real_x = discriminator_x(real_x, training=True)
        disc_real_y = discriminator_y(real_y, training=True)
        disc_fake_x = discriminator_x(fake_x, training=True)
        disc_fake_y = discriminator_y(fake_y, training=True)
        gen_g_loss = generator_loss(disc_fake_y)
        gen_f_loss = generator_loss(disc_fake_x)
        total_cycle_loss = calc_cycle_loss(real_x, cycled_x) + calc_cycle_loss(real_y, cycled_y)
        total_gen_g_loss = gen_g_loss + total_cycle_loss + identity_loss(real_y, same_y)
        total_gen_f_loss = gen_f_loss + total_cycle_loss + identity_loss(real_x, same_x)
        disc_x_loss = discriminator_loss(disc_real_x, disc_fake_x)
        disc_y_loss = discriminator_loss(disc_real_y, disc_fake_y)
    g1 = tape.gradient(total_gen_g_loss, generator_g.trainable_variables)
    g2 = tape.gradient(total_gen_f_loss, generator_f.trainable_variables)
    d1 = tape.gradient(disc_x_loss, discriminator_x.trainable_variables)
    d2 = tape.gradient(disc_y_loss, discriminator_y.trainable_variables)
    generator_g_optimizer.apply_gradients(zip(g1, generator_g.trainable_variables))
    generator_f_optimizer.apply_gradients(zip(g2, generator_f.trainable_variables))
    discriminator_x_optimizer.apply_gradients(zip(d1, discriminator_x.trainable_variables))
    discriminator_y_optimizer.apply_gradients(zip(d2, discriminator_y.trainable_variables))
    return total_gen_g_loss, total_gen_f_loss, disc_x_loss, disc_y_loss


losses = []
for epoch in range(2):
    n = 0
    for image_x, image_y in tf.data.Dataset.zip((train_horses, train_zebras)):
        out = train_step(image_x, image_y)
        if n % 10 == 0:
            print(".", end="")
        n += 1
        losses.append([float(v) for v in out])
prediction = generator_g(sample_horse)
results = {
    "losses": losses,
    "pred": float(tf.reduce_mean(tf.abs(prediction))),
    "n": len(generator_g.trainable_variables),
}
