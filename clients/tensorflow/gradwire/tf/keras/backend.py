"""What is left of Keras's backend."""

from __future__ import annotations

from gradwire.tf.keras import names, seeds
from gradwire.tf.keras.settings import (
    epsilon,
    floatx,
    image_data_format,
    set_epsilon,
    set_floatx,
    set_image_data_format,
)
from gradwire.tf.seeds import SEEDS


def clear_session() -> None:
    """Begin anew with names that are made up, and with what seeds have drawn."""
    names.clear_session()
    seeds.forget()
    SEEDS.restart()


__all__ = [
    "clear_session",
    "epsilon",
    "floatx",
    "image_data_format",
    "set_epsilon",
    "set_floatx",
    "set_image_data_format",
]
