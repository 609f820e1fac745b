"""The elements that an element of a result reads: by terms of sums of products, or by axes.

A term with a factor that is a constant zero is none. So the pattern of a product with a constant
matrix, with a filter or with a sparse matrix is that of the matrix.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gradwire_engine.loops.stacks import AddStacks
from gradwire_engine.ops.axes import with_ones, without
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.batching import along_axes, over_stacks
from gradwire_engine.ops.constants import Item
from gradwire_engine.ops.elementwise import broadcast_shapes
from gradwire_engine.ops.linalg.coordinates import CooMatMul, CooSolve, Sampled
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.linalg.solving import Solution
from gradwire_engine.ops.pointwise.arithmetic import Multiply
from gradwire_engine.ops.pointwise.selection import Where
from gradwire_engine.ops.signals.convolution import Convolve, ConvolveWithin
from gradwire_engine.tape import Shape

#: The value of an instruction's operand by its number, None of one that is not known.
Values: TypeAlias = Callable[[int], Any]
_Summands: TypeAlias = Sequence[NDArray[Any]]


class Terms(NamedTuple):
    """For each term an element of the result, and the one that it reads of an operand.

    They are sums of arrays that broadcast, by ``filled`` an array each.
    """

    results: _Summands
    reads: _Summands

    @property
    def shape(self) -> Shape:
        """The terms along some axes."""
        return np.broadcast_shapes(*[part.shape for side in self for part in side])

    def filled(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The numbers of the elements, in row-major order."""
        results, reads = (np.broadcast_to(sum(side), self.shape).ravel() for side in self)
        return results, reads


def terms(
    op: Op, number: int, shapes: Sequence[Shape], result: Shape, values: Values
) -> Terms | None:
    """The terms of operand ``number``; None where ``values`` do not determine them."""
    rule = _RULES.get(type(op))
    return rule(op, number, shapes, result, values) if rule and math.prod(result) else None


def _scaled(
    op: Op, number: int, shapes: Sequence[Shape], result: Shape, values: Values
) -> Terms | None:
    """The elements that the other factor, an array, does not make zero."""
    other = values(1 - number) if shapes[1 - number] else None
    return None if other is None else _kept(other != 0, shapes[number], result)


def _chosen(
    op: Op, number: int, shapes: Sequence[Shape], result: Shape, values: Values
) -> Terms | None:
    """The elements that the condition chooses."""
    condition = values(0)
    return None if condition is None else _kept(condition == (number == 1), shapes[number], result)


def _kept(kept: Any, shape: Shape, result: Shape) -> Terms | None:
    """The elements of an operand, broadcast to ``result``, where they are kept."""
    if np.all(kept):
        return None
    places = np.flatnonzero(np.broadcast_to(kept, result))
    read = np.broadcast_to(np.arange(math.prod(shape)).reshape(shape), result)
    return Terms([places], [read.ravel()[places]])


