"""Rare events found by a network: areas below curves, shares at thresholds, F scores, weights."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(7)
rng = np.random.default_rng(1)
features = rng.normal(size=(96, 4)).astype("float32")
scores = features @ np.array([1.0, -2.0, 0.5, 0.0]) + 0.7 * rng.normal(size=96)
labels = (scores > 2.0).astype("float32")

METRICS = [
    tf.keras.metrics.TruePositives(name="tp"),
    tf.keras.metrics.FalsePositives(name="fp"),
    tf.keras.metrics.TrueNegatives(name="tn"),
    tf.keras.metrics.FalseNegatives(name="fn"),
    tf.keras.metrics.BinaryAccuracy(name="accuracy"),
    tf.keras.metrics.Precision(name="precision"),
    tf.keras.metrics.Recall(name="recall"),
    tf.keras.metrics.AUC(name="auc"),
    tf.keras.metrics.AUC(name="prc", curve="PR"),
    tf.keras.metrics.PrecisionAtRecall(0.7, name="at_recall"),
]


def make_model():
    bias = np.log(labels.mean() / (1 - labels.mean()))
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Dense(8, activation="relu", input_shape=(4,)),
            tf.keras.layers.Dropout(0.3),
            tf.keras.layers.Dense(
                1,
                activation="sigmoid",
                bias_initializer=tf.keras.initializers.Constant(bias),
            ),
        ]
    )
    model.compile(
        optimizer=tf.keras.optimizers.Adam(0.01),
        loss=tf.keras.losses.BinaryFocalCrossentropy(apply_class_balancing=True, gamma=2.0),
        metrics=METRICS,
    )
    return model


model = make_model()
weights = {0: 0.6, 1: 3.0}
history = model.fit(
    features,
    labels,
    batch_size=16,
    epochs=4,
    class_weight=weights,
    validation_split=0.25,
    callbacks=[tf.keras.callbacks.EarlyStopping(monitor="val_prc", patience=3, mode="max")],
    verbose=0,
)
predicted = model.predict(features, verbose=0)
pair = np.stack([1 - labels, labels], axis=1)
both = np.concatenate([1 - predicted, predicted], axis=1)
f_scores = [tf.keras.metrics.F1Score(average=each) for each in (None, "macro", "weighted")]
for metric in f_scores:
    metric.update_state(pair, both)

results = {
    "history": {name: [float(each) for each in values] for name, values in history.history.items()},
    "evaluated": [float(each) for each in model.evaluate(features, labels, verbose=0)],
    "f_scores": [metric.result().numpy().tolist() for metric in f_scores],
}
