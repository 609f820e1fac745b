"""Families of operations that several modules declare."""

from __future__ import annotations

from gradwire.tf.operations import kinds, rules
from gradwire.tf.operations.declaring import family
from gradwire.tf.operations.types import Name, TensorLike
from gradwire.tf.tensors import Tensor


@family(rules.unary, kinds.INEXACT)
def unary(x: TensorLike, name: Name = None) -> Tensor:
    """Of each element, one of the same dtype."""


@family(rules.unary, kinds.FLOATS)
def real(x: TensorLike, name: Name = None) -> Tensor:
    """Of each element, a real number of the same dtype."""


@family(rules.unary, kinds.LAYER)
def activation(features: TensorLike, name: Name = None) -> Tensor:
    """Of each element of ``features``, an activation of the same dtype."""


@family(rules.binary)
def binary(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """Of pairs of elements, one of their dtype."""
