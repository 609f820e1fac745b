"""Functions that NumPy computes one by one, as operations that it computes by vector instructions.

Where it finds AVX-512, a float64 tangent takes a quarter of the time of a sine. A power of a
negative number takes as long as fifty products.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from gradwire_engine.backends.walk.operations import (
    MOST_FACTORS,
    PowerByProducts,
    RecurrenceByRows,
    RowNumbers,
    RowOrder,
    RowStarts,
    SolveDiagonal,
    SumByProduct,
    SumRows,
)
from gradwire_engine.ops.arrays.indexing import GetItem, ScatterAdd
from gradwire_engine.ops.arrays.joining import Concatenate
from gradwire_engine.ops.arrays.shape import BroadcastTo, Reshape
from gradwire_engine.ops.axes import with_ones
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Constant
from gradwire_engine.ops.linalg.solving import Solve
from gradwire_engine.ops.patterns import ARRAY
from gradwire_engine.ops.pointwise.activations import Sigmoid, Softplus
from gradwire_engine.ops.pointwise.arithmetic import (
    Absolute,
    Add,
    Divide,
    Excess,
    Multiply,
    Negative,
    Power,
    Reciprocal,
    Subtract,
)
from gradwire_engine.ops.pointwise.comparison import (
    IsFinite,
    IsNan,
    LogicalAnd,
    LogicalNot,
    LogicalOr,
    NotEqual,
)
from gradwire_engine.ops.pointwise.exponential import Exp, Exp2, Log, Log1p, LogAddExp, XLogY
from gradwire_engine.ops.pointwise.pairs import FMax
from gradwire_engine.ops.pointwise.selection import Maximum, Where
from gradwire_engine.ops.reductions.normalized import Softmax
from gradwire_engine.ops.reductions.reductions import Max, Sum
from gradwire_engine.ops.sequences.cumulative import CumProd, LinearRecurrence
from gradwire_engine.optimize.expressions import Expression, Rule, ValueTable, constant
from gradwire_engine.optimize.structure import diagonal_of

#: Fewest elements for which several quick calls take less time than a slow one.
_FEWEST_QUICK = 128
#: The same of what a kernel does in one call.
_FEWEST_BY_PARTS = 2048
#: The same of powers.
_FEWEST_POWERS = 64
#: The time of BLAS for an element of a system of two bands.
_NANOSECONDS_OF_BANDS = 6
#: The same of rows that are added at indices, and of what each has.
_FEWEST_ADDED, _FEWEST_WIDE = 1024, 2
#: The same of rows to be summed, and their length: sums of longer ones stay as near as NumPy's.
_MANY_ROWS, _MOST_IN_TURN = 256, 1024


def _by_squaring(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """Whole powers as products, those below 0 as their reciprocals; powers of 2."""
    x, exponent = args
    n, size = values.number(exponent), max(map(values.size, args))
    if values.dtype(x).kind != "f" or size < _FEWEST_POWERS:
        return None
    if values.number(x) == 2:
        return Exp2(), [exponent]
    if n is None:
        columns = _columns_of_powers(x, exponent, values)
        known = type(values.code[exponent].op) is Constant
        known = known or values.dtype(x) != values.dtype(exponent)
        return columns or (None if known else (PowerByProducts(), [x, exponent]))
    if not 0 < abs(n) <= MOST_FACTORS or n != int(n):
        return None
    return _whole_power(x, int(n))


def _columns_of_powers(x: int, exponent: int, values: ValueTable) -> Expression | None:
    """A column to some whole powers, each a column of the result."""
    op, shape = values.code[exponent].op, values.shape(x)
    if not isinstance(op, Constant) or op.value.ndim != 1 or shape[-1:] != (1,):
        return None
    n = op.value
    if not 0 < n.size <= MOST_FACTORS or (n != np.round(n)).any() or abs(n).max() > MOST_FACTORS:
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
    if count > MOST_FACTORS or values.dtype(x).kind not in "fc":
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


def _log_add_exp(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """``max(x, y) + ln(1 + exp(-|x - y|))``; of equal infinities any difference will do."""
    dtype, size = values.dtype(args[0]), max(map(values.size, args))
    if dtype.char not in "fd" or size < _FEWEST_QUICK:
        return None
    gap: Expression = (Absolute(), [(Subtract(), args)])
    return _log_of_sum((FMax(), [gap, constant(0, dtype)]), (Maximum(), args))


def _softplus(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """Its kernel's formula: few elements by one call; many by instructions, for buffers."""
    (x,) = args
    zero = constant(0, values.dtype(x))
    if values.shape(x) and values.size(x) < _FEWEST_QUICK:
        return LogAddExp(), [x, zero]
    if values.size(x) < _FEWEST_BY_PARTS:
        return None
    return _log_of_sum((Absolute(), [x]), (Maximum(), [x, zero]))


