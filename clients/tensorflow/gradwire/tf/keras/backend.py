"""What is left of Keras's backend."""

from __future__ import annotations

from gradwire.tf.keras import names, seeds
from gradwire.tf.seeds import SEEDS


def clear_session() -> None:
    """Begin anew with names that are made up, and with what seeds have drawn."""
    names.clear_session()
    seeds.forget()
    SEEDS.restart()


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
