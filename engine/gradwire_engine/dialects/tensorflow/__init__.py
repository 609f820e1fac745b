"""TensorFlow's names: tables of those that only order or call things otherwise, and functions."""

from gradwire_engine.dialects.tensorflow import (
    arrays,
    convolutions,
    diagonals,
    formulas,
    functions,
    gathering,
    images,
    keras,
    matrices,
    networks,
    random,
    segments,
    signals,
    sparse,
)
from gradwire_engine.dialects.tensorflow.names import TF

__all__ = [
    "TF",
    "arrays",
    "convolutions",
    "diagonals",
    "formulas",
    "functions",
    "gathering",
    "images",
    "keras",
    "matrices",
    "networks",
    "random",
    "segments",
    "signals",
    "sparse",
]
