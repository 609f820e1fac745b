"""Steps of a training by TensorFlow's names: ``python -m peers.training MODULE MODEL HOW``.

``MODULE`` is ``tensorflow`` or ``gradwire.tf``, ``HOW`` is ``eager`` or ``function``. It answers
each line of standard input, a number of steps, with a line of JSON: the CPU time of a step in
milliseconds, and the bytes that it sent and received.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from time import process_time
from typing import Any

import numpy as np

BATCH, CLASSES = 32, 10
BATCH_BYTES = BATCH * 28 * 28 * 4 + BATCH * 4


def layers(keras: Any, model: str) -> list[Any]:
    """The layers of a classifier of images of 28 by 28."""
    of = keras.layers
    if model == "dense":
        return [of.Flatten(), of.Dense(128, "relu"), of.Dense(64, "relu"), of.Dense(CLASSES)]
    if model == "convolutional":
        found: list[Any] = []
        for channels in (16, 32):
            found += [of.Conv2D(channels, 3, activation="relu", padding="same"), of.MaxPooling2D()]
        return [*found, of.Flatten(), of.Dense(CLASSES)]
    # TensorFlow's own quickstart: most weights are between the convolution and the hidden layer.
    return [
        of.Conv2D(32, 3, activation="relu"),
        of.Flatten(),
        of.Dense(128, "relu"),
        of.Dense(CLASSES),
    ]


def stepping(tf: Any, model: str, how: str) -> Callable[[Any, Any], Any]:
    """A step of Adam on a batch, which returns the loss."""
    network = tf.keras.Sequential(layers(tf.keras, model))
    network.build((BATCH, 28, 28, 1))
    optimizer = tf.keras.optimizers.Adam(1e-3)

    def step(images: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            scores = network(images, training=True)
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=scores)
            )
        gradients = tape.gradient(loss, network.trainable_variables)
        optimizer.apply_gradients(zip(gradients, network.trainable_variables, strict=True))
        return loss

    return tf.function(step) if how == "function" else step


def batches() -> Iterator[tuple[Any, Any]]:
    """Endless images, and as labels in which of ten bands they are brightest."""
    rng = np.random.default_rng(1)
    while True:
        labels = rng.integers(0, CLASSES, BATCH).astype(np.int32)
        images = rng.random((BATCH, 28, 28, 1), np.float32)
        for image, label in zip(images, labels, strict=True):
            image[2 * label + 4 : 2 * label + 6] += 1
        yield images, labels


def counted(module: str) -> list[int]:
    """The bytes of requests and answers so far, in one number that grows."""
    total = [0]
    if module == "gradwire.tf":
        from gradwire.defaults import default_client

        def count(message: Any) -> None:
            total[0] += int(message.headers.get("Content-Length", 0))

        default_client()._http.event_hooks = {"request": [count], "response": [count]}
    return total


def main() -> None:
    """Answer the lines of standard input."""
    module, model, how = sys.argv[1:]
    tf = import_module(module)
    nbytes = counted(module)
    step, given = stepping(tf, model, how), batches()
    losses: list[float] = []
    for line in sys.stdin:
        steps = int(line)
        sent, began = nbytes[0], process_time()
        for images, labels in (next(given) for _ in range(steps)):
            losses.append(float(step(tf.constant(images), tf.constant(labels))))
        milliseconds = 1e3 * (process_time() - began) / steps
        answer = {"ms": milliseconds, "bytes": (nbytes[0] - sent) / steps, "loss": losses[-1]}
        print(json.dumps(answer), flush=True)
    assert np.mean(losses[-10:]) < 0.8 * losses[0], losses


if __name__ == "__main__":
    main()
