"""Rewrites for kernels: what they compute sooner of its parts, and which of NumPy's they skip."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import reduce

import numpy as np

from gradwire_engine.backends.walk.rules import RULES as FOR_NUMPY
from gradwire_engine.kernels.form import FLOATS
from gradwire_engine.kernels.matrices import is_small
from gradwire_engine.ops.arrays.indexing import GetItem
from gradwire_engine.ops.arrays.joining import Concatenate, Stack
from gradwire_engine.ops.arrays.placements import Placed
from gradwire_engine.ops.arrays.rearranging import Flip
from gradwire_engine.ops.arrays.shape import Reshape, Transpose
from gradwire_engine.ops.arrays.slicing import Pad
from gradwire_engine.ops.arrays.windows import Windows
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Item
from gradwire_engine.ops.conversion import AsType
from gradwire_engine.ops.linalg.contraction import Contract, contract
from gradwire_engine.ops.linalg.determinants import LogAbsDet, SLogDet
from gradwire_engine.ops.patterns import Span
from gradwire_engine.ops.pointwise.arithmetic import Add, Multiply
from gradwire_engine.ops.pointwise.comparison import NotEqual
from gradwire_engine.ops.pointwise.selection import Where
from gradwire_engine.ops.reductions.normalized import Shift
from gradwire_engine.ops.reductions.reductions import AllOf, AnyOf, Max, Min, Quantifier, Sum
from gradwire_engine.ops.sequences.cumulative import LinearRecurrence
from gradwire_engine.ops.signals.convolution import Convolve, ConvolveWithin
from gradwire_engine.optimize.expressions import Expression, Rule, ValueTable, constant, united

#: Most columns of a matrix that kernels add up one by one.
_MOST_COLUMNS = 16
#: Most elements of which kernels see whether some are true, since NumPy is quick at it.
_MOST_FLAGS = 4096
_FLOAT = np.dtype(np.float64)
#: Most views that are looked through for them.
_MOST_VIEWS = 4


def _shift(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """The largest, or 0: a kernel goes on with it."""
    assert isinstance(op, Shift)
    (x,) = args
    if not op.axes or not values.size(x):
        return None
    top: Expression = (Max(op.axes), [x])
    dtype = values.dtype(x)
    return Where(), [(NotEqual(), [top, constant(-math.inf, dtype)]), top, constant(0, dtype)]


def _by_columns(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """A matrix of few columns that were put together, times a vector: column by column.

    The kernel that computes the columns then adds them up, and none is stored. Rows are columns of
    the transposed matrix.
    """
    assert isinstance(op, Contract)
    for matrix, vector in ((0, 1), (1, 0)):
        own, other = op.labels[matrix], op.labels[vector]
        if len(own) != 2 or len(other) != 1 or len(op.labels.result) != 1:
            continue
        axis, columns = _columns(args[matrix], values)
        if not columns:
            continue
        x = args[vector]
        if own[axis] != other:
            dots = [(contract("a", "a", ""), [column, x]) for column in columns]
            return Placed(tuple([(k,) for k in range(len(dots))]), (len(dots),)), dots
        terms: list[Expression] = [
            (Multiply(), [column, (GetItem((k,)), [x])]) for k, column in enumerate(columns)
        ]
        return _total(terms)
    return None


def _columns(
    slot: int, values: ValueTable, views: int = _MOST_VIEWS
) -> tuple[int, Sequence[Expression]]:
    """The vectors that a matrix was put together of, and the axis along which; none of many."""
    op, parts, _, _ = values.code[slot]
    shape = values.shape(slot)
    if len(shape) != 2 or values.size(slot) <= values.costs.few:
        return 0, ()
    if isinstance(op, Transpose) and views:
        axis, columns = _columns(parts[0], values, views - 1)
        return op.axes.index(axis), columns
    if isinstance(op, Flip) and views:
        axis, columns = _columns(parts[0], values, views - 1)
        if 1 - axis in op.axes:
            columns = [(Flip((0,)), [column]) for column in columns]
        return axis, columns[::-1] if axis in op.axes else columns
    if isinstance(op, Windows) and len(op.sizes) == 1 and shape[0] <= _MOST_COLUMNS:
        (apart,), (step,) = op.dilations, op.strides
        reach = step * (shape[1] - 1) + 1
        spans = [Span(k * apart, k * apart + reach, step) for k in range(shape[0])]
        return 0, [(GetItem((span,)), parts) for span in spans]
    if not isinstance(op, Stack | Concatenate) or shape[op.axis] != len(parts):
        return 0, ()
    if len(parts) > _MOST_COLUMNS:
        return 0, ()
    return op.axis, [(Reshape((shape[1 - op.axis],)), [part]) for part in parts]


def _added(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """The sum of arrays over the axis along which they were stacked."""
    assert isinstance(op, Sum)
    stack, parts, _, _ = values.code[args[0]]
    if not isinstance(stack, Stack) or op.axes != (stack.axis,) or len(parts) > _MOST_COLUMNS:
        return None
    return _total(parts) if values.dtype(args[0]).kind in "fc" else None


def _total(terms: Sequence[Expression]) -> Expression:
    return reduce(lambda total, term: (Add(), [total, term]), terms)


def _quantified(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """Whether some of a few elements are true, or all: the greatest of them, or the least."""
    assert isinstance(op, Quantifier)
    (x,) = args
    if not op.axes or not 0 < values.size(x) <= _MOST_FLAGS:
        return None
    flags: Expression = NotEqual(), [x, constant(0, values.dtype(x))]
    extreme = Max if isinstance(op, AnyOf) else Min
    found: Expression = extreme(op.axes), [(AsType(_FLOAT), [flags])]
    return NotEqual(), [found, constant(0, _FLOAT)]


def _convolved(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """A convolution with a short vector: its elements times the other, moved, added up."""
    assert isinstance(op, Convolve)
    long, short = sorted(args, key=values.size, reverse=True)
    m = values.size(short)
    if not _is_short(m, long, short, values):
        return None
    terms: list[Expression] = [(Multiply(), [_at(j, short), long]) for j in range(m)]
    return _total([(Pad((j,), (m - 1 - j,)), [term]) for j, term in enumerate(terms)])


def _convolved_within(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """The same of parts of the other; of a few parts their products with the vector."""
    assert isinstance(op, ConvolveWithin)
    x, y = args
    n, m = values.size(x), values.size(y)
    if _is_short(m, x, y, values):
        parts = [(GetItem((Span(m - 1 - j, n - j, None),)), [x]) for j in range(m)]
        return _total([(Multiply(), [part, _at(j, y)]) for j, part in enumerate(parts)])
    if _is_short(n - m + 1, x, y, values):
        turned: Expression = (Flip((0,)), [y])
        parts = [(GetItem((Span(k, k + m, None),)), [x]) for k in range(n - m + 1)]
        dots = [(contract("a", "a", ""), [part, turned]) for part in parts]
        return Placed(tuple([(k,) for k in range(len(dots))]), (len(dots),)), dots
    return None


def _is_short(length: int, x: int, y: int, values: ValueTable) -> bool:
    """True if a convolution of two vectors is worth so many terms."""
    vectors = len(values.shape(x)) == len(values.shape(y)) == 1
    return vectors and 0 < length <= _MOST_COLUMNS and values.dtype(x).char in FLOATS


def _at(index: int, vector: int) -> Expression:
    return GetItem((index,)), [vector]


def _log_determinant(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """One of two results: kernels compute operations of one."""
    assert isinstance(op, Item)
    of, (*matrices,), _, _ = values.code[args[0]]
    if not isinstance(of, SLogDet) or op.index != 1:
        return None
    return (LogAbsDet(), matrices) if is_small(values.code[matrices[0]].type) else None


#: The rows of the benchmarks that show each rule follow it.
RULES: Mapping[type[Op], Rule] = united(
    {op: rule for op, rule in FOR_NUMPY.items() if op is not LinearRecurrence},  # kernels scan
    {
        Shift: _shift,  # mixture: component by component
        Contract: _by_columns,  # autoregression: windows
        Sum: _added,  # polynomial: sum of powers
        AnyOf: _quantified,  # odeint, 50 times
        AllOf: _quantified,  # odeint, 50 times
        Convolve: _convolved,  # heat equation: convolution
        ConvolveWithin: _convolved_within,  # heat equation: convolution
        Item: _log_determinant,  # small matrices: decision 70
    },
)
