"""PyTorch's LU factorisations: both triangles in one matrix, and the swaps of its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.torch.matrices import conjugate_transpose
from gradwire_engine.dialects.torch.names import TORCH
from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.axes import flag
from gradwire_engine.ops.base import Static
from gradwire_engine.ops.linalg.pivoting import OrderOfSwaps, SwapsOfOrder

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


def _pivoted(pivot: Any) -> None:
    if not flag(pivot, "pivot"):
        raise BadArgument("rows are permuted for the largest pivots", hint="leave pivot out")


@TORCH.macro("linalg.lu")
def lu(b: Builder, A: Any, *, pivot: Static = True) -> Any:
    """A list of a permutation, a unit lower and an upper triangular matrix: ``A = p l u``."""
    _pivoted(pivot)
    return recorded("lu")(b, A)


@TORCH.macro("linalg.lu_factor")
def lu_factor(b: Builder, A: Any, *, pivot: Static = True) -> Any:
    """A list of both triangles of ``P L U`` in one matrix, and of the swaps of its rows.

    Row ``i`` was exchanged with row ``pivots[i]``, counted from 1, one after the other.
    """
    _pivoted(pivot)
    p, lower, upper = recorded("lu")(b, A)
    rows, columns, count = p.shape[-1], upper.shape[-1], lower.shape[-1]
    left, stacks = recorded("tril")(b, lower, -1), [(0, 0)] * (p.ndim - 2)
    below = recorded("pad")(b, left, [*stacks, (0, 0), (0, columns - count)])
    above = recorded("pad")(b, upper, [*stacks, (0, rows - count), (0, 0)])
    numbers = recorded("arange")(b, rows, dtype=p.dtype)
    order = recorded("matmul")(b, recorded("matrix_transpose")(b, p), numbers)
    return [below + above, SwapsOfOrder(count)(recorded("astype")(b, order, "int64"))]


def _order(b: Builder, packed: Any, pivots: Any) -> tuple[Var, Var]:
    """Both triangles, and the order of the rows that ``pivots`` exchange."""
    both, swaps = b.inexact(packed), b.array(pivots)
    if both.ndim < 2 or not swaps.ndim or swaps.shape[-1] != min(both.shape[-2:]):
        raise ShapeMismatch(f"{both.type} needs a pivot for each of its diagonal, got {swaps.type}")
    return both, OrderOfSwaps(both.shape[-2])(swaps)


@TORCH.macro("lu_unpack")
def lu_unpack(
    b: Builder,
    LU_data: Any,
    LU_pivots: Any,
    unpack_data: Static = True,
    unpack_pivots: Static = True,
) -> Any:
    """A list of ``p``, ``l`` and ``u`` from what lu_factor gives; what is not unpacked is empty."""
    packed, order = _order(b, LU_data, LU_pivots)
    rows, columns = packed.shape[-2:]
    empty = recorded("zeros")(b, (0,), packed.dtype)
    p = lower = upper = empty
    if flag(unpack_pivots, "unpack_pivots"):
        numbers = recorded("expand_dims")(b, recorded("arange")(b, rows), -1)
        chosen = recorded("equal")(b, numbers, recorded("expand_dims")(b, order, -2))
        p = recorded("astype")(b, chosen, packed.dtype)
    if flag(unpack_data, "unpack_data"):
        count = min(rows, columns)
        left, top = (recorded("split")(b, packed, [count], axis)[0] for axis in (-1, -2))
        unit = recorded("eye")(b, rows, count, dtype=packed.dtype)
        lower, upper = recorded("tril")(b, left, -1) + unit, recorded("triu")(b, top)
    return [p, lower, upper]


@TORCH.macro("linalg.lu_solve")
def lu_solve(
    b: Builder,
    LU: Any,
    pivots: Any,
    B: Any,
    *,
    left: Static = True,
    adjoint: Static = False,
) -> Any:
    """Solution ``z`` of ``A z = B``, or of ``z A = B``, from what lu_factor gives of ``A``.

    ``adjoint`` takes the conjugate transpose of ``A``.
    """
    factors, conjugated = _order(b, LU, pivots), flag(adjoint, "adjoint")
    if flag(left, "left"):
        return recorded("lu_solve")(b, factors, B, 2 if conjugated else 0)
    # z A = B is A^H z^H = B^H
    turned = conjugate_transpose(b, B)
    z = recorded("lu_solve")(b, factors, turned, 0 if conjugated else 2)
    return conjugate_transpose(b, z)


@TORCH.macro("lu_solve")
def solved_by_lu(bld: Builder, b: Any, LU_data: Any, LU_pivots: Any) -> Any:
    """Solution ``z`` of ``A z = b`` from what lu gives of ``A``."""
    return lu_solve(bld, LU_data, LU_pivots, b)
