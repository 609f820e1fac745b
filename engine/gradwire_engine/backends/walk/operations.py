"""Operations that only rules for NumPy record: what it vectorises in place of what it does not."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from gradwire_engine.backends.reference.indexing import row_numbers
from gradwire_engine.ops.base import Op, register
from gradwire_engine.ops.batching import over_stacks
from gradwire_engine.ops.elementwise import Elementwise
from gradwire_engine.ops.reductions.reductions import Reduction
from gradwire_engine.tape import ArrayType, DType, Shape, Type

#: Up to this exponent products are within 2e-15 of a power.
MOST_FACTORS = 16
_INT32 = np.dtype("int32")
#: Longer vectors of ones are made each time: they take less than what they multiply.
_KEPT_ONES = 4096


@register("power_by_products", public=False)
class PowerByProducts(Elementwise):
    """Power: ``z = x ** y``, by products where all of ``y`` is one whole number that is small."""

    kinds = "f"
    flops_per_element = 20
    differentiable = False

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Look at the exponents, which takes a fiftieth of the time of powers."""
        x, y = operands
        n = float(y.flat[0]) if y.size else 0.0
        whole = 0 < abs(n) <= MOST_FACTORS and n.is_integer() and x.ndim >= y.ndim
        if not whole or xp.broadcast_shapes(x.shape, y.shape) != x.shape or not (y == n).all():
            return xp.power(x, y)
        z, factor, left = None, x, int(abs(n))
        while left:
            if left % 2:
                z = factor if z is None else z * factor
            left //= 2
            factor = factor * factor if left else factor
        return xp.reciprocal(z) if n < 0 else xp.positive(z)


@register("sum_by_product", public=False)
class SumByProduct(Reduction):
    """Sum over ``axes``, which are the first or the last: ``z = 1ᵀ x`` or ``z = x 1``."""

    axes: tuple[int, ...]
    differentiable = False

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """BLAS takes no time to begin a row."""
        (x,) = operands
        shape, axes = x.shape, len(self.axes)
        if self.axes[0] == 0:
            count, others = math.prod(shape[:axes]), math.prod(shape[axes:])
            return (_ones(count, x.dtype) @ x.reshape(count, others)).reshape(shape[axes:])
        count, others = math.prod(shape[-axes:]), math.prod(shape[:-axes])
        return (x.reshape(others, count) @ _ones(count, x.dtype)).reshape(shape[:-axes])


@register("recurrence_by_rows", public=False)
class RecurrenceByRows(Op):
    """``z_i = b_i + a_i z_{i-1}`` along ``axis``: of each row the solution of two bands.

    Source: BLAS, tbsv.
    """

    axis: int
    differentiable = False
    batch = over_stacks  # not asked: the optimiser alone makes it

    def infer(self, *types: ArrayType) -> ArrayType:
        """The operands' type."""
        return types[1]

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Solve row by row, of which the first element has no factor."""
        a, b = (xp.moveaxis(x, self.axis, -1) for x in operands)
        n = b.shape[-1]
        z = xp.array(b, order="C")
        rows = z.reshape(-1, n)
        bands = xp.zeros((len(rows), n, 2), b.dtype)
        bands[:, :-1, 1] = -a.reshape(-1, n)[:, 1:]
        blas = xp.scipy_linalg.blas
        solve = blas.dtbsv if b.dtype.char == "d" else blas.stbsv
        for band, row in zip(bands, rows, strict=True):
            row[:] = solve(1, band.T, row, lower=1, diag=1)
        return xp.moveaxis(z, -1, self.axis)

    def flops(self, result: Type, *types: ArrayType) -> int:
        """A product and a sum per element."""
        return 2 * types[0].size


@register("diagonal_solution", public=False)
class SolveDiagonal(Op):
    """Solution of linear equations with a diagonal matrix: ``z = b / a`` for each row of ``b``.

    Raises where the matrix is singular.
    """

    differentiable = False
    batch = over_stacks  # not asked: the optimiser alone makes it

    def infer(self, *types: ArrayType) -> ArrayType:
        """The type of the right-hand sides."""
        return types[1]

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Divide."""
        diagonal, b = operands
        if not diagonal.all():
            raise xp.linalg.LinAlgError
        return b / diagonal[:, None]

    def flops(self, result: Type, *types: ArrayType) -> int:
        """A quotient for each element."""
        return types[1].size


class _Plan(Op):
    """A part of the plan by which rows are added, made of the row that each is added to."""

    differentiable = False
    batch = over_stacks  # not asked: the optimiser alone makes it

    def infer(self, *types: ArrayType) -> ArrayType:
        """A number for each."""
        return ArrayType(_INT32, (types[0].size,))

    def flops(self, result: Type, *types: ArrayType) -> int:
        """A few looks at each."""
        return 8 * types[0].size


@register("row_numbers", public=False)
class RowNumbers(_Plan):
    """The rows of ``count`` that indices select: those from the end as others."""

    count: int

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Look whether they are within range, too."""
        return row_numbers(operands[0], self.count)


@register("row_order", public=False)
class RowOrder(_Plan):
    """The order in which equal ones of the numbers of rows come together, as they come."""

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Sort."""
        return xp.argsort(operands[0], kind="stable").astype(_INT32)


@register("row_starts", public=False)
class RowStarts(_Plan):
    """The start of each of ``count`` rows in that order, and after the last one its end."""

    count: int

    def infer(self, *types: ArrayType) -> ArrayType:
        """One more than there are rows."""
        return ArrayType(_INT32, (self.count + 1,))

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Count."""
        starts = xp.zeros(self.count + 1, _INT32)
        xp.cumsum(xp.bincount(operands[0], minlength=self.count), out=starts[1:])
        return starts


@register("sum_rows", public=False)
class SumRows(Op):
    """Sums of rows of ``x``: ``z_s = sum x[order_k]`` for ``k`` from ``starts_s`` to the next.

    Shapes: ``z`` has ``shape``, of which ``x`` has the last axes.
    """

    shape: Shape
    differentiable = False
    batch = over_stacks  # not asked: the optimiser alone makes it

    def infer(self, *types: ArrayType) -> ArrayType:
        """An array of ``shape``."""
        return ArrayType(types[0].dtype, self.shape)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """A product with the sparse matrix of that plan, in the order of the rows."""
        x, order, starts = operands
        rows = xp.ascontiguousarray(x).reshape(len(x), math.prod(self.shape[1:]))
        rows = rows.view(x.real.dtype)  # a complex number times 1 is not itself where infinite
        ones = xp.ones(order.size, rows.dtype)
        plan = xp.sparse.csr_matrix((ones, order, starts), shape=(self.shape[0], len(x)))
        return (plan @ rows).view(x.dtype).reshape(self.shape)

    def flops(self, result: Type, *types: ArrayType) -> int:
        """A sum for each element that is read."""
        return types[1].size * math.prod(self.shape[1:])


def _ones(count: int, dtype: DType) -> Any:
    return _kept_ones(count, dtype) if count <= _KEPT_ONES else np.ones(count, dtype)


@lru_cache(maxsize=64)
def _kept_ones(count: int, dtype: DType) -> Any:
    return np.ones(count, dtype)
