"""Matrices of a structure: banded, block diagonal, constant along diagonals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import DtypeMismatch, ShapeMismatch
from gradwire_engine.ops.arrays.joining import Stack
from gradwire_engine.ops.arrays.slicing import Pad, picked, sliced
from gradwire_engine.ops.base import Cotangents, Op, register
from gradwire_engine.ops.batching import over_stacks
from gradwire_engine.ops.elementwise import broadcast_shapes, conj
from gradwire_engine.ops.linalg.matrix_functions import for_each
from gradwire_engine.ops.reductions.reductions import Sum
from gradwire_engine.tape import ArrayType, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var


def moved(x: Var, axis: int, by: int) -> Var:
    """``z[i] = x[i + by]`` along ``axis``, zero where there is no such element."""
    length = x.shape[axis]
    if abs(by) >= length:
        return x.builder.full(0, ArrayType(x.dtype, x.shape))
    kept = sliced(x, axis, max(by, 0), length + min(by, 0))
    before, after = [0] * x.ndim, [0] * x.ndim
    before[axis], after[axis] = max(-by, 0), max(by, 0)
    return Pad(tuple(before), tuple(after))(kept) if by else x


def _transposed(bands: Var, lower: int, upper: int) -> Var:
    """The bands of the transposed matrix, which has ``upper`` below its diagonal."""
    row_axis, last = bands.ndim - 2, bands.ndim - 2
    rows = [picked(bands, row_axis, lower + upper - r) for r in range(lower + upper + 1)]
    return Stack(row_axis)(*[moved(row, last, r - lower) for r, row in enumerate(rows)])


@register("banded_solution", public=False)
class SolveBanded(Op):
    """Solution with banded matrices, given by their diagonals: ``z = a^-1 b``.

    Shapes: ``lower + upper + 1`` rows, the uppermost diagonal first: ``ab[upper + i - j, j]`` is
    ``a[i, j]``.
    """

    lower: int
    upper: int
    batch = over_stacks

    def infer(self, *types: ArrayType) -> Type:
        """The right-hand sides' shape; stacks are broadcast."""
        bands, b = types
        count = self.lower + self.upper + 1
        if len(bands.shape) < 2 or bands.shape[-2] != count:
            raise ShapeMismatch(f"solve_banded needs {count} rows of diagonals, got {bands}")
        if len(b.shape) < 2 or b.shape[-2] != bands.shape[-1]:
            raise ShapeMismatch(
                f"solve_banded needs right-hand sides of {bands.shape[-1]} rows, got {b}"
            )
        if b.dtype.char not in "fdFD":
            raise DtypeMismatch(
                f"solve_banded does not take {b.dtype.name}", hint="astype('float32')"
            )
        batch = broadcast_shapes(bands.shape[:-2], b.shape[:-2])
        return b._replace(shape=(*batch, *b.shape[-2:]))

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Banded LU factorisation."""
        sizes = (self.lower, self.upper)
        solve = xp.scipy_linalg.solve_banded
        return for_each(xp, lambda ab, b: solve(sizes, ab, b, check_finite=False), *operands)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``b_bar = a^-H z_bar``; ``-b_bar z^H`` on the diagonals."""
        bands = operands[0]
        turned = conj(_transposed(bands, self.lower, self.upper))
        b_bar = SolveBanded(self.upper, self.lower)(turned, z_bar)
        z_star, axis = conj(z), z.ndim - 2
        rows = [
            Sum((z.ndim - 1,))(moved(b_bar, axis, r - self.upper) * z_star)
            for r in range(self.lower + self.upper + 1)
        ]
        return -Stack(axis)(*rows), b_bar

    def flops(self, result: Type, *types: ArrayType) -> int:
        """Elimination and substitution."""
        assert isinstance(result, ArrayType)
        width = self.lower + self.upper + 1
        return width * (2 * result.size + types[0].size)
