"""Steps of a training compile and store nothing after the third, by the service's own counters."""

import re
from collections.abc import Callable
from typing import Any

import gradwire.tf as tf
import httpx
import numpy as np
import pytest

BATCH, CLASSES, STEPS = 32, 10, 7
RATE = 0.01

#: What is counted: executables that had to be made, programs and tensors that were stored.
COUNTERS = {
    "compiled": r'gradwire_executable_cache_total\{outcome="miss"\} (\S+)',
    "computed": r'gradwire_executable_cache_total\{outcome="\w+"\} (\S+)',
    "programs": r'gradwire_requests_total\{method="POST",route="/v1/programs".*\} (\S+)',
    "tensors": r'gradwire_requests_total\{method="PUT",route="/v1/tensors.*\} (\S+)',
}


@pytest.fixture(autouse=True)
def new_client(service, monkeypatch) -> None:
    """A default client that remembers nothing of what other tests sent."""
    monkeypatch.setenv("GRADWIRE_API_KEY", f"training {id(object())}")


@pytest.fixture
def counted(service_url) -> Callable[[], dict[str, float]]:
    """What the service has counted so far."""

    def count() -> dict[str, float]:
        text = httpx.get(f"{service_url}/metrics").text
        return {
            name: sum(map(float, re.findall(pattern, text))) for name, pattern in COUNTERS.items()
        }

    return count


def random(seed: int, *shape: int) -> Any:
    """Normally distributed numbers, divided by the root of the number of inputs of each unit."""
    values = np.random.default_rng(seed).standard_normal(shape) / np.sqrt(np.prod(shape[:-1]))
    return tf.Variable(values.astype(np.float32))


class Perceptron:
    """784-128-64-10; the last layer starts at zero."""

    def __init__(self) -> None:
        self.inner = [random(1, 784, 128), random(2, 128, 64)]
        self.offsets = [tf.Variable(tf.zeros(128)), tf.Variable(tf.zeros(64))]
        self.last = [tf.Variable(tf.zeros((64, CLASSES))), tf.Variable(tf.zeros(CLASSES))]
        self.variables = [*self.inner, *self.offsets, *self.last]

    def __call__(self, images: Any) -> Any:
        x = tf.reshape(images, (BATCH, 784))
        for weights, offset in zip(self.inner, self.offsets, strict=True):
            x = tf.nn.relu(x @ weights + offset)
        return x @ self.last[0] + self.last[1]


class Convolutional:
    """Two convolutions of 16 and 32 channels with pooling; the last layer starts at zero."""

    def __init__(self) -> None:
        self.kernels = [random(1, 3, 3, 1, 16), random(2, 3, 3, 16, 32)]
        self.offsets = [tf.Variable(tf.zeros(16)), tf.Variable(tf.zeros(32))]
        self.last = [tf.Variable(tf.zeros((7 * 7 * 32, CLASSES))), tf.Variable(tf.zeros(CLASSES))]
        self.variables = [*self.kernels, *self.offsets, *self.last]

    def __call__(self, images: Any) -> Any:
        x = images
        for kernel, offset in zip(self.kernels, self.offsets, strict=True):
            x = tf.nn.relu(tf.nn.conv2d(x, kernel, 1, "SAME") + offset)
            x = tf.nn.max_pool2d(x, 2, 2, "VALID")
        return tf.reshape(x, (BATCH, 7 * 7 * 32)) @ self.last[0] + self.last[1]


def first_change(optimizer: str, gradient: Any) -> Any:
    """The change of a variable in the first step of an optimizer."""
    if optimizer == "SGD":
        return -RATE * gradient
    # The moments are (1 - beta_1) g and (1 - beta_2) g**2, epsilon is Kingma and Ba's epsilon-hat.
    return -RATE * gradient / (np.abs(gradient) + 1e-7 / np.sqrt(1.0 - 0.999))


@pytest.mark.parametrize(
    ("kind", "optimizer"), [(Perceptron, "Adam"), (Convolutional, "SGD")], ids=["dense", "image"]
)
def test_nothing_is_compiled_or_stored_after_the_third_step(kind, optimizer, counted):
    model, update = kind(), getattr(tf.keras.optimizers, optimizer)(RATE)
    rng = np.random.default_rng(3)
    bias = model.variables[-1]
    counts, biases, gradients_of_bias = [], [], []
    losses: list[float] = []
    for _ in range(STEPS):
        images = np.zeros((BATCH, 28, 28, 1), np.float32)  # dark at the edge, as handwriting is
        images[:, 4:24, 4:24] = rng.random((BATCH, 20, 20, 1))
        labels = rng.integers(0, CLASSES, BATCH).astype(np.int32)
        with tf.GradientTape() as tape:
            scores = model(tf.constant(images))
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, scores))
        gradients = tape.gradient(loss, model.variables)
        if not losses:
            frequencies = np.bincount(labels, minlength=CLASSES) / BATCH
        losses.append(float(loss))
        biases.append(bias.numpy())
        gradients_of_bias.append(gradients[-1].numpy())
        update.apply_gradients(zip(gradients, model.variables, strict=True))
        counts.append(counted())
    # With equal scores each class has the probability 1/10.
    assert losses[0] == pytest.approx(np.log(CLASSES), rel=1e-6)
    assert np.allclose(gradients_of_bias[0], 1 / CLASSES - frequencies, atol=1e-6)
    change = first_change(optimizer, 1 / CLASSES - frequencies)
    assert np.allclose(biases[1], change, rtol=1e-5)
    for name in ("compiled", "programs", "tensors"):
        assert {count[name] for count in counts[2:]} == {counts[2][name]}, name
    computed = [count["computed"] for count in counts]
    assert np.diff(computed).tolist() == [1] * (STEPS - 1)  # each step is one request
