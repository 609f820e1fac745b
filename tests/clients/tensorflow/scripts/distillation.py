"""Knowledge distillation: a student learns softened predictions of a teacher, as a keras.Model."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

rng = np.random.default_rng(46)
labels = rng.integers(0, 4, 48)
x = (rng.normal(size=(4, 8))[labels] + 0.8 * rng.normal(size=(48, 8))).astype("float32")


def network(width, name):
    model = keras.Sequential(
        [
            keras.Input(shape=(8,)),
            keras.layers.Dense(width),
            keras.layers.LeakyReLU(negative_slope=0.2),
            keras.layers.Dense(4),
        ],
        name=name,
    )
    model.set_weights([rng.normal(0, 0.4, w.shape) for w in model.get_weights()])
    return model


class Distiller(keras.Model):
    def __init__(self, student, teacher):
        super().__init__()
        self.teacher = teacher
        self.student = student

    def compile(
        self, optimizer, metrics, student_loss_fn, distillation_loss_fn, alpha, temperature
    ):
        super().compile(optimizer=optimizer, metrics=metrics)
        self.student_loss_fn = student_loss_fn
        self.distillation_loss_fn = distillation_loss_fn
        self.alpha, self.temperature = alpha, temperature

    def compute_loss(
        self, x=None, y=None, y_pred=None, sample_weight=None, training=True, allow_empty=False
    ):
        teacher_pred = self.teacher(x, training=False)
        student_loss = self.student_loss_fn(y, y_pred)
        distillation_loss = self.distillation_loss_fn(
            tf.nn.softmax(teacher_pred / self.temperature, axis=1),
            tf.nn.softmax(y_pred / self.temperature, axis=1),
        ) * (self.temperature**2)
        return self.alpha * student_loss + (1 - self.alpha) * distillation_loss

    def call(self, x):
        return self.student(x)


teacher = network(16, "teacher")
teacher.compile(
    optimizer=keras.optimizers.Adam(0.03),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=[keras.metrics.SparseCategoricalAccuracy()],
)
taught = teacher.fit(x, labels, epochs=5, batch_size=12, shuffle=False, verbose=0)
frozen = [w.copy() for w in teacher.get_weights()]

student = network(3, "student")
distiller = Distiller(student=student, teacher=teacher)
teacher.trainable = False
distiller.compile(
    optimizer=keras.optimizers.Adam(0.03),
    metrics=[keras.metrics.SparseCategoricalAccuracy()],
    student_loss_fn=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    distillation_loss_fn=keras.losses.KLDivergence(),
    alpha=0.1,
    temperature=4.0,
)
history = distiller.fit(x, labels, epochs=4, batch_size=12, shuffle=False, verbose=0)

optimizer, losses = keras.optimizers.SGD(0.1), []
for step in range(4):  # the same in a loop of one's own, and features matched by cosine
    with tf.GradientTape() as tape:
        soft = tf.nn.log_softmax(student(x) / 2.0)
        target = tf.stop_gradient(tf.nn.softmax(teacher(x) / 2.0))
        loss = -tf.reduce_mean(tf.reduce_sum(target * soft, axis=1))
        loss += 0.1 * (1 + tf.reduce_mean(keras.losses.cosine_similarity(teacher(x), student(x))))
    gradients = tape.gradient(loss, student.trainable_variables)
    optimizer.apply_gradients(zip(gradients, student.trainable_variables))
    losses.append(float(loss))

same = all(np.array_equal(a, b) for a, b in zip(frozen, teacher.get_weights()))
results = {
    "teacher": [float(v) for v in taught.history["loss"]],
    "student": {k: [float(v) for v in vs] for k, vs in sorted(history.history.items())},
    "losses": losses,
    "frozen": same,
    "trainable": [len(teacher.trainable_variables), len(distiller.trainable_variables)],
    "logits": student(x[:2]).numpy().tolist(),
}
