"""Products and solutions with sparse matrices, and sampled products, closed under derivatives.

Element ``(row_i, column_i)`` of the matrix is ``values_i``; repeats add up. Gradients in the values
are those of the nonzeros alone, so that everything, to all orders, costs what the nonzeros cost.
Places are counted from 0; one outside the matrix is an error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import DtypeMismatch, ShapeMismatch
from gradwire_engine.ops.arrays.shape import reshape, transpose
from gradwire_engine.ops.base import Cotangents, Op, register
from gradwire_engine.ops.batching import everywhere
from gradwire_engine.ops.elementwise import conj
from gradwire_engine.tape import ArrayType, Shape, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var


def check_places(op: str, row: ArrayType, column: ArrayType, *numbers: ArrayType) -> None:
    """Refuse places that are no integers, or not one row for each column, and other numbers."""
    for index in (row, column):
        if index.dtype.kind not in "iu":
            raise DtypeMismatch(f"{op} needs integers as row and column, got {index}")
    if row.ndim != 1 or row.shape != column.shape:
        raise ShapeMismatch(f"{op} needs a row and a column for each value, got {row}, {column}")
    for kind in numbers:
        if kind.dtype.char not in "fdFD":
            raise DtypeMismatch(f"{op} does not take {kind.dtype.name}", hint="astype('float32')")


def check_values(values: ArrayType, row: ArrayType) -> None:
    """Refuse values that are not one for each place."""
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
        check_places(self.name, row, column, values, x)
        check_values(values, row)
        return ArrayType(x.dtype, (self.size(x), *x.shape[1:]), values.weak and x.weak)

    def batch(self, operands: Sequence[Var], batched: Sequence[bool]) -> Var:
        """More columns of one matrix, or the blocks on the diagonal of a large one."""
        *matrix, x = operands
        if not any(batched[:3]):
            count, length, width = x.shape
            columns = reshape(transpose(x, (1, 0, 2)), (length, count * width))
            z = self(*matrix, columns)
            return transpose(reshape(z, (z.shape[0], count, width)), (1, 0, 2))
        values, row, column, x = everywhere(operands, batched)
        count, length, width = x.shape
        size = self.size(x.type._replace(shape=x.shape[1:]))
        z = self.of_blocks(count)(
            flat(values), _blocks(row, size), _blocks(column, length), _rows(x)
        )
        return reshape(z, (count, size, width))

    def of_blocks(self, count: int) -> Op:
        """This operation on ``count`` matrices as blocks."""
        return self


def flat(x: Var) -> Var:
    """All elements in a row."""
    return reshape(x, (x.type.size,))


def _rows(x: Var) -> Var:
    """The rows of a stack of matrices below one another."""
    count, length, width = x.shape
    return reshape(x, (count * length, width))


def _blocks(index: Var, length: int) -> Var:
    """Places in matrices of ``length`` rows (or columns) as places in all of them, in a row."""
    shape = (index.shape[0], 1)
    starts = index.builder.table(shape, lambda example, _: example * length, index.dtype)
    return flat(index + starts)


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
        return xp.coo_product(self.rows, values, row, column, x)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``values_bar = (z_bar x^H)`` at the nonzeros, ``x_bar = a^H z_bar``."""
        values, row, column, x = operands
        x_bar = CooMatMul(x.shape[0])(conj(values), column, row, z_bar)
        return Sampled()(z_bar, conj(x), row, column), None, None, x_bar

    def flops(self, result: Type, *types: ArrayType) -> int:
        """A product and a sum for each nonzero and column."""
        return 2 * types[0].size * types[3].shape[1]


@register("sampled_product", public=False)
class Sampled(Op):
    """Elements of a dense product at given places: ``z_i = (x y^T)[row_i, column_i]``."""

    workspace = 1.0

    def infer(self, *types: ArrayType) -> ArrayType:
        """A vector of the places' length."""
        x, y, row, column = types
        check_places(self.name, row, column, x, y)
        if x.ndim != 2 or y.ndim != 2 or x.shape[1] != y.shape[1]:
            raise ShapeMismatch(
                f"sddmm needs matrices of equally long rows, got {x.shape} and {y.shape}"
            )
        return ArrayType(x.dtype, row.shape, x.weak and y.weak)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Gather rows and sum their products."""
        x, y, row, column = operands
        return xp.einsum("ik,ik->i", xp.getitem(x, row), xp.getitem(y, column))

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = a conj(y)`` and ``y_bar = a^T conj(x)`` of the sparse ``a`` of ``z_bar``."""
        x, y, row, column = operands
        x_bar = CooMatMul(x.shape[0])(z_bar, row, column, conj(y))
        y_bar = CooMatMul(y.shape[0])(z_bar, column, row, conj(x))
        return x_bar, y_bar, None, None

    def batch(self, operands: Sequence[Var], batched: Sequence[bool]) -> Var:
        """The examples' rows below one another."""
        x, y, row, column = everywhere(operands, batched)
        places = _blocks(row, x.shape[1]), _blocks(column, y.shape[1])
        return reshape(self(_rows(x), _rows(y), *places), row.shape)

    def flops(self, result: Type, *types: ArrayType) -> int:
        """A product and a sum for each place and inner element."""
        return 2 * types[2].size * types[0].shape[1]


@register("coo_solution", public=False)
class CooSolve(OfSparse):
    """Solution of linear equations with a sparse square matrix: ``z = a^-1 x``."""

    workspace = 1.0

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