def _of_matrices(
    op: Op, number: int, shapes: Sequence[Shape], result: Shape, values: Values
) -> Terms | None:
    """Of each row or column the elements beside nonzeros of the other factor, no stack."""
    other, shape = values(1 - number), shapes[number]
    if other is None or other.ndim > 2 or np.all(other):
        return None
    if number == 0:
        inner, into = np.nonzero(other.reshape(shape[-1], -1))
        rows = np.arange(math.prod(shape[:-1]))[:, None]
        return Terms([rows * (other.size // shape[-1]), into], [rows * shape[-1], inner])
    length, width = shape if len(shape) == 2 else (*shape[-2:], 1)[:2]
    into, inner = np.nonzero(other.reshape(-1, length))
    stacks = np.arange(math.prod(shape[:-2]))[:, None, None] * width
    columns = np.arange(width)[:, None]
    return Terms(
        [stacks * (other.size // length), into * width, columns],
        [stacks * length, inner * width, columns],
    )


def _of_sparse(
    op: Op, number: int, shapes: Sequence[Shape], result: Shape, values: Values
) -> Terms | None:
    """Of each column the elements beside the nonzeros ``values, row, column``, or these."""
    row, column = _places(values(1), result[0]), _places(values(2), shapes[3][0])
    if row is None or column is None:
        return None
    width = result[1]
    columns = np.arange(width)
    reads = [np.arange(row.size)[:, None]] if number == 0 else [column[:, None] * width, columns]
    return Terms([row[:, None] * width, columns], reads)


def _places(index: Any, length: int) -> Any:
    """Known indices, those out of range as -1: what reads them fails when it is replayed."""
    if index is None:
        return None
    return np.where((index >= 0) & (index < length), index.astype(np.int64), -1)


def _sampled(
    op: Op, number: int, shapes: Sequence[Shape], result: Shape, values: Values
) -> Terms | None:
    """The rows that are multiplied."""
    length, inner = shapes[number]
    places = _places(values(2 + number), length)
    if places is None:
        return None
    return Terms([np.arange(result[0])[:, None]], [places[:, None] * inner, np.arange(inner)])


def _convolved(
    op: Op, number: int, shapes: Sequence[Shape], result: Shape, values: Values
) -> Terms | None:
    """Each element, moved by the places of the other operand that are not zero."""
    assert isinstance(op, Convolve)
    shape, beside, other = shapes[number], shapes[1 - number], values(1 - number)
    if shape[: -op.ndim] != result[: -op.ndim] or math.prod(beside[: -op.ndim]) != 1:
        return None
    factors = np.ones(beside) if other is None else other
    moves = np.nonzero(factors.reshape(beside[-op.ndim :]))
    shifts = np.asarray(np.ravel_multi_index(moves, result[-op.ndim :]))
    own = np.arange(math.prod(shape))  # of one axis: NumPy unravels more than 8192 rows wrongly
    starts = np.asarray(np.ravel_multi_index(np.unravel_index(own, shape), result))
    return Terms([starts[:, None], shifts], [own[:, None]])


def _convolved_within(
    op: Op, number: int, shapes: Sequence[Shape], result: Shape, values: Values
) -> Terms | None:
    """The elements of the longer operand that lie beside the places of the other."""
    assert isinstance(op, ConvolveWithin)
    shape, beside, other = shapes[0], shapes[1], values(1)
    if number or shape[: -op.ndim] != result[: -op.ndim] or math.prod(beside[: -op.ndim]) != 1:
        return None
    factors = np.ones(beside) if other is None else other
    lengths = beside[-op.ndim :]
    places = np.nonzero(factors.reshape(lengths))
    back = tuple([m - 1 - at for m, at in zip(lengths, places, strict=True)])
    shifts = np.asarray(np.ravel_multi_index(back, shape[-op.ndim :]))
    own = np.arange(math.prod(result))
    starts = np.asarray(np.ravel_multi_index(np.unravel_index(own, result), shape))
    return Terms([own[:, None]], [starts[:, None], shifts])


_RULES: dict[type[Op], Callable[[Op, int, Sequence[Shape], Shape, Values], Terms | None]] = {
    Multiply: _scaled,
    Where: _chosen,
    MatMul: _of_matrices,
    CooMatMul: _of_sparse,
    Sampled: _sampled,
    Convolve: _convolved,
    ConvolveWithin: _convolved_within,
}


def aligned(op: Op, shapes: Sequence[Shape], number: int, result: Shape) -> tuple[Shape, Shape]:
    """An operand's shape with 1 for each axis that ``op`` mixes, and as the result reads it."""
    shape = shapes[number]
    cells = reads = shape
    if isinstance(op, Item):
        reads = (*shape, *(1,) * (len(result) - len(shape)))
    elif isinstance(op, MatMul):
        axis = max(len(shape) - 1 - number, 0)
        cells = with_ones(shape, (axis,))
        reads = cells if len(shapes[1 - number]) > 1 else without(shape, (axis,))
    elif isinstance(op, Solution | CooSolve) and number == len(shapes) - 1:
        cells = reads = with_ones(shape, (len(shape) - 2,))  # each column is solved by itself
    elif type(op).batch is along_axes:
        axes = op.axes if hasattr(op, "axes") else (op.axis,)  # type: ignore[attr-defined]
        cells = with_ones(shape, axes)
        reads = cells if len(shape) == len(result) else without(shape, axes)
    elif not (op.elementwise or isinstance(op, AddStacks)):
        axes = stack(op, shapes)
        own = shape[: len(axes)] if len(shape) == max(map(len, shapes)) else ()
        cells = (*own, *(1,) * (len(shape) - len(own)))
        reads = (*own, *(1,) * (len(result) - len(own)))
    return cells, reads


def stack(op: Op, shapes: Sequence[Shape]) -> Shape:
    """The axes that ``op`` goes over: those before the ones it works on, mostly matrices."""
    ndim = max(map(len, shapes)) - getattr(op, "ndim", 2)
    if type(op).batch is not over_stacks or ndim <= 0:
        return ()
    return broadcast_shapes(*[s[:ndim] for s in shapes if len(s) == ndim + getattr(op, "ndim", 2)])
