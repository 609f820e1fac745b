"""Functions that NumPy computes one by one, as operations that it computes by vector instructions.

A power of a negative number takes as long as fifty products.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from gradwire_engine.backends.walk.operations import RecurrenceByRows
from gradwire_engine.ops.arrays.joining import Concatenate
from gradwire_engine.ops.arrays.shape import BroadcastTo, Reshape
from gradwire_engine.ops.axes import with_ones
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Constant
from gradwire_engine.ops.pointwise.arithmetic import (
    Divide,
    Excess,
    Multiply,
    Power,
    Reciprocal,
)
from gradwire_engine.ops.pointwise.comparison import IsFinite, LogicalAnd, LogicalNot
from gradwire_engine.ops.pointwise.exponential import Exp, Exp2
from gradwire_engine.ops.pointwise.selection import Where
from gradwire_engine.ops.reductions.normalized import Softmax
from gradwire_engine.ops.reductions.reductions import Max, Sum
from gradwire_engine.ops.sequences.cumulative import CumProd, LinearRecurrence
from gradwire_engine.optimize.expressions import Expression, Rule, ValueTable, constant

#: Fewest elements of powers for which several quick calls take less time than a slow one.
_FEWEST_POWERS = 64
#: The time of BLAS for an element of a system of two bands.
_NANOSECONDS_OF_BANDS = 6
#: Up to this exponent products are within 2e-15 of a power.
_MOST_FACTORS = 16


def _by_squaring(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """Whole powers as products, those below 0 as their reciprocals; powers of 2."""
    x, exponent = args
    n, size = values.number(exponent), max(map(values.size, args))
    if values.dtype(x).kind != "f" or size < _FEWEST_POWERS:
        return None
    if values.number(x) == 2:
        return Exp2(), [exponent]
    if n is None:
        return _columns_of_powers(x, exponent, values)
    if not 0 < abs(n) <= _MOST_FACTORS or n != int(n):
        return None
    return _whole_power(x, int(n))


def _columns_of_powers(x: int, exponent: int, values: ValueTable) -> Expression | None:
    """A column to some whole powers, each a column of the result."""
    op, shape = values.code[exponent].op, values.shape(x)
    if not isinstance(op, Constant) or op.value.ndim != 1 or shape[-1:] != (1,):
        return None
    n = op.value
    if not 0 < n.size <= _MOST_FACTORS or (n != np.round(n)).any() or abs(n).max() > _MOST_FACTORS:
        return None
    one: Expression = (BroadcastTo(shape), [constant(1, values.dtype(x))])
    columns = [_whole_power(x, int(each)) if each else one for each in n]
    return Concatenate(len(shape) - 1), columns


def _hidden_columns(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """Columns of powers of which some are 0 where they are not finite, as in slopes of powers."""
    condition, zero, joined = args
    concatenate, columns, _, _ = values.code[joined]
    both, of, _, _ = values.code[condition]
    if not isinstance(concatenate, Concatenate) or not isinstance(both, LogicalAnd):
        return None
    (chosen, *_), (other, (finite, *_), _, _) = (values.code[slot] for slot in of)
    if not isinstance(chosen, Constant) or chosen.value.shape != (len(columns),):
        return None
    if not isinstance(other, LogicalNot) or values.code[finite][:2] != (IsFinite(), (joined,)):
        return None
    shape = values.shape(joined)
    if concatenate.axis != len(shape) - 1 or shape[-1] != len(columns):
        return None
    made: list[Expression] = [
        (Where(), [(IsFinite(), [column]), column, zero]) if hides else column
        for column, hides in zip(columns, chosen.value, strict=True)
    ]
    return concatenate, made


def _repeated_factor(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """Running products of 1 and the same column, as Vandermonde's matrix has them: its powers."""
    assert isinstance(op, CumProd)
    joined, of, _, _ = values.code[args[0]]
    if joined != Concatenate(op.axis) or len(of) != 2:
        return None
    (one, first, _, _), (repeats, second, _, _) = (values.code[slot] for slot in of)
    if not (isinstance(one, BroadcastTo) and isinstance(repeats, BroadcastTo)):
        return None
    (x,), count = second, repeats.shape[op.axis]
    shape = values.shape(x)
    column = with_ones(repeats.shape, (op.axis,))
    if values.number(first[0]) != 1 or shape != column or one.shape != column:
        return None
    if count > _MOST_FACTORS or values.dtype(x).kind not in "fc":
        return None
    powers: list[Expression] = [of[0], x]
    for _ in range(count - 1):
        powers.append((Multiply(), [powers[-1], x]))
    return Concatenate(op.axis), powers


def _whole_power(x: int, n: int) -> Expression:
    return _power(x, n) if n > 0 else (Reciprocal(), [_power(x, -n)])


def _power(x: int, n: int) -> Expression:
    """Source: Knuth, The Art of Computer Programming, volume 2, section 4.6.3."""
    if n == 1:
        return x
    root = _power(x, n // 2)
    square = (Multiply(), [root, root])
    return (Multiply(), [square, x]) if n % 2 else square


def _softmax(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """Its parts, so that each is computed in the quickest way."""
    assert isinstance(op, Softmax)
    (x,) = args
    shape = values.shape(x)
    if not op.axes or not math.prod(shape):
        return None
    row = Reshape(with_ones(shape, op.axes))
    powers: Expression = (Exp(), [(Excess(), [x, (row, [(Max(op.axes), [x])])])])
    return Divide(), [powers, (row, [(Sum(op.axes), [powers])])]


def _few_rows(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """Recurrences in few rows, each by a call of BLAS instead of two for each of its elements."""
    assert isinstance(op, LinearRecurrence)
    length, call = values.shape(args[1])[op.axis], values.costs.call
    rows = values.size(args[1]) // max(length, 1)
    by_rows = 20 * call + rows * (3 * call + _NANOSECONDS_OF_BANDS * length)
    if values.dtype(args[1]).char not in "fd" or by_rows >= 2 * call * length:
        return None
    return RecurrenceByRows(op.axis), args


#: The rows of the benchmarks that show each rule follow it.
RULES: Mapping[type[Op], Rule] = {
    Softmax: _softmax,  # softmax regression: softmax
    Power: _by_squaring,  # polynomial: power of a column
    CumProd: _repeated_factor,  # polynomial: Vandermonde
    Where: _hidden_columns,  # powers of a column
    LinearRecurrence: _few_rows,  # products by cumprod
}
