"""Models: layers in a row, graphs of symbolic inputs, and subclasses; their files and copies."""

from gradwire.tf.keras.models.base import Functional, Model
from gradwire.tf.keras.models.cloning import clone_model
from gradwire.tf.keras.models.files import load_model, model_from_json, save_model
from gradwire.tf.keras.models.sequential import Sequential

__all__ = [
    "Functional",
    "Model",
    "Sequential",
    "clone_model",
    "load_model",
    "model_from_json",
    "save_model",
]
