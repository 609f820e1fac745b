"""Sparse matrices by their nonzeros: element ``(row_i, column_i)`` is ``values_i``, repeats add up.

Gradients in the values are those of the nonzeros alone, so that everything, to all orders, costs
what the nonzeros cost. Places are counted from 0; one outside the matrix is an error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.errors import BadArgument, DtypeMismatch, ShapeMismatch
from gradwire_engine.ops.axes import flag, lengths
from gradwire_engine.ops.base import Cotangents, Op, Static, macro, register
from gradwire_engine.ops.batching import everywhere
from gradwire_engine.ops.elementwise import conj
from gradwire_engine.ops.indexing import ScatterAdd
from gradwire_engine.ops.patterns import ARRAY
from gradwire_engine.ops.promotion import DTYPES, inexact_promoted
from gradwire_engine.ops.shape import reshape, transpose
from gradwire_engine.tape import ArrayType, Shape, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


def _check(op: str, row: ArrayType, column: ArrayType, *numbers: ArrayType) -> None:
    for index in (row, column):
        if index.dtype.kind not in "iu":
            raise DtypeMismatch(f"{op} needs integers as row and column, got {index}")
    if row.ndim != 1 or row.shape != column.shape:
        raise ShapeMismatch(f"{op} needs a row and a column for each value, got {row}, {column}")
    for kind in numbers:
        if kind.dtype.char not in "fdFD":
            raise DtypeMismatch(f"{op} does not take {kind.dtype.name}", hint="astype('float32')")


def _check_values(values: ArrayType, row: ArrayType) -> None:
    if values.shape != row.shape:
        raise ShapeMismatch(f"a sparse matrix got {values.shape} values in {row.shape} places")


def _matrix(xp: Any, values: Any, row: Any, column: Any, shape: Shape) -> Any:
    """The matrix as SciPy has it."""
    try:
        return xp.sparse.coo_array((values, (row, column)), shape=shape)
    except ValueError as error:
        raise IndexError(str(error)) from None


class OfSparse(Op):
    """``z`` made of a sparse matrix and a dense one ``x``, column by column."""

    def size(self, x: ArrayType) -> int:
        """Rows of the result for an operand ``x``."""
        return x.shape[0]

    def infer(self, *types: ArrayType) -> ArrayType:
        """As many columns as the dense operand has."""
        values, row, column, x = types
        _check(self.name, row, column, values, x)
        _check_values(values, row)
        return ArrayType(x.dtype, (self.size(x), *x.shape[1:]), values.weak and x.weak)

    def batch(self, operands: Sequence[Var], batched: Sequence[bool]) -> Var:
        """More columns of one matrix, or the blocks on the diagonal of a large one."""
        *matrix, x = operands
        if not any(batched[:3]):
            count, length, width = x.type.shape
            columns = reshape(transpose(x, (1, 0, 2)), (length, count * width))
            z = self(*matrix, columns)
            return transpose(reshape(z, (z.type.shape[0], count, width)), (1, 0, 2))
        values, row, column, x = everywhere(operands, batched)
        count, length, width = x.type.shape
        size = self.size(x.type._replace(shape=x.type.shape[1:]))
        z = self.of_blocks(count)(
            _flat(values), _blocks(row, size), _blocks(column, length), _rows(x)
        )
        return reshape(z, (count, size, width))

    def of_blocks(self, count: int) -> Op:
        """This operation on ``count`` matrices as blocks."""
        return self


def _flat(x: Var) -> Var:
    return reshape(x, (x.type.size,))


def _rows(x: Var) -> Var:
    """The rows of a stack of matrices below one another."""
    count, length, width = x.type.shape
    return reshape(x, (count * length, width))


def _blocks(index: Var, length: int) -> Var:
    """Places in matrices of ``length`` rows (or columns) as places in all of them, in a row."""
    starts = np.arange(index.type.shape[0], dtype=index.dtype)[:, None] * length
    return _flat(index + index.builder.constant(starts))


@register("coo_product", public=False)
class CooMatMul(OfSparse):
    """Product of a sparse matrix of ``rows`` rows with a dense one: ``z = a x``."""

    rows: int

    def size(self, x: ArrayType) -> int:
        """The matrix's rows."""
        return self.rows

    def of_blocks(self, count: int) -> Op:
        """As many times the rows."""
        return CooMatMul(count * self.rows)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Add up the nonzeros' products in one pass."""
        values, row, column, x = operands
        return _matrix(xp, values, row, column, (self.rows, x.shape[0])) @ x

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``values_bar = (z_bar x^H)`` at the nonzeros, ``x_bar = a^H z_bar``."""
        values, row, column, x = operands
        x_bar = CooMatMul(x.type.shape[0])(conj(values), column, row, z_bar)
        return Sampled()(z_bar, conj(x), row, column), None, None, x_bar

    def flops(self, result: Type, *types: ArrayType) -> int:
        """A product and a sum for each nonzero and column."""
        return 2 * types[0].size * types[3].shape[1]


@register("sampled_product", public=False)
class Sampled(Op):
    """Elements of a dense product at given places: ``z_i = (x y^T)[row_i, column_i]``."""

    def infer(self, *types: ArrayType) -> ArrayType:
        """A vector of the places' length."""
        x, y, row, column = types
        _check(self.name, row, column, x, y)
        if x.ndim != 2 or y.ndim != 2 or x.shape[1] != y.shape[1]:
            raise ShapeMismatch(
                f"sddmm needs matrices of equally long rows, got {x.shape} and {y.shape}"
            )
        return ArrayType(x.dtype, row.shape, x.weak and y.weak)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Gather rows and sum their products."""
        x, y, row, column = operands
        return xp.einsum("ik,ik->i", x[row], y[column])

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = a conj(y)`` and ``y_bar = a^T conj(x)`` of the sparse ``a`` of ``z_bar``."""
        x, y, row, column = operands
        x_bar = CooMatMul(x.type.shape[0])(z_bar, row, column, conj(y))
        y_bar = CooMatMul(y.type.shape[0])(z_bar, column, row, conj(x))
        return x_bar, y_bar, None, None

    def batch(self, operands: Sequence[Var], batched: Sequence[bool]) -> Var:
        """The examples' rows below one another."""
        x, y, row, column = everywhere(operands, batched)
        places = _blocks(row, x.type.shape[1]), _blocks(column, y.type.shape[1])
        return reshape(self(_rows(x), _rows(y), *places), row.type.shape)

    def flops(self, result: Type, *types: ArrayType) -> int:
        """A product and a sum for each place and inner element."""
        return 2 * types[2].size * types[0].shape[1]


