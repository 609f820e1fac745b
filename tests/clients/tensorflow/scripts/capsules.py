"""Capsule network with dynamic routing."""

import numpy as np
import tensorflow as tf
import tensorflow.keras.backend as K
from tensorflow.keras import initializers, layers

tf.keras.utils.set_random_seed(42)


def squash(vectors, axis=-1):
    s_squared_norm = tf.reduce_sum(tf.square(vectors), axis, keepdims=True)
    scale = s_squared_norm / (1 + s_squared_norm) / tf.sqrt(s_squared_norm + K.epsilon())
    return scale * vectors


class Length(layers.Layer):
    def call(self, inputs, **kwargs):
        return tf.sqrt(tf.reduce_sum(tf.square(inputs), -1) + K.epsilon())

    def compute_output_shape(self, input_shape):
        return input_shape[:-1]

    def get_config(self):
        return super(Length, self).get_config()


class CapsuleLayer(layers.Layer):
    def __init__(
        self, num_capsule, dim_capsule, routings=3, kernel_initializer="glorot_uniform", **kwargs
    ):
        super(CapsuleLayer, self).__init__(**kwargs)
        self.num_capsule, self.dim_capsule, self.routings = num_capsule, dim_capsule, routings
        self.kernel_initializer = initializers.get(kernel_initializer)

    def build(self, input_shape):
        assert len(input_shape) >= 3, (
            "The input Tensor should have shape=[None, input_num_capsule, input_dim_capsule]"
        )
        self.input_num_capsule, self.input_dim_capsule = input_shape[1], input_shape[2]
        self.W = self.add_weight(
            shape=[
                self.num_capsule,
                self.input_num_capsule,
                self.dim_capsule,
                self.input_dim_capsule,
            ],
            initializer=self.kernel_initializer,
            name="W",
        )
        self.built = True

    def call(self, inputs, training=None):
        inputs_expand = tf.expand_dims(inputs, 1)
        inputs_tiled = tf.tile(inputs_expand, [1, self.num_capsule, 1, 1])
        inputs_tiled = tf.expand_dims(inputs_tiled, 4)
        inputs_hat = tf.map_fn(lambda x: tf.matmul(self.W, x), elems=inputs_tiled)
        inputs_hat = tf.squeeze(inputs_hat, -1)
        b = tf.zeros(shape=[tf.shape(inputs_hat)[0], self.num_capsule, 1, self.input_num_capsule])
        assert self.routings > 0, "The routings should be > 0."
        for i in range(self.routings):
            c = tf.nn.softmax(b, axis=1)
            outputs = squash(tf.matmul(c, inputs_hat))
            if i < self.routings - 1:
                b += tf.matmul(outputs, inputs_hat, transpose_b=True)
        return tf.squeeze(outputs, axis=2)

    def compute_output_shape(self, input_shape):
        return tuple([None, self.num_capsule, self.dim_capsule])


def PrimaryCap(inputs, dim_capsule, n_channels, kernel_size, strides, padding):
    output = layers.Conv2D(
        filters=dim_capsule * n_channels,
        kernel_size=kernel_size,
        strides=strides,
        padding=padding,
        name="primarycap_conv2d",
    )(inputs)
    outputs = layers.Reshape(target_shape=[-1, dim_capsule], name="primarycap_reshape")(output)
    return layers.Lambda(squash, name="primarycap_squash")(outputs)


def margin_loss(y_true, y_pred):
    L = y_true * tf.square(tf.maximum(0.0, 0.9 - y_pred)) + 0.5 * (1 - y_true) * tf.square(
        tf.maximum(0.0, y_pred - 0.1)
    )
    return tf.reduce_mean(tf.reduce_sum(L, 1))


x_in = layers.Input(shape=(8, 8, 1))
conv1 = layers.Conv2D(
    filters=4, kernel_size=3, strides=1, padding="valid", activation="relu", name="conv1"
)(x_in)
primarycaps = PrimaryCap(
    conv1, dim_capsule=4, n_channels=2, kernel_size=3, strides=2, padding="valid"
)
digitcaps = CapsuleLayer(num_capsule=3, dim_capsule=5, routings=3, name="digitcaps")(primarycaps)
out_caps = Length(name="capsnet")(digitcaps)
model = tf.keras.models.Model(x_in, out_caps)
model.summary(print_fn=lambda s: None)
rs = np.random.RandomState(0)
x = rs.rand(12, 8, 8, 1).astype("float32")
y = tf.keras.utils.to_categorical(rs.randint(0, 3, 12), 3)
model.compile(
    optimizer=tf.keras.optimizers.Adam(learning_rate=0.01),
    loss=margin_loss,
    metrics={"capsnet": "accuracy"},
)
lr_decay = tf.keras.callbacks.LearningRateScheduler(schedule=lambda epoch: 0.01 * (0.9**epoch))
h = model.fit(x, y, batch_size=6, epochs=3, callbacks=[lr_decay], verbose=0)
results = {k: [float(i) for i in v] for k, v in h.history.items()}
results["pred"] = model.predict(x[:2], verbose=0).tolist()
results["params"] = model.count_params()
