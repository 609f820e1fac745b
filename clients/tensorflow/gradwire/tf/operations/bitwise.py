"""``tf.bitwise``: the bits of integers.

Written by clients/tensorflow/tools/operations.py.
"""

from __future__ import annotations

from gradwire.tf.operations import kinds, rules
from gradwire.tf.operations.types import TensorLike
from gradwire.tf.tensors import Tensor

__all__ = ["bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift"]


def bitwise_and(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Bits set in both: ``z = x & y``."""
    return rules.binary("tf.bitwise.bitwise_and", "BitwiseAnd", kinds.INTEGER, x, y)


def bitwise_or(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Bits set in either: ``z = x | y``."""
    return rules.binary("tf.bitwise.bitwise_or", "BitwiseOr", kinds.INTEGER, x, y)


def bitwise_xor(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Bits set in exactly one: ``z = x ^ y``."""
    return rules.binary("tf.bitwise.bitwise_xor", "BitwiseXor", kinds.INTEGER, x, y)


def left_shift(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Bits moved up: ``z = x << y``; for integers."""
    return rules.binary("tf.bitwise.left_shift", "LeftShift", kinds.INTEGER, x, y)


def right_shift(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Bits moved down: ``z = x >> y``; for integers, keeping the sign."""
    return rules.binary("tf.bitwise.right_shift", "RightShift", kinds.INTEGER, x, y)


def invert(x: TensorLike, name: str | None = None) -> Tensor:
    """Bits flipped: ``z = ~x``; for booleans, the opposite."""
    return rules.unary("tf.bitwise.invert", "Invert", kinds.INTEGER, x)
