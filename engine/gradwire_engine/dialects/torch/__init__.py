"""PyTorch's names: tables of those that only order or call things otherwise, and functions."""

from gradwire_engine.dialects.torch import (
    arrays,
    attention,
    convolutions,
    creation,
    elementwise,
    functional,
    images,
    losses,
    margins,
    masked,
    matrices,
    ordering,
    sampling,
    scatters,
    sparse,
    statistics,
)
from gradwire_engine.dialects.torch.names import TORCH

__all__ = [
    "TORCH",
    "arrays",
    "attention",
    "convolutions",
    "creation",
    "elementwise",
    "functional",
    "images",
    "losses",
    "margins",
    "masked",
    "matrices",
    "ordering",
    "sampling",
    "scatters",
    "sparse",
    "statistics",
]
