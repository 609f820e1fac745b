"""Jacobians: pullbacks for all elements of the target, or pushforwards for all of the source."""

from __future__ import annotations

from collections.abc import Sequence

from gradwire_engine.answer import Mode
from gradwire_engine.autodiff.reverse import pullback
from gradwire_engine.batching.batch import batch
from gradwire_engine.errors import OverBudget
from gradwire_engine.ops.arrays.diagonals import OnDiagonal
from gradwire_engine.ops.arrays.joining import Concatenate
from gradwire_engine.ops.arrays.shape import reshape, transpose
from gradwire_engine.ops.arrays.slicing import array_split
from gradwire_engine.ops.builder import Builder, Var
from gradwire_engine.ops.constants import Copy
from gradwire_engine.tape import ArrayType

#: Size up to which the largest intermediate result may grow to take many products at once.
_AT_ONCE_BYTES = 2**26


def jacobian(
    b: Builder, target: Var, sources: Sequence[Var], mode: Mode = "auto"
) -> list[Var | None]:
    """``J_s = ∂ target / ∂ s`` for each source, of shape ``target.shape + s.shape``.

    By rows in reverse mode, by columns in forward mode, of ``auto`` the fewer. None without a path.
    Of complex numbers always by rows, which are gradients: a column would be the derivative along
    the real axis alone.
    Raises: ``OverBudget`` with the size where it would be too large.
    """
    columns = sum(source.type.size for source in sources)
    nbytes = target.type.size * columns * target.dtype.itemsize
    if nbytes > b.limits.array_bytes:
        raise OverBudget(
            f"the Jacobian would be {target.type.size} by {columns}: {nbytes:,} bytes, "
            f"more than the {b.limits.array_bytes:,} allowed",
            hint="differentiate a part of it, or take products with jvp and grad",
        )
    if not target.type.differentiable:
        return [None] * len(sources)
    by_rows = target.type.size <= columns if mode == "auto" else mode == "reverse"
    if by_rows or any(var.dtype.kind == "c" for var in (target, *sources)):
        return _rows(b, target, sources)
    return _columns(b, target, sources)


def _rows(b: Builder, target: Var, sources: Sequence[Var]) -> list[Var | None]:
    """Reverse mode: a row for each element of the target."""
    seed = stand_in(target)
    bars = pullback(b, [target], [seed], sources)
    return [
        None if rows is None else reshape(rows, (*target.shape, *source.shape))
        for rows, source in zip(_for_units(bars, seed), sources, strict=True)
    ]


def _columns(b: Builder, target: Var, sources: Sequence[Var]) -> list[Var | None]:
    """Forward mode, the transpose of the pullback: a column for each element of a source."""
    seed = stand_in(target)
    bars = pullback(b, [target], [seed], sources)
    found: list[Var | None] = []
    for source, bar in zip(sources, bars, strict=True):
        dot = stand_in(source)
        tangents = [None] if bar is None else pullback(b, [bar], [dot], [seed])
        (columns,) = _for_units(tangents, dot)
        if columns is not None:
            ahead, ndim = source.ndim, source.ndim + target.ndim
            columns = reshape(columns, (*source.shape, *target.shape))
            columns = transpose(columns, (*range(ahead, ndim), *range(ahead)))
            columns = b.cast(columns, source.dtype)  # as a row's, which is a gradient
        found.append(columns)
    return found


def stand_in(like: Var) -> Var:
    """A variable of its own to differentiate for, with the type of ``like``."""
    return Copy()(like.builder.full(1, ArrayType(like.dtype, like.shape)))


def _for_units(products: Sequence[Var | None], seed: Var) -> list[Var | None]:
    """``products``, recorded for ``seed``, for each one among zeros: a single one is the seed."""
    if seed.type.size != 1:
        return for_seeds(products, seed, _units(seed))
    return [None if x is None else reshape(x, (1, *x.shape)) for x in products]


def _units(like: Var) -> Var:
    """All arrays like ``like`` with a one and zeros, each flat."""
    size = like.type.size
    return OnDiagonal(size, size, 0)(like.builder.full(1, ArrayType(like.dtype, (size,))))


def for_seeds(products: Sequence[Var | None], seed: Var, seeds: Var) -> list[Var | None]:
    """``products``, recorded for ``seed``, for all rows of ``seeds`` in its shape: stacked.

    As many at once as fit in some memory.
    """
    b, size = seed.builder, seeds.shape[0]
    present = [product for product in products if product is not None]
    if not present:
        return [*products]
    last = max(product.slot for product in present)
    largest = max([1, *[i.type.nbytes for i in b.instructions[seed.slot : last + 1]]])
    count = min(size, max(1, _AT_ONCE_BYTES // largest))
    parts = [
        batch(b, present, {seed: reshape(part, (part.shape[0], *seed.shape))})
        for part in array_split(b, seeds, -(-size // count) if size else 1)
    ]
    joined = iter([x[0] if len(x) == 1 else Concatenate(0)(*x) for x in zip(*parts, strict=True)])
    return [None if product is None else next(joined) for product in products]
