"""An operation that the optimiser makes for NumPy."""

from __future__ import annotations

from typing import Any

from gradwire_engine.ops.base import Op, register
from gradwire_engine.ops.batching import over_stacks
from gradwire_engine.tape import ArrayType, Type


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
