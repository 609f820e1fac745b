"""PyTorch's names: tables of those that only order or call things otherwise, and functions."""

from gradwire_engine.dialects.torch import arrays
from gradwire_engine.dialects.torch.names import TORCH

__all__ = ["TORCH", "arrays"]
