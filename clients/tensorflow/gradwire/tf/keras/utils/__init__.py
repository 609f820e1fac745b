"""Keras's small functions: on arrays, files, progress, pictures, and names of objects."""

from gradwire.tf.keras.names import clear_session
from gradwire.tf.keras.objects import (
    CustomObjectScope,
    custom_object_scope,
    deserialize_keras_object,
    get_custom_objects,
    get_registered_name,
    get_registered_object,
    register_keras_serializable,
    serialize_keras_object,
)
from gradwire.tf.keras.seeds import set_random_seed
from gradwire.tf.keras.symbolic import is_keras_tensor
from gradwire.tf.keras.utils.arrays import normalize, pad_sequences, to_categorical
from gradwire.tf.keras.utils.cache import get_file
from gradwire.tf.keras.utils.drawing import model_to_dot, plot_model
from gradwire.tf.keras.utils.progress import Progbar

__all__ = [
    "CustomObjectScope",
    "Progbar",
    "clear_session",
    "custom_object_scope",
    "deserialize_keras_object",
    "get_custom_objects",
    "get_file",
    "get_registered_name",
    "get_registered_object",
    "is_keras_tensor",
    "model_to_dot",
    "normalize",
    "pad_sequences",
    "plot_model",
    "register_keras_serializable",
    "serialize_keras_object",
    "set_random_seed",
    "to_categorical",
]
