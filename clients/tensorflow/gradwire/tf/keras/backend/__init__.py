"""Keras's backend: its settings, and the functions that older programs are written in."""

from __future__ import annotations

from gradwire.tf.keras import names, seeds
from gradwire.tf.keras.backend import elements, networks, values
from gradwire.tf.keras.backend.elements import *
from gradwire.tf.keras.backend.networks import *
from gradwire.tf.keras.backend.values import *
from gradwire.tf.keras.settings import (
    epsilon,
    floatx,
    image_data_format,
    set_epsilon,
    set_floatx,
    set_image_data_format,
)
from gradwire.tf.seeds import SEEDS


def backend() -> str:
    """The name of the library below."""
    return "tensorflow"


def clear_session(free_memory: bool = True) -> None:
    """Begin anew with names that are made up, and with what seeds have drawn."""
    names.clear_session()
    seeds.forget()
    SEEDS.restart()


__all__ = [
    "backend", "clear_session", "epsilon", "floatx", "image_data_format", "set_epsilon",
    "set_floatx", "set_image_data_format",
]  # fmt: skip
__all__ += elements.__all__ + networks.__all__ + values.__all__
