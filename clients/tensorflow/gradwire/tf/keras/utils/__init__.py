"""Keras's small functions: on arrays, files, progress, pictures, and names of objects."""

from gradwire.tf.keras import objects
from gradwire.tf.keras.names import clear_session as clear_session
from gradwire.tf.keras.names import listed
from gradwire.tf.keras.objects import *
from gradwire.tf.keras.seeds import set_random_seed as set_random_seed
from gradwire.tf.keras.symbolic import is_keras_tensor as is_keras_tensor
from gradwire.tf.keras.utils.arrays import *
from gradwire.tf.keras.utils.cache import *
from gradwire.tf.keras.utils.drawing import *
from gradwire.tf.keras.utils.progress import *
from gradwire.tf.keras.utils.sequences import *

_OWN = ["clear_session", "is_keras_tensor", "set_random_seed"]
__all__ = [*listed(__name__), *objects.__all__, *_OWN]
