"""Arrays of indices: of triangles, diagonals and grids, one index for all axes or one for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.errors import DtypeMismatch, OverBudget
from gradwire_engine.ops.arrays.diagonals import nearest_offset
from gradwire_engine.ops.arrays.shape import reshape
from gradwire_engine.ops.axes import integer, lengths
from gradwire_engine.ops.base import Static, macro
from gradwire_engine.ops.promotion import DTYPES
from gradwire_engine.tape import ArrayType

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


def _triangle(b: Builder, n: Any, k: Any, m: Any, *, lower: bool) -> tuple[Var, Var]:
    rows, columns = lengths((n, n if m is None else m), "n and m")
    offset = nearest_offset(integer(k, "k"), (rows, columns))
    b.afford(ArrayType(DTYPES["int64"], (4, rows)))
    ends = (np.arange(rows) + offset + lower).clip(0, columns)  # of each row's lower part
    totals = np.cumsum(ends if lower else columns - ends)
    shape = (int(totals[-1]) if rows else 0,)

    def row(at: Any) -> Any:
        return np.searchsorted(totals, at, "right")

    def column(at: Any) -> Any:
        own = row(at)
        return at - totals[own] + (ends[own] if lower else columns)

    return b.table(shape, row), b.table(shape, column)


@macro("tril_indices", differentiable=False)
def tril_indices(b: Builder, n: Static, k: Static = 0, m: Static = None) -> Any:
    """A tuple of the rows and the columns of what ``tril`` keeps of an ``n`` by ``m`` matrix."""
    return _triangle(b, n, k, m, lower=True)


@macro("triu_indices", differentiable=False)
def triu_indices(b: Builder, n: Static, k: Static = 0, m: Static = None) -> Any:
    """A tuple of the rows and the columns of what ``triu`` keeps of an ``n`` by ``m`` matrix."""
    return _triangle(b, n, k, m, lower=False)


@macro("diag_indices", differentiable=False)
def diag_indices(b: Builder, n: Static, ndim: Static = 2) -> Any:
    """A tuple of ``ndim`` equal arrays: the indices along the diagonal of a cube of side ``n``."""
    side, axes = lengths((n, ndim), "n and ndim")
    if axes > b.limits.instructions:
        raise OverBudget(f"diag_indices would be a tuple of {axes} arrays")
    return (b.numbers(side),) * axes


@macro("indices", differentiable=False)
def indices(b: Builder, dimensions: Static) -> Any:
    """Each element's own index in an array of shape ``dimensions``, the axes' indices first."""
    shape = lengths(dimensions, "dimensions")
    return b.table(
        (len(shape), *shape),
        lambda axis, *at: sum([(axis == i) * place for i, place in enumerate(at)]),
    )


@macro("ix_", differentiable=False)
def ix_(b: Builder, *args: Any) -> Any:
    """A tuple of index vectors, each along an axis of its own, that take every combination."""
    vectors = [b.array(x) for x in args]
    if any(v.ndim != 1 or v.dtype.kind not in "iu" for v in vectors):
        raise DtypeMismatch("ix_ needs vectors of integers", hint="nonzero makes them of masks")
    count = len(vectors)
    return tuple(
        [
            reshape(v, tuple([v.shape[0] if i == axis else 1 for i in range(count)]))
            for axis, v in enumerate(vectors)
        ]
    )
