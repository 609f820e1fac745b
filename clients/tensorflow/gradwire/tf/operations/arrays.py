"""Functions of ``tf`` that move elements about."""

from __future__ import annotations

from gradwire.tf.operations import rules
from gradwire.tf.operations.declaring import family, operation
from gradwire.tf.operations.types import Ints, Name, Places, Shape, TensorLike
from gradwire.tf.tensors import Tensor

__all__ = [
    "broadcast_to", "repeat", "reverse", "roll", "tensor_scatter_nd_add", "tensor_scatter_nd_max",
    "tensor_scatter_nd_min", "tensor_scatter_nd_sub", "tensor_scatter_nd_update", "unravel_index",
]  # fmt: skip


@operation(rules.like, "tf.broadcast_to", "BroadcastTo")
def broadcast_to(input: TensorLike, shape: Shape, name: Name = None) -> Tensor:
    """The operand repeated along new leading axes and axes of length 1."""


@operation(rules.like, "tf.repeat", "Repeat")
def repeat(input: TensorLike, repeats: Ints, axis: int | None = None, name: Name = None) -> Tensor:
    """Each element ``repeats`` times in a row along ``axis``; by default all in row-major order."""


@operation(rules.like, "tf.reverse", "ReverseV2")
def reverse(tensor: TensorLike, axis: Ints, name: Name = None) -> Tensor:
    """Elements in the opposite order along ``axis`` (all axes by default)."""


@operation(rules.like, "tf.roll", "Roll")
def roll(input: TensorLike, shift: Ints, axis: Ints, name: Name = None) -> Tensor:
    """Elements moved on by ``shift`` along ``axis``, those beyond the end to the start."""


@family(rules.like, refuses=True)
def _scatter(tensor: TensorLike, indices: Places, updates: TensorLike, name: Name = None) -> Tensor:
    """The parameters of changes at some places."""


@_scatter("tf.tensor_scatter_nd_add", "TensorScatterAdd")
def tensor_scatter_nd_add() -> None:
    """The array with ``updates`` added at ``indices``, repeated ones all."""


@_scatter("tf.tensor_scatter_nd_sub", "TensorScatterSub")
def tensor_scatter_nd_sub() -> None:
    """The array with ``updates`` subtracted at ``indices``, repeated ones all."""


@_scatter("tf.tensor_scatter_nd_max", "TensorScatterMax")
def tensor_scatter_nd_max() -> None:
    """The array with the largest of each element and the ``updates`` there."""


@_scatter("tf.tensor_scatter_nd_min", "TensorScatterMin")
def tensor_scatter_nd_min() -> None:
    """The array with the smallest of each element and the ``updates`` there."""


@_scatter("tf.tensor_scatter_nd_update", "TensorScatterUpdate")
def tensor_scatter_nd_update() -> None:
    """The array with ``updates`` at ``indices``, whose last axis goes over the first axes."""


@operation(rules.like, "tf.unravel_index", "UnravelIndex")
def unravel_index(indices: TensorLike, dims: Ints, name: Name = None) -> Tensor:
    """Indices of elements in row-major order as one index for each axis of ``dims``, stacked."""
