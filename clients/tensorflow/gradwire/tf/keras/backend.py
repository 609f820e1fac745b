"""What is left of Keras's backend."""

from __future__ import annotations

from gradwire.tf.keras.names import clear_session
from gradwire.tf.keras.settings import (
    epsilon,
    floatx,
    image_data_format,
    set_epsilon,
    set_floatx,
    set_image_data_format,
)

__all__ = [
    "clear_session",
    "epsilon",
    "floatx",
    "image_data_format",
    "set_epsilon",
    "set_floatx",
    "set_image_data_format",
]