def _log_of_sum(gap: Expression, top: Expression) -> Expression:
    return Add(), [top, (Log1p(), [(Exp(), [(Negative(), [gap])])])]


def _sigmoid(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """Its kernel's formula."""
    (x,) = args
    if values.size(x) < _FEWEST_BY_PARTS:
        return None
    one = constant(1, values.dtype(x))
    return Reciprocal(), [(Add(), [one, (Exp(), [(Negative(), [x])])])]


def _sum(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """Sums over the first or last axes by BLAS: NumPy takes 20 ns to begin with each row."""
    assert isinstance(op, Sum)
    (x,), axes = args, op.axes
    shape, number = values.shape(x), len(axes)
    if not 0 < number < len(shape) or values.dtype(x).char not in "fd":
        return None
    if axes == tuple(range(number)):
        rows, length = shape[:number], 1
    elif axes == tuple(range(len(shape) - number, len(shape))):
        rows, length = shape[:-number], math.prod(shape[-number:])
    else:
        return None
    quicker = math.prod(rows) >= _MANY_ROWS and length <= _MOST_IN_TURN
    return (SumByProduct(axes), [x]) if quicker else None


def _x_log_y(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """``x ln y``, and 0 where ``x`` is, unless ``y`` is NaN."""
    x, y = args
    dtype, size = values.dtype(x), max(map(values.size, args))
    if dtype.char not in "fd" or size < _FEWEST_QUICK:
        return None
    zero = constant(0, dtype)
    counts: Expression = (LogicalOr(), [(NotEqual(), [x, zero]), (IsNan(), [y])])
    product: Expression = (Multiply(), [x, (Log(), [y])])
    return Where(), [counts, product, zero]


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


def _planned(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """Rows added at indices that are the same at every replay: in an order that is found once.

    What is added may itself be selected by such indices.
    """
    assert isinstance(op, ScatterAdd)
    x, *arrays = args
    width = math.prod(op.shape[1:])
    if not op.selects_rows or width < _FEWEST_WIDE or values.dtype(x).char not in "fdFD":
        return None
    (index,), shape = arrays, values.shape(x)
    if values.size(x) < _FEWEST_ADDED or shape != (*values.shape(index), *op.shape[1:]):
        return None
    if not values.is_fixed(index):
        return None
    rows: Expression = (RowNumbers(op.shape[0]), [index])
    order: Expression = (RowOrder(), [rows])
    added: Expression = (Reshape((values.size(index), *op.shape[1:])), [x])
    selects, of, _, _ = values.code[x]
    chosen = isinstance(selects, GetItem) and selects.selects_rows and values.is_fixed(of[1])
    if chosen and not values.shared(x):
        numbers = RowNumbers(values.shape(of[0])[0]), [of[1]]
        added, order = of[0], (GetItem((ARRAY,)), [numbers, order])
    return SumRows(op.shape), [added, order, (RowStarts(op.shape[0]), [rows])]


def _few_rows(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """Recurrences in few rows, each by a call of BLAS instead of two for each of its elements."""
    assert isinstance(op, LinearRecurrence)
    length, call = values.shape(args[1])[op.axis], values.costs.call
    rows = values.size(args[1]) // max(length, 1)
    by_rows = 20 * call + rows * (3 * call + _NANOSECONDS_OF_BANDS * length)
    if values.dtype(args[1]).char not in "fd" or by_rows >= 2 * call * length:
        return None
    return RecurrenceByRows(op.axis), args


def _divided(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """Solutions with a diagonal matrix."""
    a, b = args
    diagonal = diagonal_of(a, values)
    matrices = len(values.shape(a)) == len(values.shape(b)) == 2
    return None if diagonal is None or not matrices else (SolveDiagonal(), [diagonal, b])


RULES: Mapping[type[Op], Rule] = {
    Solve: _divided,
    LinearRecurrence: _few_rows,
    ScatterAdd: _planned,
    LogAddExp: _log_add_exp,
    Softplus: _softplus,
    Sigmoid: _sigmoid,
    Softmax: _softmax,
    XLogY: _x_log_y,
    Power: _by_squaring,
    Where: _hidden_columns,
    CumProd: _repeated_factor,
    Sum: _sum,
}
