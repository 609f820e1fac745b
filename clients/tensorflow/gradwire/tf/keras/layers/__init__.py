"""Layers by Keras's names."""

from __future__ import annotations

from typing import Any

from gradwire.tf.keras.layers.activating import *
from gradwire.tf.keras.layers.adapting import *
from gradwire.tf.keras.layers.attention import *
from gradwire.tf.keras.layers.augmenting import *
from gradwire.tf.keras.layers.base import *
from gradwire.tf.keras.layers.base import Layer
from gradwire.tf.keras.layers.borders import *
from gradwire.tf.keras.layers.categories import *
from gradwire.tf.keras.layers.cells import *
from gradwire.tf.keras.layers.convlstm import *
from gradwire.tf.keras.layers.convolution import *
from gradwire.tf.keras.layers.core import *
from gradwire.tf.keras.layers.einsum import *
from gradwire.tf.keras.layers.embedding import *
from gradwire.tf.keras.layers.images import *
from gradwire.tf.keras.layers.inputs import *
from gradwire.tf.keras.layers.lookups import *
from gradwire.tf.keras.layers.merging import *
from gradwire.tf.keras.layers.multihead import *
from gradwire.tf.keras.layers.noise import *
from gradwire.tf.keras.layers.normalization import *
from gradwire.tf.keras.layers.pooling import *
from gradwire.tf.keras.layers.recurrent import *
from gradwire.tf.keras.layers.separable import *
from gradwire.tf.keras.layers.specs import *
from gradwire.tf.keras.layers.spectral import *
from gradwire.tf.keras.layers.text import *
from gradwire.tf.keras.layers.wrapping import *
from gradwire.tf.keras.names import listed
from gradwire.tf.keras.objects import deserialize_keras_object, serialize_keras_object


def serialize(layer: Any) -> dict[str, Any]:
    """A layer as plain values."""
    config: dict[str, Any] = serialize_keras_object(layer)
    return config


def deserialize(config: Any, custom_objects: Any = None) -> Any:
    """The layer that plain values say."""
    made = deserialize_keras_object(config, custom_objects)
    if not isinstance(made, Layer):
        raise ValueError(
            f"`config` describes {type(made).__name__}, which is not a layer; got {config}"
        )
    return made


__all__ = [*listed(__name__), "deserialize", "serialize"]
