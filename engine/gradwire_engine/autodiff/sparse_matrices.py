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
from gradwire_engine.autodiff.copies import Gathered, copies_read
from gradwire_engine.autodiff.forward import pushforward
from gradwire_engine.autodiff.known import Known, Values
from gradwire_engine.autodiff.matrices import for_seeds, stand_in
from gradwire_engine.autodiff.reverse import gradient, pullback
from gradwire_engine.autodiff.sparsity import (
    Indices,
    Pattern,
    afford,
    distinct,
    joint_sparsity,
    sparsity,
)
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
    mode, all recorded at once; ``auto`` takes the fewer, and complex numbers always have rows. In
    reverse mode the rows may be those in copies of the source's elements, if they have fewer.
    Raises: ``OverBudget`` where the pattern or the products would be too large.
    """
    if not (target.type.differentiable and source.type.differentiable):
        return None
    values = Values(b, target, known)
    copies = copies_read(b, target, source, values)
    read = joint_sparsity(b, target, copies.parts, values)
    _afford_colors(b, read)
    if "c" in (target.dtype.kind, source.dtype.kind):
        mode = "reverse"
    gathered = Gathered.of(read, copies, source.type.size)
    pattern, order, _ = gathered
    # By rows, by columns, and by rows in copies: those of fewest colours are taken.
    options = {"reverse": _turned(pattern), "forward": pattern, "copies": _turned(read)}
    if mode != "auto":
        del options["forward" if mode == "reverse" else "reverse"]
    if mode == "forward" or copies.parts[0] is source:
        del options["copies"]
    chosen, colors = _fewest(b, options)
    seed = stand_in(source if chosen == "forward" else target)
    if chosen == "forward":
        products, likes = pushforward(b, [target], [source], [seed]), [target]
        lines, places = pattern.columns, pattern.rows
    elif chosen == "reverse":
        products, likes = pullback(b, [target], [seed], [source]), [source]
        lines, places = pattern.rows, pattern.columns
    else:
        products, likes = pullback(b, [target], [seed], copies.parts), copies.parts
        lines, places = read.rows[order], read.columns[order]
    if all(product is None for product in products):
        return None
    compressed = _compressed(products, [like.type.size for like in likes], seed, colors)
    found = _read(compressed, colors[lines], places)
    if chosen == "copies":
        found = gathered.added(found)
    return Nonzeros(pattern, b.cast(found, source.dtype))  # as a row's, which is a gradient


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
    compressed = _compressed([product], [product.type.size], seed, colors)
    rows, columns, _ = pattern
    # Of two neighbours, one has no other neighbour of the other's colour: its row identifies it.
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


def _turned(pattern: Pattern) -> Pattern:
    """The transpose."""
    rows, columns, (height, width) = pattern
    return Pattern(columns, rows, (width, height))


def _fewest(b: Builder, options: Mapping[str, Pattern]) -> tuple[str, Colors]:
    """The option of fewest colours, and those; at least as many as the longest row has nonzeros."""
    least = {mode: int(np.bincount(p.rows).max(initial=1)) for mode, p in options.items()}
    found: list[tuple[int, str, Colors]] = []
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


def _compressed(
    products: Sequence[Var | None], sizes: Sequence[int], seed: Var, colors: Colors
) -> Var:
    """A row for each colour: ``products``, flat, for the sum of the unit vectors of that colour.

    Products without a path are zeros of these ``sizes``.
    """
    b, count = seed.builder, _count(colors)
    _check_products(b, count, (sum(sizes), seed.type.size))
    shape = (count, seed.type.size)
    units = b.table(shape, lambda color, place: colors[place] == color, seed.dtype)
    rows = [
        b.full(0, ArrayType(seed.dtype, (count, size)))
        if row is None
        else reshape(row, (count, size))
        for row, size in zip(for_seeds(products, seed, units), sizes, strict=True)
    ]
    return rows[0] if len(rows) == 1 else Concatenate(1)(*rows)


def _read(compressed: Var, colors: Indices, places: Indices) -> Var:
    """Elements ``places`` of the rows ``colors``."""
    constant = compressed.builder.constant
    return GetItem((ARRAY, ARRAY))(compressed, constant(colors), constant(places))
