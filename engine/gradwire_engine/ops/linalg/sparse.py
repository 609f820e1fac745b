"""Sparse tensors by their nonzeros, and the parts of a sparse matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import DtypeMismatch, ShapeMismatch
from gradwire_engine.ops.arrays.slicing import picked
from gradwire_engine.ops.composites import Sparse
from gradwire_engine.tape import Shape

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


def sparse_of(b: Builder, indices: Var, values: Any, shape: Shape) -> Sparse:
    """The sparse tensor with a row of ``indices`` for each of the ``values``."""
    numbers = b.array(values)
    if indices.dtype.kind not in "iu":
        raise DtypeMismatch(f"a sparse tensor needs integers as indices, got {indices.type}")
    if numbers.ndim != 1 or indices.shape != (*numbers.shape, len(shape)):
        raise ShapeMismatch(
            f"a sparse tensor of {len(shape)} axes needs a vector of values and an index for each "
            f"value and axis, got values of shape {numbers.shape} and indices {indices.shape}"
        )
    return Sparse({"indices": indices, "values": numbers}, shape)


def matrix_parts(x: Sparse) -> tuple[Var, list[Var], Shape]:
    """Values, row and column of each, and shape of a sparse matrix."""
    if len(x.shape) != 2 or x["indices"].type.shape[1:] != (2,):
        raise ShapeMismatch(f"this needs the elements of a matrix, got {x}")
    return x["values"], [picked(x["indices"], 1, axis) for axis in (0, 1)], x.shape
