"""Neural style transfer: Gram matrices of a small fixed network, total variation, clipping."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(13)


def image(kind):
    rows, columns = np.mgrid[0:12, 0:12] / 12.0
    if kind == "content":
        base = np.stack([rows, columns, rows * columns], -1)
    else:
        base = np.stack([np.sin(9 * rows), np.cos(9 * columns), np.sin(9 * (rows + columns))], -1)
        base = 0.5 + 0.5 * base
    return tf.constant(base[None], tf.float32)


def extractor(layer_names):
    inputs = tf.keras.Input(shape=(12, 12, 3))
    x = tf.keras.layers.Conv2D(6, 3, padding="same", activation="relu", name="block1")(inputs)
    y = tf.keras.layers.AveragePooling2D(pool_size=(2, 2))(x)
    y = tf.keras.layers.Conv2D(8, 3, padding="same", activation="relu", name="block2")(y)
    z = tf.keras.layers.MaxPooling2D()(y)
    z = tf.keras.layers.Conv2D(8, 3, padding="same", activation="relu", name="block3")(z)
    vgg = tf.keras.Model(inputs, z)
    vgg.set_weights([rng.normal(0, 0.3, w.shape) for w in vgg.get_weights()])
    vgg.trainable = False
    return tf.keras.Model([vgg.input], [vgg.get_layer(name).output for name in layer_names])


def gram_matrix(input_tensor):
    result = tf.linalg.einsum("bijc,bijd->bcd", input_tensor, input_tensor)
    input_shape = tf.shape(input_tensor)
    num_locations = tf.cast(input_shape[1] * input_shape[2], tf.float32)
    return result / num_locations


class StyleContentModel(tf.keras.models.Model):
    def __init__(self, style_layers, content_layers):
        super().__init__()
        self.vgg = extractor(style_layers + content_layers)
        self.style_layers, self.content_layers = style_layers, content_layers
        self.vgg.trainable = False

    def call(self, inputs):
        outputs = self.vgg(inputs * 2.0 - 1.0)
        count = len(self.style_layers)
        style = {n: gram_matrix(o) for n, o in zip(self.style_layers, outputs[:count])}
        return {"content": dict(zip(self.content_layers, outputs[count:])), "style": style}


network = StyleContentModel(["block1", "block2"], ["block3"])
style_targets = network(image("style"))["style"]
content_targets = network(image("content"))["content"]
photo = tf.Variable(image("content"))
opt = tf.keras.optimizers.Adam(learning_rate=0.02, beta_1=0.99, epsilon=1e-1)


def style_content_loss(outputs):
    style, content = outputs["style"], outputs["content"]
    style_loss = tf.add_n(
        [tf.reduce_mean((style[name] - style_targets[name]) ** 2) for name in style.keys()]
    )
    content_loss = tf.add_n(
        [tf.reduce_mean((content[name] - content_targets[name]) ** 2) for name in content.keys()]
    )
    return 1.0 * style_loss / len(style) + 0.1 * content_loss / len(content)


@tf.function()
def train_step(photo):
    with tf.GradientTape() as tape:
        loss = style_content_loss(network(photo))
        loss += 1e-3 * tf.image.total_variation(photo)[0]
    grad = tape.gradient(loss, photo)
    opt.apply_gradients([(grad, photo)])
    photo.assign(tf.clip_by_value(photo, clip_value_min=0.0, clip_value_max=1.0))
    return loss


losses = [float(train_step(photo)) for _ in range(12)]
edges = tf.image.sobel_edges(photo)
results = {
    "losses": losses,
    "photo": photo[0, ::5, 6].numpy().tolist(),
    "change": float(tf.norm(photo - image("content"))),
    "edges": tf.reduce_mean(tf.abs(edges), axis=[0, 1, 2]).numpy().tolist(),
    "trainable": len(network.trainable_variables),
}
