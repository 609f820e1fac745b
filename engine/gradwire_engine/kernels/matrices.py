"""Small matrices, factorised and solved with in kernels.

Libraries take longer to be called for matrices of up to ``LARGEST`` rows than to compute, and what
calls them cannot be in a loop of machine code. Where a matrix is singular, or not finite where that
decides, the kernel's fault is set: then a library has to say what is wrong with it.
Source: Golub and Van Loan, Matrix Computations (2013), 4.2, for Cholesky's factors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import nan
from typing import TYPE_CHECKING

from gradwire_engine.kernels.form import FLOATS, Affine, For, Step, Value
from gradwire_engine.kernels.matrix_steps import LARGEST, Cells, MatrixSteps, Pivot
from gradwire_engine.kernels.memory import Key
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.linalg.cholesky import Cholesky, Congruence
from gradwire_engine.ops.linalg.determinants import Cofactors, Det, LogAbsDet
from gradwire_engine.ops.linalg.solving import Inv, Solve, SolveTriangular
from gradwire_engine.tape import ArrayType, Type

if TYPE_CHECKING:
    from gradwire_engine.kernels.groups import Group


def is_small_matrix(op: Op, kind: Type, types: Sequence[Type]) -> bool:
    """True if kernels factorise or solve with such matrices by themselves."""
    if type(op) not in _RULES or not isinstance(kind, ArrayType) or not kind.size:
        return False
    return all(is_small(each) and each.dtype == kind.dtype for each in types)  # type: ignore[union-attr]


def is_small(kind: Type) -> bool:
    """True if matrices are of few rows and columns, and of real numbers."""
    if not isinstance(kind, ArrayType) or not kind.size or kind.dtype.char not in FLOATS:
        return False
    return max(kind.shape[-2:]) <= LARGEST


def matrix_steps(group: Group, slot: int) -> list[Step]:
    """The steps that compute a slot of a group."""
    of = MatrixSteps(group, slot)
    return of.stacked(_RULES[type(of.op)](of))


def _identity(cells: Cells, i: Affine, j: Affine) -> Value:
    return cells.apply("where", cells.equal(i, j), cells.constant(1.0), cells.constant(0.0))


def _cholesky(of: MatrixSteps) -> list[Step]:
    """Row by row of the factor's transpose; NaN if a pivot is not positive, as LAPACK's caller."""
    n = of.rows
    u, sums = of.room(n, n), of.room(n)
    cells = of.cells(n, n, kept=1)
    i, j, k = cells.i, cells.j, cells.k
    cells.reduce("sum", sums, cells.apply("multiply", cells.at(u, j, i), cells.at(u, j, k)), i)
    products = cells.nest()
    cells = of.cells(n)
    i, k = cells.i, cells.k

    def rest(row: Affine) -> Value:
        return cells.apply("subtract", cells.operand(0, row, k), cells.at(sums, row))

    square = rest(k)
    is_positive = cells.apply("greater", square, cells.constant(0.0))
    square = cells.apply("where", is_positive, square, cells.constant(nan))
    found = cells.apply("divide", rest(i), cells.apply("sqrt", square))
    cells.store(u, cells.apply("where", cells.beyond(k, i), cells.constant(0.0), found), k, i)
    begun = of.filled(u, lambda at, i, j: at.constant(0.0))

    def turned(at: Cells, i: Affine, j: Affine) -> Value:
        end = at.nowhere._replace(offset=n - 1)
        fails = at.apply("isnan", at.at(u, end, end))
        return at.apply("where", fails, at.constant(nan), at.at(u, j, i))

    passes = For(n, backward=False, nests=(products, cells.nest()))
    return [begun, passes, of.filled(of.result, turned)]


def _congruence(of: MatrixSteps) -> list[Step]:
    """Substituted twice, and made symmetric."""
    n = of.rows
    first, second = of.room(n, n), of.room(n, n)

    def whole(at: Cells, i: Affine, j: Affine) -> Value:
        return at.apply("where", at.beyond(j, i), at.operand(1, j, i), at.operand(1, i, j))

    def upper(at: Cells, i: Affine, j: Affine) -> Value:
        return at.operand(0, j, i)

    def mean(at: Cells, i: Affine, j: Affine) -> Value:
        both = at.apply("add", at.at(second, i, j), at.at(second, j, i))
        return at.apply("multiply", both, at.constant(0.5))

    return [
        of.filled(first, whole),
        of.substituted(first, upper, lower=False),
        of.filled(second, lambda at, i, j: at.at(first, j, i)),
        of.substituted(second, upper, lower=False),
        of.filled(of.result, mean),
    ]


def _triangular(of: MatrixSteps) -> list[Step]:
    op = of.op
    assert isinstance(op, SolveTriangular)

    def matrix(at: Cells, i: Affine, j: Affine) -> Value:
        return at.operand(0, j, i) if op.adjoint else at.operand(0, i, j)

    lower = op.lower != op.adjoint
    begun = of.filled(of.result, lambda at, i, j: at.operand(1, i, j))
    return [begun, of.substituted(of.result, matrix, lower=lower, unit=op.unit)]


def _solve(of: MatrixSteps) -> list[Step]:
    return of.solved(lambda at, i, j: at.operand(1, i, j), of.result)


def _inverse(of: MatrixSteps) -> list[Step]:
    return of.solved(_identity, of.result)


def _determinant(of: MatrixSteps) -> list[Step]:
    w = of.room(of.rows, of.rows)
    copied = of.filled(w, lambda at, i, j: at.operand(0, i, j))
    return [copied, of.number(of.result, 1.0), of.eliminated(w, _multiplied(of.result))]


def _log_determinant(of: MatrixSteps) -> list[Step]:
    w = of.room(of.rows, of.rows)

    def add(at: Cells, pivot: Value, _: Value) -> None:
        more = at.apply("log", at.apply("fabs", pivot))
        at.store(of.result, at.apply("add", at.at(of.result), more))

    copied = of.filled(w, lambda at, i, j: at.operand(0, i, j))
    return [copied, of.number(of.result, 0.0), of.eliminated(w, add)]


def _multiplied(z: Key) -> Pivot:
    """Pivots multiplied into ``z``, negative where rows change places."""

    def multiply(at: Cells, pivot: Value, stays: Value) -> None:
        signed = at.apply("where", stays, pivot, at.apply("negative", pivot))
        at.store(z, at.apply("multiply", at.at(z), signed))

    return multiply


def _cofactors(of: MatrixSteps) -> list[Step]:
    """``det(a) a^-T``, of one elimination."""
    inverse, determinant = of.room(of.rows, of.rows), of.room()

    def turned(at: Cells, i: Affine, j: Affine) -> Value:
        return at.apply("multiply", at.at(determinant), at.at(inverse, j, i))

    solved = of.solved(_identity, inverse, _multiplied(determinant))
    return [of.number(determinant, 1.0), *solved, of.filled(of.result, turned)]


_RULES: dict[type[Op], Callable[[MatrixSteps], list[Step]]] = {
    Cholesky: _cholesky,
    Congruence: _congruence,
    SolveTriangular: _triangular,
    Solve: _solve,
    Inv: _inverse,
    Det: _determinant,
    LogAbsDet: _log_determinant,
    Cofactors: _cofactors,
}
