"""Record files of models that Keras writes, and what the models give: ``keras_files``.

    python -m tests.clients.tensorflow.record_keras_files

Needs an environment of its own with ``tensorflow-cpu`` 2.21 and nothing of ours.
"""

import json
import os
from pathlib import Path
from typing import Any

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1")

import numpy as np
import tensorflow as tf

FOLDER = Path(__file__).parent / "keras_files"
L = tf.keras.layers


def graph() -> Any:
    """Layers within layers, and a layer of two inputs."""
    given = L.Input((4, 3))
    x = L.Bidirectional(L.LSTM(2, return_sequences=True))(given)
    x = L.BatchNormalization()(L.MultiHeadAttention(1, 2)(x, x))
    x = L.GRU(2)(L.Dropout(0.3)(L.TimeDistributed(L.Dense(2))(x)))
    x = tf.keras.Sequential([L.Input((2,)), L.Dense(3, "relu"), L.Dense(2)])(x)
    return tf.keras.Model(given, L.Dense(1)(L.Add()([x, L.Dense(2, name="a")(x)])))


def images() -> Any:
    """A row of layers, which is trained."""
    convolution = [L.Conv2D(2, 3, activation="relu"), L.MaxPooling2D(), L.Flatten()]
    return tf.keras.Sequential([L.Input((6, 6, 1)), *convolution, L.Dense(2, "softmax")])


def function() -> Any:
    """A lambda function as a layer."""
    return tf.keras.Sequential([L.Input((3,)), L.Dense(2), L.Lambda(lambda v: v * 2.0 + 1.0)])


def main() -> None:
    """Write the files."""
    FOLDER.mkdir(exist_ok=True)
    found = {}
    makers = {
        "graph": (graph, (2, 4, 3)),
        "images": (images, (2, 6, 6, 1)),
        "lambda": (function, (2, 3)),
    }
    for name, (make, shape) in makers.items():
        tf.keras.utils.set_random_seed(0)
        model = make()
        x = np.linspace(-1, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape)
        for weight in model.weights:
            weight.assign(weight + 0.01 * np.arange(np.prod(weight.shape)).reshape(weight.shape))
        if name == "images":
            model.compile("adam", "mse")
            model.fit(x, np.ones((2, 2)), epochs=2, verbose=0)
        kinds = (".keras", ".h5") if name == "lambda" else (".keras", ".h5", ".weights.h5")
        for kind in kinds:
            save = model.save_weights if kind == ".weights.h5" else model.save
            save(FOLDER / f"{name}{kind}")
        found[name] = {"shape": shape, "outputs": model.predict(x, verbose=0).tolist()}
        if name == "images":
            model.fit(x, np.ones((2, 2)), verbose=0)
            found[name]["after"] = model.predict(x, verbose=0).tolist()
    (FOLDER / "outputs.json").write_text(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
