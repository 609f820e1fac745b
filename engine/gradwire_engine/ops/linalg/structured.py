"""Matrices of a structure: banded, block diagonal, constant along diagonals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument, DtypeMismatch, ShapeMismatch
from gradwire_engine.ops.arrays.indexing import take
from gradwire_engine.ops.arrays.joining import Concatenate, Stack
from gradwire_engine.ops.arrays.rearranging import Flip
from gradwire_engine.ops.arrays.shape import unsqueeze
from gradwire_engine.ops.arrays.slicing import Pad, picked, sliced
from gradwire_engine.ops.axes import integers
from gradwire_engine.ops.base import Cotangents, Op, Static, macro, register
from gradwire_engine.ops.batching import over_stacks
from gradwire_engine.ops.conversion import floating
from gradwire_engine.ops.elementwise import broadcast_shapes, conj
from gradwire_engine.ops.linalg.matrix_functions import for_each
from gradwire_engine.ops.linalg.products import squeezed
from gradwire_engine.ops.reductions.reductions import Sum
from gradwire_engine.tape import ArrayType, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


def _moved(x: Var, axis: int, by: int) -> Var:
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
    return Stack(row_axis)(*[_moved(row, last, r - lower) for r, row in enumerate(rows)])


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
            Sum((z.ndim - 1,))(_moved(b_bar, axis, r - self.upper) * z_star)
            for r in range(self.lower + self.upper + 1)
        ]
        return -Stack(axis)(*rows), b_bar

    def flops(self, result: Type, *types: ArrayType) -> int:
        """Elimination and substitution."""
        assert isinstance(result, ArrayType)
        width = self.lower + self.upper + 1
        return width * (2 * result.size + types[0].size)


def _solved(op: SolveBanded, bands: Var, b: Var) -> Var:
    return squeezed(op(bands, unsqueeze(b, (1,))), -1) if b.ndim == 1 else op(bands, b)


@macro("solve_banded", "linalg.solve_banded")
def solve_banded(builder: Builder, l_and_u: Static, ab: Any, b: Any) -> Any:
    """Solution of ``a z = b`` with a matrix given by ``l`` diagonals below its own and ``u`` above.

    Shapes: ``ab`` has a row for each diagonal, the uppermost first: ``ab[u + i - j, j]`` is
    ``a[i, j]``; the elements beyond the ends are not read.
    """
    pair = integers(l_and_u, "l_and_u")
    if len(pair) != 2 or min(pair) < 0:
        raise BadArgument("solve_banded needs a pair: how many diagonals below, how many above")
    bands, right = (floating(builder, x) for x in builder.promote(ab, b))
    return _solved(SolveBanded(*pair), bands, right)


@macro("tridiagonal_solve", "linalg.tridiagonal_solve")
def tridiagonal_solve(builder: Builder, dl: Any, d: Any, du: Any, b: Any) -> Any:
    """Solution of ``a z = b`` with the diagonals ``dl``, ``d``, ``du``, all of one length.

    ``a[i, i - 1] = dl[i]`` and ``a[i, i + 1] = du[i]``; ``dl[0]`` and ``du[-1]`` are not read.
    """
    below, middle, above, right = (floating(builder, x) for x in builder.promote(dl, d, du, b))
    if not below.shape == middle.shape == above.shape or not middle.ndim:
        raise ShapeMismatch(
            "tridiagonal_solve needs diagonals of one shape, "
            f"got {below.shape}, {middle.shape}, {above.shape}"
        )
    last = middle.ndim - 1
    bands = Stack(last)(_moved(above, last, -1), middle, _moved(below, last, 1))
    return _solved(SolveBanded(1, 1), bands, right)


@macro("block_diag", "linalg.block_diag")
def block_diag(b: Builder, *arrs: Any) -> Any:
    """The matrix with the given ones along its diagonal, else zeros; vectors are rows."""
    if not arrs:
        raise BadArgument("block_diag needs at least one matrix")
    parts = b.promote(*arrs)
    if any(x.ndim > 2 for x in parts):
        raise ShapeMismatch("block_diag takes matrices of at most 2 axes")
    parts = [unsqueeze(x, tuple(range(2 - x.ndim))) if x.ndim < 2 else x for x in parts]
    width, before, rows = sum(x.shape[1] for x in parts), 0, []
    for x in parts:
        rows.append(Pad((0, before), (0, width - before - x.shape[1]))(x))
        before += x.shape[1]
    return Concatenate(0)(*rows)


@macro("toeplitz", "linalg.toeplitz")
def toeplitz(b: Builder, c: Any, r: Any = None) -> Any:
    """The matrix that is constant along diagonals: first column ``c``, first row ``r``.

    ``r[0]`` is not read; ``r`` is the conjugate of ``c`` by default.  Shapes: vectors along the
    last axis.
    """
    column, row = b.promote(c, c if r is None else r)
    row = conj(row) if r is None else row
    ranked = column.ndim and row.ndim
    if not ranked or column.shape[:-1] != row.shape[:-1] or not row.shape[-1]:
        raise ShapeMismatch(f"toeplitz needs two vectors, got {column.type} and {row.type}")
    last, m, n = column.ndim - 1, column.shape[-1], row.shape[-1]
    ends = Flip((last,))(sliced(row, last, 1, n)) if n > 1 else None
    line = column if ends is None else Concatenate(last)(ends, column)
    return take(b, line, b.table((m, n), lambda i, j: n - 1 + i - j), last)


@macro("circulant", "linalg.circulant")
def circulant(b: Builder, c: Any) -> Any:
    """The matrix whose columns are ``c`` moved on around its end: ``z_ij = c_(i - j) mod n``."""
    x = b.array(c)
    if not x.ndim:
        raise ShapeMismatch(f"circulant needs a vector, got {x.type}")
    n = x.shape[-1]
    return take(b, x, b.table((n, n), lambda i, j: (i - j) % n), x.ndim - 1)


@macro("hankel", "linalg.hankel")
def hankel(b: Builder, c: Any, r: Any = None) -> Any:
    """The matrix that is constant along rising diagonals: first column ``c``, last row ``r``.

    ``r[0]`` is not read; ``r`` is zero by default.
    """
    column = b.array(c)
    column, row = b.promote(column, b.full(0, column.type) if r is None else r)
    if column.ndim != 1 or row.ndim != 1 or not row.shape[0]:
        raise ShapeMismatch(f"hankel needs two vectors, got {column.type} and {row.type}")
    m, n = column.shape[0], row.shape[0]
    line = Concatenate(0)(column, sliced(row, 0, 1, n))
    return take(b, line, b.table((m, n), lambda i, j: i + j), 0)
