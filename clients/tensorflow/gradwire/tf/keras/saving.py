"""Keras's names for configurations and files."""

from gradwire.tf.keras import objects
from gradwire.tf.keras.models import load_model, save_model
from gradwire.tf.keras.objects import *

__all__ = [*objects.__all__, "load_model", "save_model"]
