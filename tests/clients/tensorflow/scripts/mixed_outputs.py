"""A functional model with two inputs and two outputs, weights of losses and a shared layer."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

rng = np.random.default_rng(29)
title = rng.integers(0, 7, (24, 4))
numbers = rng.normal(size=(24, 3)).astype("float32")
priority = ((title == 3).sum(1, keepdims=True) + 0.5 * numbers[:, :1]).astype("float32")
department = (title[:, :1] + (numbers[:, :1] > 0)) % 3

title_input = keras.Input(shape=(4,), name="title", dtype="int32")
number_input = keras.Input(shape=(3,), name="numbers")
embedded = layers.Embedding(7, 5, name="embedding")(title_input)
pooled = layers.GlobalAveragePooling1D()(embedded)
shared = layers.Dense(5, activation="elu", name="shared")
x = layers.concatenate([shared(pooled), shared(layers.Dense(5)(number_input))])
x = layers.Dropout(0.0)(x)
priority_pred = layers.Dense(1, name="priority")(x)
department_pred = layers.Dense(3, activation="softmax", name="department")(x)
model = keras.Model(
    inputs={"title": title_input, "numbers": number_input},
    outputs={"priority": priority_pred, "department": department_pred},
)
model.set_weights([rng.normal(0, 0.5, w.shape) for w in model.get_weights()])
model.compile(
    optimizer=keras.optimizers.RMSprop(0.02),
    loss={
        "priority": keras.losses.MeanSquaredError(),
        "department": keras.losses.SparseCategoricalCrossentropy(),
    },
    loss_weights={"priority": 1.0, "department": 0.2},
    metrics={"department": ["accuracy"]},
)
inputs = {"title": title, "numbers": numbers}
targets = {"priority": priority, "department": department}
history = model.fit(inputs, targets, epochs=3, batch_size=8, shuffle=False, verbose=0)
predicted = model.predict(inputs, verbose=0)

# the same model in a loop of one's own, with losses weighted by uncertainty
log_variances = [tf.Variable(0.0), tf.Variable(0.0)]
optimizer = keras.optimizers.SGD(0.05)
losses = []
for step in range(4):
    with tf.GradientTape() as tape:
        outputs = model(inputs, training=True)
        mse = tf.reduce_mean((outputs["priority"] - priority) ** 2)
        ce = tf.reduce_mean(
            keras.losses.sparse_categorical_crossentropy(department, outputs["department"])
        )
        total = sum(tf.exp(-s) * part + s for s, part in zip(log_variances, [mse, ce]))
    variables = model.trainable_variables + log_variances
    gradients = tape.gradient(total, variables)
    optimizer.apply_gradients(zip(gradients, variables))
    losses.append([float(mse), float(ce), float(total)])

results = {
    "history": {k: [float(v) for v in vs] for k, vs in sorted(history.history.items())},
    "priority": predicted["priority"][:4, 0].tolist(),
    "department": predicted["department"][1].tolist(),
    "losses": losses,
    "log_variances": [float(each) for each in log_variances],
    "outputs": sorted(predicted),
    "parameters": model.count_params(),
}
