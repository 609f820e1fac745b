"""TensorFlow's names: tables of those that only order or call things otherwise, and functions."""

from gradwire_engine.dialects.tensorflow import functions, images, keras
from gradwire_engine.dialects.tensorflow.names import TF

__all__ = ["TF", "functions", "images", "keras"]
