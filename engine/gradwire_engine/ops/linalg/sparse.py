"""Sparse matrices by their nonzeros: element ``(row_i, column_i)`` is ``values_i``, repeats add up.

Gradients in the values are those of the nonzeros alone, so that everything, to all orders, costs
what the nonzeros cost. Places are counted from 0; one outside the matrix is an error.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument, DtypeMismatch, ShapeMismatch
from gradwire_engine.ops.arrays.indexing import ScatterAdd
from gradwire_engine.ops.arrays.shape import reshape, transpose
from gradwire_engine.ops.arrays.slicing import picked
from gradwire_engine.ops.axes import flag, lengths
from gradwire_engine.ops.base import Op, Static, macro
from gradwire_engine.ops.composites import Sparse
from gradwire_engine.ops.linalg.coordinates import (
    CooMatMul,
    CooSolve,
    Sampled,
    check_places,
    check_values,
    flat,
)
from gradwire_engine.ops.patterns import ARRAY
from gradwire_engine.ops.promotion import DTYPES, inexact_promoted
from gradwire_engine.tape import Shape

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


def coo(b: Builder, values: Any, row: Any, column: Any, *dense: Any) -> list[Var]:
    """The nonzeros and dense operands in one floating dtype, with places between them."""
    first, *rest = b.promote(values, *dense, rule=inexact_promoted)
    places = [b.array(row), b.array(column)]
    check_places("a sparse matrix", places[0].type, places[1].type)
    return [first, *[b.cast(index, DTYPES["int64"]) for index in places], *rest]


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


def matrix_shape(shape: Any) -> Shape:
    """The lengths of a matrix's two axes."""
    found = lengths(shape)
    if len(found) != 2:
        raise BadArgument(f"a sparse matrix needs two lengths as its shape, got {found}")
    return found


def by_columns(op: Op, values: Var, row: Var, column: Var, x: Var) -> Var:
    """``op`` on vectors, matrices, or stacks of matrices ``x``, whose columns go in one row."""
    if x.ndim == 1:
        return flat(op(values, row, column, reshape(x, (x.type.size, 1))))
    order = (x.ndim - 2, *range(x.ndim - 2), x.ndim - 1)
    moved = transpose(x, order)
    length, *rest = moved.shape
    z = op(values, row, column, reshape(moved, (length, math.prod(rest))))
    z = reshape(z, (z.shape[0], *rest))
    return transpose(z, (*range(1, x.ndim - 1), 0, x.ndim - 1))


@macro("sparse.coo_matmul")
def coo_matmul(
    b: Builder,
    values: Any,
    row: Any,
    column: Any,
    shape: Static,
    dense: Any,
    transpose: Static = False,
) -> Any:
    """Product of the sparse matrix of ``shape``, or of its transpose, with ``dense``: ``z = a x``.

    Shapes: ``dense`` is a vector, a matrix or a stack of matrices.  Costs two operations for each
    nonzero and column; so do the gradients in ``values`` and in ``dense``.
    """
    size = matrix_shape(shape)
    values, row, column, x = coo(b, values, row, column, dense)
    if flag(transpose, "transpose"):
        row, column, size = column, row, size[::-1]
    if not x.ndim or x.shape[-min(2, x.ndim)] != size[1]:
        raise ShapeMismatch(f"coo_matmul needs {size[1]} rows to multiply, got {x.shape}")
    return by_columns(CooMatMul(size[0]), values, row, column, x)


@macro("sparse.coo_solve")
def coo_solve(builder: Builder, values: Any, row: Any, column: Any, b: Any) -> Any:
    """Solution with a sparse square matrix: ``z = a^-1 b``.  Raises where it is singular.

    Shapes: ``b`` is a vector, a matrix or a stack of matrices, as long as the matrix.  Costs a
    factorisation, some ``n^1.5`` operations for ``n`` unknowns on a mesh, and the gradient another.
    """
    operands = coo(builder, values, row, column, b)
    if not operands[3].ndim:
        raise ShapeMismatch("coo_solve needs a right-hand side of at least 1 axis")
    return by_columns(CooSolve(), *operands)


@macro("sparse.sddmm")
def sddmm(b: Builder, row: Any, column: Any, x: Any, y: Any) -> Any:
    """Elements of a dense product at places: ``z_i = (x y^T)[row_i, column_i]``, all others unmade.

    Shapes: ``x`` and ``y`` are matrices of equally long rows.  Costs two operations for each place
    and inner element.
    """
    first, row, column, second = coo(b, x, row, column, y)
    return Sampled()(first, second, row, column)


@macro("sparse.coo_todense")
def coo_todense(b: Builder, values: Any, row: Any, column: Any, shape: Static) -> Any:
    """The dense matrix of ``shape`` with these nonzeros, repeated ones added up."""
    size = matrix_shape(shape)
    values, row, column = coo(b, values, row, column)
    check_values(values.type, row.type)
    return ScatterAdd((ARRAY, ARRAY), size)(values, row, column)