@register("coo_solution", public=False)
class CooSolve(OfSparse):
    """Solution of linear equations with a sparse square matrix: ``z = a^-1 x``."""

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Sparse LU factorisation; NaN where the matrix is not finite."""
        values, row, column, x = operands
        matrix = _matrix(xp, values, row, column, (x.shape[0], x.shape[0]))
        if not xp.isfinite(values).all():
            return xp.full(x.shape, xp.nan, x.dtype)
        try:
            return xp.sparse.linalg.splu(matrix.tocsc()).solve(x)
        except RuntimeError as error:
            raise xp.linalg.LinAlgError(str(error)) from None

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = a^-H z_bar``, ``values_bar = (-x_bar z^H)`` at the nonzeros."""
        values, row, column, _ = operands
        x_bar = self(conj(values), column, row, z_bar)
        return -Sampled()(x_bar, conj(z), row, column), None, None, x_bar

    def flops(self, result: Type, *types: ArrayType) -> int:
        """As for the mesh of a plane, whose factors fill in least by ``n log n``.

        Source: George, "Nested dissection of a regular finite element mesh" (1973).
        """
        values, _, _, x = types
        n = max(x.shape[0], 1)
        return 10 * n * math.isqrt(n) + 2 * (values.size + n * n.bit_length()) * x.shape[1]


def coo(b: Builder, values: Any, row: Any, column: Any, *dense: Any) -> list[Var]:
    """The nonzeros and dense operands in one floating dtype, with places between them."""
    first, *rest = b.promote(values, *dense, rule=inexact_promoted)
    places = [b.array(row), b.array(column)]
    _check("a sparse matrix", places[0].type, places[1].type)
    return [first, *[b.cast(index, DTYPES["int64"]) for index in places], *rest]


def matrix_shape(shape: Any) -> Shape:
    """The lengths of a matrix's two axes."""
    found = lengths(shape)
    if len(found) != 2:
        raise BadArgument(f"a sparse matrix needs two lengths as its shape, got {found}")
    return found


def by_columns(op: Op, values: Var, row: Var, column: Var, x: Var) -> Var:
    """``op`` on vectors, matrices, or stacks of matrices ``x``, whose columns go in one row."""
    if x.ndim == 1:
        return _flat(op(values, row, column, reshape(x, (x.type.size, 1))))
    order = (x.ndim - 2, *range(x.ndim - 2), x.ndim - 1)
    moved = transpose(x, order)
    length, *rest = moved.type.shape
    z = op(values, row, column, reshape(moved, (length, math.prod(rest))))
    z = reshape(z, (z.type.shape[0], *rest))
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
    if not x.ndim or x.type.shape[-min(2, x.ndim)] != size[1]:
        raise ShapeMismatch(f"coo_matmul needs {size[1]} rows to multiply, got {x.type.shape}")
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
    _check_values(values.type, row.type)
    return ScatterAdd((ARRAY, ARRAY), size)(values, row, column)
