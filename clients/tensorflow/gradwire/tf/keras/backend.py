"""What is left of Keras's backend."""

from __future__ import annotations

from gradwire.tf.keras.names import clear_session


def epsilon() -> float:
    """The small number that keeps divisions finite."""
    return 1e-7


def floatx() -> str:
    """The dtype of weights that are given none."""
    return "float32"


def image_data_format() -> str:
    """Where the channels of images are."""
    return "channels_last"


__all__ = ["clear_session", "epsilon", "floatx", "image_data_format"]
