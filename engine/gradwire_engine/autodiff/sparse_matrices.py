"""Sparse Jacobians and Hessians: a few products for colours, from which all nonzeros are read.

Source: Gebremedhin, Manne and Pothen, What Color Is Your Jacobian? (2005), direct methods.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from gradwire_engine.answer import Mode
from gradwire_engine.autodiff.coloring import Colors, color_columns, color_symmetric
from gradwire_engine.autodiff.forward import pushforward
from gradwire_engine.autodiff.known import Known
from gradwire_engine.autodiff.matrices import for_seeds, stand_in
from gradwire_engine.autodiff.reverse import gradient, pullback
from gradwire_engine.autodiff.sparsity import Indices, Pattern, afford, distinct, sparsity
from gradwire_engine.errors import OverBudget
from gradwire_engine.ops.arrays.indexing import GetItem
from gradwire_engine.ops.arrays.joining import Concatenate
from gradwire_engine.ops.arrays.shape import reshape
from gradwire_engine.ops.builder import Builder, Var
from gradwire_engine.ops.composites import Sparse
from gradwire_engine.ops.patterns import ARRAY
from gradwire_engine.ops.promotion import DTYPES
from gradwire_engine.tape import ArrayType, Shape

#: So many numbers, of 8 bytes, are kept of each row and column while they are coloured.
_COLORING = 12


class Nonzeros(NamedTuple):
    """A sparse matrix: where its elements may differ from zero, row by row, and their values."""

    pattern: Pattern
    values: Var


def sparse_jacobian(
    b: Builder, target: Var, source: Var, mode: Mode = "auto", known: Known | None = None
) -> Nonzeros | None:
    """The nonzeros of ``∂ target / ∂ source``, both in row-major order; None without a path.

    Costs a product for each colour of the columns, in forward mode, or of the rows, in reverse
    mode, all recorded at once; ``auto`` takes the fewer, and complex numbers always have rows.
    Raises: ``OverBudget`` where the pattern or the products would be too large.
    """
    if not (target.type.differentiable and source.type.differentiable):
        return None
    pattern = sparsity(b, target, source, known)
    _afford_colors(b, pattern)
    rows, columns, (height, width) = pattern
    if "c" in (target.dtype.kind, source.dtype.kind):
        mode = "reverse"
    options: dict[Mode, Pattern] = {
        "reverse": Pattern(columns, rows, (width, height)),
        "forward": pattern,
    }
    mode, colors = _fewest(b, {m: p for m, p in options.items() if mode in ("auto", m)})
    if mode == "forward":
        seed, lines, places = stand_in(source), columns, rows
        (product,) = pushforward(b, [target], [source], [seed])
    else:
        seed, lines, places = stand_in(target), rows, columns
        (product,) = pullback(b, [target], [seed], [source])
    if product is None:
        return None
    values = _read(_compressed(product, seed, colors), colors[lines], places)
    return Nonzeros(pattern, b.cast(values, source.dtype))  # as a row's, which is a gradient


def sparse_hessian(
    b: Builder, target: Var, source: Var, known: Known | None = None
) -> Nonzeros | None:
    """The nonzeros of the second derivatives of the sum of ``target``; None without a path.

    Both of each symmetric pair are among them, read from one product for each colour of a star
    colouring. The block of two sources is the Jacobian in one of the gradient in the other.
    Raises: ``OverBudget`` as for Jacobians.
    """
    (bar,) = gradient(b, [target], [source])
    if bar is None:
        return None
    if source.dtype.kind == "c":  # what reverse mode gives is not symmetric then
        return sparse_jacobian(b, bar, source, known=known)
    pattern = sparsity(b, bar, source, known)
    _afford_colors(b, pattern, 2)
    pattern = _symmetric(pattern)
    _afford_colors(b, pattern)
    colors = color_symmetric(pattern, b.poll)
    seed = stand_in(bar)
    (product,) = pullback(b, [bar], [seed], [source])
    if product is None:
        return None
    compressed = _compressed(product, seed, colors)
    rows, columns, _ = pattern
    # Of two neighbours, one has no other neighbour of the other's colour: its row tells.
    pairs = rows * _count(colors) + colors[columns]
    alone = np.bincount(pairs)[pairs] == 1
    places, others = np.where(alone, rows, columns), np.where(alone, columns, rows)
    return Nonzeros(pattern, _read(compressed, colors[others], places))


def coordinates(parts: Sequence[Nonzeros], target: Var, source: Var) -> Sparse:
    """The sum of ``parts``, of shape ``target.shape + source.shape``; places may repeat."""
    b, shape = source.builder, (*target.shape, *source.shape)
    count = sum([pattern.rows.size for pattern, _ in parts])
    b.afford(*[ArrayType(DTYPES["int64"], (count, len(shape)))] * 3)
    indices = [np.zeros((0, len(shape)), np.int64)]
    for (rows, columns, _), _ in parts:
        places = [_unraveled(rows, target), _unraveled(columns, source)]
        indices.append(np.concatenate(places, axis=-1))
    values = [part.values for part in parts] or [b.full(0, ArrayType(source.dtype, (0,)))]
    found = values[0] if len(values) == 1 else Concatenate(0)(*values)
    return Sparse({"indices": b.constant(np.concatenate(indices)), "values": found}, shape)


def _unraveled(places: Indices, like: Var) -> Indices:
    """A row of indices for each place in row-major order."""
    found = np.unravel_index(places, like.shape) if like.ndim else ()
    return np.array(found, np.int64).reshape(like.ndim, len(places)).T


def _symmetric(pattern: Pattern) -> Pattern:
    """The pattern with each pair in both orders."""
    rows, columns, (size, _) = pattern
    pairs = distinct(np.concatenate([rows * size + columns, columns * size + rows]))
    return Pattern(*np.divmod(pairs, max(size, 1)), pattern.shape)


def _count(colors: Colors) -> int:
    return int(colors.max(initial=0)) + 1


def _fewest(b: Builder, options: Mapping[Mode, Pattern]) -> tuple[Mode, Colors]:
    """The mode of fewest colours, and those; there are as many as the longest row has nonzeros."""
    least = {mode: int(np.bincount(p.rows).max(initial=1)) for mode, p in options.items()}
    found: list[tuple[int, Mode, Colors]] = []
    for mode in sorted(options, key=least.__getitem__):
        if not found or least[mode] < found[0][0]:
            _check_products(b, least[mode], options[mode].shape)
            colors = color_columns(options[mode], b.poll)
            found.append((_count(colors), mode, colors))
    _, mode, colors = min(found, key=itemgetter(0))
    return mode, colors


def _afford_colors(b: Builder, pattern: Pattern, times: int = 1) -> None:
    """Refuse to colour a pattern with so many ``times`` the pairs, if there is no room for it."""
    afford(b, times * pattern.rows.size, [sum(pattern.shape)] * _COLORING)


def _check_products(b: Builder, count: int, shape: Shape) -> None:
    """Refuse more products than fit."""
    nbytes = count * max(shape) * np.dtype(float).itemsize
    if nbytes > b.limits.array_bytes:
        raise OverBudget(
            f"a derivative of {shape[0]} by {shape[1]} needs {count} products: {nbytes:,} bytes, "
            f"more than the {b.limits.array_bytes:,} allowed",
            hint="take products with jvp and grad",
        )


def _compressed(product: Var, seed: Var, colors: Colors) -> Var:
    """A row for each colour: ``product`` for the sum of the unit vectors of that colour."""
    b, count = seed.builder, _count(colors)
    _check_products(b, count, (product.type.size, seed.type.size))
    shape = (count, seed.type.size)
    units = b.table(shape, lambda color, place: colors[place] == color, seed.dtype)
    (rows,) = for_seeds([product], seed, units)
    assert rows is not None
    return reshape(rows, (count, product.type.size))


def _read(compressed: Var, colors: Indices, places: Indices) -> Var:
    """Elements ``places`` of the rows ``colors``."""
    constant = compressed.builder.constant
    return GetItem((ARRAY, ARRAY))(compressed, constant(colors), constant(places))
