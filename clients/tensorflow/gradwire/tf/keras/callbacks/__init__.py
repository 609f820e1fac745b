"""Callbacks: what training calls at its stages."""

from gradwire.tf.keras.callbacks.base import *
from gradwire.tf.keras.callbacks.boards import *
from gradwire.tf.keras.callbacks.checkpoint import *
from gradwire.tf.keras.callbacks.epochs import *
from gradwire.tf.keras.callbacks.monitoring import *
from gradwire.tf.keras.names import listed

__all__ = listed(__name__)
