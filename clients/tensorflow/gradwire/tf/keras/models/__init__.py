"""Models: layers in a row, graphs of symbolic inputs, and subclasses; their files and copies."""

from gradwire.tf.keras.models.base import *
from gradwire.tf.keras.models.cloning import *
from gradwire.tf.keras.models.files import *
from gradwire.tf.keras.models.sequential import *
from gradwire.tf.keras.names import listed

__all__ = listed(__name__)
