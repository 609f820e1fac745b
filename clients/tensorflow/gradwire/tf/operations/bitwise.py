"""``tf.bitwise``: the bits of integers."""

from __future__ import annotations

from gradwire.tf.operations import kinds, rules
from gradwire.tf.operations.declaring import operation
from gradwire.tf.operations.types import Name, TensorLike
from gradwire.tf.tensors import Tensor


@operation(rules.binary, "tf.bitwise.bitwise_and", "BitwiseAnd", kinds.INTEGERS)
def bitwise_and(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """Bits set in both: ``z = x & y``."""


@operation(rules.binary, "tf.bitwise.bitwise_or", "BitwiseOr", kinds.INTEGERS)
def bitwise_or(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """Bits set in either: ``z = x | y``."""


@operation(rules.binary, "tf.bitwise.bitwise_xor", "BitwiseXor", kinds.INTEGERS)
def bitwise_xor(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """Bits set in exactly one: ``z = x ^ y``."""


@operation(rules.binary, "tf.bitwise.left_shift", "LeftShift", kinds.INTEGERS)
def left_shift(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """Bits moved up: ``z = x << y``; for integers."""


@operation(rules.binary, "tf.bitwise.right_shift", "RightShift", kinds.INTEGERS)
def right_shift(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """Bits moved down: ``z = x >> y``; for integers, keeping the sign."""


@operation(rules.unary, "tf.bitwise.invert", "Invert", kinds.INTEGERS)
def invert(x: TensorLike, name: Name = None) -> Tensor:
    """Bits flipped: ``z = ~x``; for booleans, the opposite."""
