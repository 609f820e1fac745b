"""Functions of ``tf`` that move elements about.

Written by clients/tensorflow/tools/operations.py.
"""

from __future__ import annotations

from gradwire.tf.operations import rules
from gradwire.tf.operations.types import Ints, Shape, TensorLike
from gradwire.tf.tensors import Tensor

__all__ = [
    "broadcast_to",
    "repeat",
    "reverse",
    "roll",
    "tensor_scatter_nd_add",
    "tensor_scatter_nd_max",
    "tensor_scatter_nd_min",
    "tensor_scatter_nd_sub",
    "tensor_scatter_nd_update",
    "unravel_index",
]


def broadcast_to(input: TensorLike, shape: Shape, name: str | None = None) -> Tensor:
    """The operand repeated along new leading axes and axes of length 1."""
    return rules.like("tf.broadcast_to", "BroadcastTo", None, {"input": input}, {"shape": shape})


def repeat(
    input: TensorLike, repeats: Ints, axis: int | None = None, name: str | None = None
) -> Tensor:
    """Each element ``repeats`` times in a row along ``axis``; by default all in row-major order."""
    return rules.like(
        "tf.repeat", "Repeat", None, {"input": input}, {"repeats": repeats, "axis": axis}
    )


def reverse(tensor: TensorLike, axis: Ints, name: str | None = None) -> Tensor:
    """Elements in the opposite order along ``axis`` (all axes by default)."""
    return rules.like("tf.reverse", "ReverseV2", None, {"tensor": tensor}, {"axis": axis})


def roll(input: TensorLike, shift: Ints, axis: Ints, name: str | None = None) -> Tensor:
    """Elements moved on by ``shift`` along ``axis``, those beyond the end to the start."""
    return rules.like("tf.roll", "Roll", None, {"input": input}, {"shift": shift, "axis": axis})


def tensor_scatter_nd_add(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, name: str | None = None
) -> Tensor:
    """The array with ``updates`` added at ``indices``, repeated ones all."""
    return rules.like(
        "tf.tensor_scatter_nd_add",
        "TensorScatterAdd",
        None,
        {"tensor": tensor, "indices": indices, "updates": updates},
        {},
        places=("indices",),
        refuses=True,
    )


def tensor_scatter_nd_sub(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, name: str | None = None
) -> Tensor:
    """The array with ``updates`` subtracted at ``indices``, repeated ones all."""
    return rules.like(
        "tf.tensor_scatter_nd_sub",
        "TensorScatterSub",
        None,
        {"tensor": tensor, "indices": indices, "updates": updates},
        {},
        places=("indices",),
        refuses=True,
    )


def tensor_scatter_nd_max(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, name: str | None = None
) -> Tensor:
    """The array with the largest of each element and the ``updates`` there."""
    return rules.like(
        "tf.tensor_scatter_nd_max",
        "TensorScatterMax",
        None,
        {"tensor": tensor, "indices": indices, "updates": updates},
        {},
        places=("indices",),
        refuses=True,
    )


def tensor_scatter_nd_min(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, name: str | None = None
) -> Tensor:
    """The array with the smallest of each element and the ``updates`` there."""
    return rules.like(
        "tf.tensor_scatter_nd_min",
        "TensorScatterMin",
        None,
        {"tensor": tensor, "indices": indices, "updates": updates},
        {},
        places=("indices",),
        refuses=True,
    )


def tensor_scatter_nd_update(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, name: str | None = None
) -> Tensor:
    """The array with ``updates`` at ``indices``, whose last axis goes over the first axes."""
    return rules.like(
        "tf.tensor_scatter_nd_update",
        "TensorScatterUpdate",
        None,
        {"tensor": tensor, "indices": indices, "updates": updates},
        {},
        places=("indices",),
        refuses=True,
    )


def unravel_index(indices: TensorLike, dims: Ints, name: str | None = None) -> Tensor:
    """Indices of elements in row-major order as one index for each axis of ``dims``, stacked."""
    return rules.like(
        "tf.unravel_index", "UnravelIndex", None, {"indices": indices}, {"dims": dims}
    )
