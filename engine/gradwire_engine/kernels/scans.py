"""Running sums, products, extremes and recurrences: what each pass along an axis carries on."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from gradwire_engine.kernels.form import FLOATS, INTEGERS, Value
from gradwire_engine.kernels.scalar import expression
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.pointwise.exponential import LogAddExp
from gradwire_engine.ops.sequences.cumulative import CumProd, CumSum, LinearRecurrence
from gradwire_engine.ops.sequences.running import CumArgMax, CumArgMin, CumLogSumExp
from gradwire_engine.tape import ArrayType


class Pass(Protocol):
    """One pass along the axis, which is being written."""

    def apply(self, function: str, *args: Value) -> Value:
        """A function of values."""

    def literal(self, value: float, like: Value) -> Value:
        """A number of the dtype of another value."""

    def carried(self, first: float, like: Value) -> Value:
        """The value carried over from the pass before; ``first`` in the first one."""

    def give(self, carried: Value, value: Value) -> Value:
        """Give ``value`` on in place of ``carried``."""

    @property
    def place(self) -> Value:
        """The number of the pass."""

    @property
    def is_first(self) -> Value:
        """True if it is the first."""


#: Writes a pass of an operation, and gives the element of its result.
_Scan: TypeAlias = Callable[[Any, Sequence[Value], Pass], Value]


def is_scan(op: Op, kind: ArrayType, types: Sequence[ArrayType]) -> bool:
    """True if an operation is a scan that nests know, of more than one pass."""
    if type(op) not in _SCANS or kind.shape[op.axis] < 2:  # type: ignore[attr-defined]
        return False
    allowed = FLOATS + INTEGERS if isinstance(op, CumSum | CumProd) else FLOATS
    same = isinstance(op, CumArgMax | CumArgMin) or all(t.dtype == kind.dtype for t in types)
    return same and all(t.dtype.char in allowed and t.shape == kind.shape for t in types)


def scanned(op: Op, operands: Sequence[Value], now: Pass) -> Value:
    """The element of the result that a pass gives."""
    return _SCANS[type(op)](op, operands, now)


def _sum(_: CumSum, operands: Sequence[Value], now: Pass) -> Value:
    """Adding to -0 changes nothing."""
    (x,) = operands
    total = now.carried(-0.0, x)
    return now.give(total, now.apply("add", total, x))


def _product(_: CumProd, operands: Sequence[Value], now: Pass) -> Value:
    (x,) = operands
    total = now.carried(1.0, x)
    return now.give(total, now.apply("multiply", total, x))


def _recurrence(_: LinearRecurrence, operands: Sequence[Value], now: Pass) -> Value:
    """The first factor is 0 here, whatever it is: ``b + 0 (-0)`` is ``b``."""
    a, b = operands
    before = now.carried(-0.0, b)
    factor = now.apply("where", now.is_first, now.literal(0.0, a), a)
    return now.give(before, now.apply("add", b, now.apply("multiply", factor, before)))


def _place(op: CumArgMax | CumArgMin, operands: Sequence[Value], now: Pass) -> Value:
    """The index of the first largest or smallest element, or of the first NaN."""
    (x,) = operands
    extreme = now.carried(-math.inf if op.larger else math.inf, x)
    at = now.carried(0.0, now.place)
    beyond = now.apply("greater" if op.larger else "less", x, extreme)
    known = now.apply("not", now.apply("isnan", extreme))
    changes = now.apply("or", beyond, now.apply("and", now.apply("isnan", x), known))
    now.give(extreme, now.apply("where", changes, x, extreme))
    return now.give(at, now.apply("where", changes, now.place, at))


def _log_sum_exp(_: CumLogSumExp, operands: Sequence[Value], now: Pass) -> Value:
    (x,) = operands
    total = now.carried(-math.inf, x)
    return now.give(total, expression(LogAddExp(), FLOATS, [total, x], now.apply, now.literal))


_SCANS: Mapping[type[Op], _Scan] = {
    CumSum: _sum,
    CumProd: _product,
    LinearRecurrence: _recurrence,
    CumArgMax: _place,
    CumArgMin: _place,
    CumLogSumExp: _log_sum_exp,
}
