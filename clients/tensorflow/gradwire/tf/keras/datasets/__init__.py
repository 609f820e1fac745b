"""Keras's data sets, from files in its folder: ``KERAS_HOME`` or ``~/.keras``, ``datasets``."""

from gradwire.tf.keras.datasets import (
    boston_housing,
    california_housing,
    cifar10,
    cifar100,
    fashion_mnist,
    imdb,
    mnist,
    reuters,
)

__all__ = [
    "boston_housing", "california_housing", "cifar10", "cifar100", "fashion_mnist", "imdb", "mnist",
    "reuters",
]  # fmt: skip
