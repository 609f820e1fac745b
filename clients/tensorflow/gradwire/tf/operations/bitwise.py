"""``tf.bitwise``: the bits of integers."""

from __future__ import annotations

from gradwire.tf.operations import kinds
from gradwire.tf.operations.families import binary, unary


@binary("tf.bitwise.bitwise_and", "BitwiseAnd", kinds.INTEGERS)
def bitwise_and() -> None:
    """Bits set in both: ``z = x & y``."""


@binary("tf.bitwise.bitwise_or", "BitwiseOr", kinds.INTEGERS)
def bitwise_or() -> None:
    """Bits set in either: ``z = x | y``."""


@binary("tf.bitwise.bitwise_xor", "BitwiseXor", kinds.INTEGERS)
def bitwise_xor() -> None:
    """Bits set in exactly one: ``z = x ^ y``."""


@binary("tf.bitwise.left_shift", "LeftShift", kinds.INTEGERS)
def left_shift() -> None:
    """Bits moved up: ``z = x << y``; for integers."""


@binary("tf.bitwise.right_shift", "RightShift", kinds.INTEGERS)
def right_shift() -> None:
    """Bits moved down: ``z = x >> y``; for integers, keeping the sign."""


@unary("tf.bitwise.invert", "Invert", kinds.INTEGERS)
def invert() -> None:
    """Bits flipped: ``z = ~x``; for booleans, the opposite."""
