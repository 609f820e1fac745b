"""The types of operations' parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gradwire.tf.dtypes import DType
from gradwire.tf.shapes import TensorShape
from gradwire.tf.tensors import Operand


class SupportsArray(Protocol):
    """A value that has an array of its own."""

    def __array__(self) -> NDArray[Any]:
        """The array."""


#: A tensor or variable, or what becomes one: an array, a number, nested lists of these.
TensorLike: TypeAlias = "Operand | SupportsArray | complex | str | bytes | Sequence[Any]"
Ints: TypeAlias = "int | Sequence[int] | NDArray[Any] | Operand"
Floats: TypeAlias = Sequence[float]
Axis: TypeAlias = "Ints | None"
Shape: TypeAlias = "Ints | TensorShape"
DTypeLike: TypeAlias = "DType | str | np.dtype[Any] | type[Any]"
#: A tensor of indices.
Places: TypeAlias = "TensorLike"
#: Names of operations in a graph, and what else has no meaning here.
Name: TypeAlias = "str | None"
Unused: TypeAlias = Any
#: ``"SAME"``, ``"VALID"``, or pairs for each axis.
Padding: TypeAlias = "str | Sequence[Sequence[int]]"
#: The kinds of norm: ``"euclidean"``, ``"fro"``, 1, 2, ``np.inf``.
Order: TypeAlias = "str | float"
