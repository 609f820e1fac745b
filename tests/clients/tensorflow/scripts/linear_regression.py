"""Linear regression with a tf.Module, a dataset in batches and a hand-written training loop."""

import numpy as np
import tensorflow as tf

tf.random.set_seed(42)
rng = np.random.default_rng(42)

TRUE_W = np.array([[2.0], [-3.4], [0.7]], np.float32)
TRUE_B = 4.2
EXAMPLES = 200

features = rng.normal(size=(EXAMPLES, 3)).astype(np.float32)
noise = 0.1 * rng.normal(size=(EXAMPLES, 1)).astype(np.float32)
targets = features @ TRUE_W + TRUE_B + noise


class LinearModel(tf.Module):
    def __init__(self, units, name=None):
        super().__init__(name=name)
        self.w = tf.Variable(tf.random.normal([3, units], stddev=0.01), name="w")
        self.b = tf.Variable(tf.zeros([units]), name="b")

    @tf.Module.with_name_scope
    def __call__(self, x):
        return tf.matmul(x, self.w) + self.b


def squared_loss(y_hat, y):
    return (y_hat - tf.reshape(y, y_hat.shape)) ** 2 / 2


def sgd(params, grads, lr):
    for param, grad in zip(params, grads):
        param.assign_sub(lr * grad)


dataset = tf.data.Dataset.from_tensor_slices((features, targets)).batch(20)
model = LinearModel(1)
epoch_losses = []
for epoch in range(4):
    for x, y in dataset:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(squared_loss(model(x), y))
        grads = tape.gradient(loss, model.trainable_variables)
        sgd(model.trainable_variables, grads, lr=0.1)
    epoch_losses.append(float(tf.reduce_mean(squared_loss(model(features), targets))))

predictions = model(tf.constant(features[:4]))
residual = tf.squeeze(targets[:4] - predictions)
r_squared = 1 - tf.reduce_sum((targets - model(features)) ** 2) / tf.reduce_sum(
    (targets - tf.reduce_mean(targets)) ** 2
)

results = {
    "losses": epoch_losses,
    "w": model.w.numpy().ravel().tolist(),
    "b": float(model.b[0]),
    "residual": residual.numpy().tolist(),
    "r_squared": float(r_squared),
    "names": [v.name for v in model.trainable_variables],
}
