"""Static values, which are needed to write a program: lengths, axes and counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwire.tf.calls import integers
from gradwire.tf.conversion import convert_to_tensor
from gradwire.tf.errors import invalid
from gradwire.tf.shapes import TensorShape
from gradwire.tf.tensors import Operand


def array(value: Any, dtype: Any = None) -> np.ndarray[Any, Any]:
    """A value as an array, fetched if necessary."""
    return convert_to_tensor(value, dtype)._value()


def lengths(shape: Any) -> tuple[int, ...]:
    """The lengths of a shape in any form."""
    if isinstance(shape, TensorShape) and not shape.is_fully_defined():
        raise ValueError(f"every length must be known, got the shape {shape}")
    if isinstance(shape, (list, tuple)):
        return tuple([integer(length) for length in shape])
    return tuple(integers(shape))


def integer(value: Any) -> int:
    """One number."""
    if isinstance(value, Operand):
        value = value._value()
    return int(value)


def axis_of(axis: Any, rank: int, otherwise: str) -> int:
    """An axis counted from the first; ``otherwise`` is the error for an axis out of range."""
    place = integer(axis)
    if not -rank <= place < rank:
        raise invalid(otherwise.format(axis=place, rank=rank))
    return place % rank


def listed(shape: Any) -> str:
    """A shape as text, for messages."""
    return f"[{','.join(map(str, shape))}]"
