"""TensorFlow's matrices given by diagonals, tridiagonal ones among them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.tensorflow.names import TF
from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.arrays.diagonals import MatrixDiagonal, OnDiagonal, diagonal_length
from gradwire_engine.ops.axes import choice, flag, integer, integers
from gradwire_engine.ops.base import Static
from gradwire_engine.ops.conversion import floating
from gradwire_engine.ops.elementwise import BOOL
from gradwire_engine.ops.sequences.cumulative import shifted

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var

_ALIGNMENTS = ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")


@TF.macro("linalg.diag_part")
def diag_part(
    b: Builder,
    input: Any,
    *,
    k: Static = 0,
    padding_value: Any = 0,
    align: Static = "RIGHT_LEFT",
) -> Any:
    """Diagonal ``k`` of each matrix, or those of a pair (lowest, highest) as rows, from the highest
    on.

    Shorter ones are filled up with ``padding_value``; ``align`` says at which end those above the
    main diagonal stand, and those below it.
    """
    x = b.array(input)
    low, high = _band(k)
    _check_matrices(x)
    if low == high:
        return MatrixDiagonal(low)(x)
    rows, columns = x.shape[-2:]
    most = _longest(low, high, rows, columns)
    parts = []
    for offset in range(high, low - 1, -1):
        missing = most - diagonal_length(rows, columns, offset)
        pair = (missing, 0) if _at_right(align, offset) else (0, missing)
        widths = [*[(0, 0)] * (x.ndim - 2), pair]
        parts.append(
            recorded("pad")(b, MatrixDiagonal(offset)(x), widths, constant_values=padding_value)
        )
    return recorded("stack")(b, parts, -2)


@TF.macro("linalg.diag")
def diag(
    b: Builder,
    diagonal: Any,
    *,
    k: Static = 0,
    num_rows: Static = -1,
    num_cols: Static = -1,
    padding_value: Any = 0,
    align: Static = "RIGHT_LEFT",
) -> Any:
    """Matrices with the last axis of ``diagonal`` on diagonal ``k``, or with its rows on those of a
    pair (lowest, highest), from the highest on; elsewhere ``padding_value``.
    """
    x = b.array(diagonal)
    low, high = _band(k)
    if not x.ndim:
        raise ShapeMismatch("diag needs a diagonal, got a number")
    least = x.shape[-1] - min(high, 0), x.shape[-1] + max(low, 0)
    rows, columns = integer(num_rows, "num_rows"), integer(num_cols, "num_cols")
    if rows == columns == -1:
        rows = columns = max(least)
    shape = (least[0] if rows == -1 else rows, least[1] if columns == -1 else columns)
    z = _placed(x, low, high, shape, align)
    if isinstance(padding_value, int | float) and not padding_value:
        return z
    return recorded("where")(b, _inside(b, low, high, shape), z, padding_value)


@TF.macro("linalg.set_diag")
def set_diag(
    b: Builder,
    input: Any,
    diagonal: Any,
    *,
    k: Static = 0,
    align: Static = "RIGHT_LEFT",
) -> Any:
    """Each matrix with diagonal ``k``, or those of a pair (lowest, highest), replaced."""
    x, values = b.promote(input, diagonal)
    low, high = _band(k)
    _check_matrices(x)
    shape = x.shape[-2:]
    return recorded("where")(
        b, _inside(b, low, high, shape), _placed(values, low, high, shape, align), x
    )


def _check_matrices(x: Var) -> None:
    if x.ndim < 2:
        raise ShapeMismatch(f"matrices in the last two axes are needed, got {x.type}")


def _band(k: Any) -> tuple[int, int]:
    pair = integers(k, "k")
    if len(pair) not in (1, 2) or pair[0] > pair[-1]:
        raise BadArgument("k is the number of a diagonal, or a pair: the lowest and the highest")
    return pair[0], pair[-1]


def _longest(low: int, high: int, rows: int, columns: int) -> int:
    return min(rows + min(high, 0), columns - max(low, 0))


def _at_right(align: Any, offset: int) -> bool:
    above, below = choice(align, _ALIGNMENTS, "align").split("_")
    ends = [end for end, chosen in ((above, offset >= 0), (below, offset <= 0)) if chosen]
    return "LEFT" not in ends


def _placed(x: Var, low: int, high: int, shape: tuple[int, ...], align: Any) -> Var:
    """Zeros of ``shape`` but for the diagonals, which are the rows of ``x``."""
    b, (rows, columns) = x.builder, shape
    most = _longest(low, high, rows, columns)
    single = low == high
    if x.shape[-1:] != (most,) or not (single or x.shape[-2:-1] == (high - low + 1,)):
        raise ShapeMismatch(
            f"{high - low + 1} diagonals of {rows} x {columns} have length {most}, got {x.type}"
        )
    parts = [x] if single else recorded("unstack")(b, x, -2)
    total: Any = None
    for offset, part in zip(range(high, low - 1, -1), parts, strict=True):
        length = diagonal_length(rows, columns, offset)
        first = most - length if _at_right(align, offset) else 0
        kept = recorded("split")(b, part, [first, first + length], -1)[1]
        z = OnDiagonal(rows, columns, offset)(kept)
        total = z if total is None else total + z
    found: Var = total
    return found


def _inside(b: Builder, low: int, high: int, shape: tuple[int, ...]) -> Var:
    return b.table(shape, lambda i, j: (low <= j - i) & (j - i <= high), BOOL)


@TF.macro("linalg.tensor_diag_part")
def tensor_diag_part(b: Builder, input: Any) -> Any:
    """Elements where the indices of the first half of the axes are those of the second."""
    x = b.array(input)
    half = x.shape[: x.ndim // 2]
    if x.shape != half * 2:
        raise ShapeMismatch(f"tensor_diag_part needs the same axes twice, got {x.type}")
    size = int(np.prod(half))
    return recorded("reshape")(b, MatrixDiagonal(0)(recorded("reshape")(b, x, (size, size))), half)


def _tridiagonal(b: Builder, diagonals: Any, form: Any) -> list[Var]:
    """The diagonals below, on and above the main one, of one length each."""
    if form == "compact":
        x = b.array(diagonals)
        if x.shape[-2:-1] != (3,):
            raise ShapeMismatch(f"three rows of diagonals are needed, got {x.type}")
        above, middle, below = recorded("unstack")(b, x, -2)
        return [below, middle, above]
    if form == "matrix":
        x = b.array(diagonals)
        above, middle, below = (MatrixDiagonal(offset)(x) for offset in (1, 0, -1))
    elif form == "sequence" and isinstance(diagonals, list | tuple) and len(diagonals) == 3:
        above, middle, below = b.promote(*diagonals)
    else:
        raise BadArgument("diagonals_format is 'compact', 'matrix', or 'sequence' of three")
    rest = [(0, 0)] * (middle.ndim - 1)
    if above.shape[-1] < middle.shape[-1]:
        above = recorded("pad")(b, above, [*rest, (0, 1)])
    if below.shape[-1] < middle.shape[-1]:
        below = recorded("pad")(b, below, [*rest, (1, 0)])
    return [below, middle, above]


@TF.macro("linalg.tridiagonal_solve")
def tridiagonal_solve(
    b: Builder,
    diagonals: Any,
    rhs: Any,
    diagonals_format: Static = "compact",
    transpose_rhs: Static = False,
    conjugate_rhs: Static = False,
    partial_pivoting: Static = True,
    perturb_singular: Static = False,
) -> Any:
    """Solution of ``a z = rhs``, pivoted, with tridiagonal matrices given by the rows above, on and
    below the diagonal, by a list of these ("sequence"), or whole ("matrix").
    """
    parts = [floating(b, part) for part in _tridiagonal(b, diagonals, diagonals_format)]
    right = floating(b, rhs)
    if flag(perturb_singular, "perturb_singular"):
        raise BadArgument("tridiagonal_solve does not perturb singular matrices")
    if flag(conjugate_rhs, "conjugate_rhs"):
        right = recorded("conj")(b, right)
    if right.ndim == parts[1].ndim:
        column = recorded("expand_dims")(b, right, -1)
        return recorded("squeeze")(b, recorded("tridiagonal_solve")(b, *parts, column), -1)
    if flag(transpose_rhs, "transpose_rhs"):
        right = recorded("matrix_transpose")(b, right)
    return recorded("tridiagonal_solve")(b, *parts, right)


@TF.macro("linalg.tridiagonal_matmul")
def tridiagonal_matmul(
    b: Builder, diagonals: Any, rhs: Any, diagonals_format: Static = "compact"
) -> Any:
    """Product ``z = a rhs`` with tridiagonal matrices, given as for ``tridiagonal_solve``."""
    x, *parts = b.promote(rhs, *_tridiagonal(b, diagonals, diagonals_format))
    below, middle, above = (recorded("expand_dims")(b, part, -1) for part in parts)
    rows = x.ndim - 2
    following = recorded("flip")(b, shifted(recorded("flip")(b, x, rows), rows, 0), rows)
    return below * shifted(x, rows, 0) + middle * x + above * following


@TF.macro("linalg.eigh_tridiagonal")
def eigh_tridiagonal(b: Builder, alpha: Any, beta: Any, eigvals_only: Static = True) -> Any:
    """Ascending eigenvalues, and eigenvectors, of the Hermitian matrix with the diagonal ``alpha``
    and ``beta`` below it.
    """
    middle, below = b.promote(alpha, beta)
    if not middle.ndim:
        raise ShapeMismatch(f"eigh_tridiagonal needs a diagonal, got {middle.type}")
    rows = middle.shape[-1]
    expected = (*middle.shape[:-1], max(rows - 1, 0))
    if below.shape != expected:
        raise ShapeMismatch(f"eigh_tridiagonal needs beta of shape {expected}, got {below.type}")
    a = OnDiagonal(rows, rows, 0)(middle) + OnDiagonal(rows, rows, -1)(below)
    return recorded("eigvalsh" if flag(eigvals_only, "eigvals_only") else "eigh")(b, a)
