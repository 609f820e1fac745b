"""Contractions: one form for all sums of products, computed in the order that costs least.

What is summed or multiplied as matrices is a product over labelled axes, whoever made it: matmul,
einsum, a sum of a product that broadcasts, a trace.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gradwire_engine.ops.arrays.diagonals import MatrixDiagonal
from gradwire_engine.ops.arrays.indexing import ScatterAdd
from gradwire_engine.ops.arrays.shape import View
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.patterns import ARRAY
from gradwire_engine.ops.pointwise.arithmetic import Add, Multiply, Square, Subtract
from gradwire_engine.ops.reductions.reductions import Sum
from gradwire_engine.optimize.contraction_order import Order, paired
from gradwire_engine.optimize.expressions import Expression, Rule, Settled, ValueTable
from gradwire_engine.optimize.factors import is_normal, scaled
from gradwire_engine.optimize.products import Product, is_product
from gradwire_engine.tape import DType

#: Sums are looked into so deep. These, and what others read, where products cost so many calls.
_DEEPEST, _CALLS = 3, 3
_SUMS = (Add, Subtract)


class _Plan(NamedTuple):
    """A way to compute a product, and its time in nanoseconds; ``plain`` as one product."""

    value: Expression
    cost: float
    plain: bool = True


def _contraction(op: Op, args: Sequence[int], values: ValueTable) -> Settled | None:
    """The products and sums, in the order that costs least."""
    x = args[0]
    inner = values.code[x].op
    if type(op) is not MatMul and not (is_product(inner) or type(inner) in _SUMS):
        return None
    if type(op) is ScatterAdd and ARRAY not in op.pattern:
        return None
    char = values.dtype(x).char
    if char not in "fdFD" or not all(map(values.size, args)):
        return None
    if type(op) is Sum:
        if _is_little(x, inner, values):
            return None
        shape = values.shape(x)
        if char in "fF" and math.prod([shape[i] for i in op.axes]) > values.costs.most_single:
            return None  # NumPy adds in pairs
    found, plan = _looked_into(op, args, values, through=False)
    if plan is None:
        return None
    least = plan
    if found.stopped and plan.cost + found.share > _CALLS * values.costs.call:
        _, through = _looked_into(op, args, values, through=True)
        if through is not None and through.cost <= plan.cost + found.share:
            least = through
    if least is plan and least.plain and found.is_only(x):
        return None
    return Settled(least.value)


def _is_little(x: int, op: Op, values: ValueTable) -> bool:
    """True if a sum of so few elements stays: of a sum, or of what is there anyway."""
    most, itemsize = _CALLS * values.costs.call, values.dtype(x).itemsize
    cost = values.costs.elementwise(values.size(x), 0, itemsize)
    if type(op) in _SUMS:
        return cost + _spared(x, values) < most
    if isinstance(op, View) or 2 * cost > most:
        return False
    return values.shared(x) or values.stands(x)


def _looked_into(
    op: Op, args: Sequence[int], values: ValueTable, *, through: bool
) -> tuple[Product, _Plan | None]:
    """The product that a result is, and the way of least cost that is known.

    Where indices do not select rows of anything they are left alone.
    """
    for selecting in (True, False):
        found = Product.of(op, args, values, through=through, selecting=selecting)
        plan = _planned(found) if found.factors else None
        if plan is None or plan.cost < math.inf:
            return found, plan
    return found, None


def _planned(p: Product, depth: int = 0) -> _Plan | None:
    """The way of least cost that is known."""
    if p.scale != 1 and not is_normal(p.scale, p.dtype):
        return None
    order = paired(p.form, p.values.costs)
    scale = p.scale * order.repeats
    value = _of_slots(order.value, [factor.slot for factor in p.factors], scale, p.dtype)
    plan = _Plan(value, order.cost if scale == 1 else order.cost + p.values.costs.call)
    if depth < _DEEPEST and (parts := _distributed(p, plan, depth)) is not None:
        plan = parts
    return plan


def _of_slots(x: Order, slots: Sequence[int], scale: Any, dtype: DType) -> Expression:
    """An expression of the slots of these numbers, with ``scale`` where a number multiplies."""
    if isinstance(x, int):
        return slots[x]
    op, operands = x
    parts = [_of_slots(part, slots, scale, dtype) for part in operands]
    return scaled(scale, parts[0], dtype) if op is None else (op, parts)


def _distributed(p: Product, plan: _Plan, depth: int) -> _Plan | None:
    """``sum (a ± b) c`` as ``sum a c ± sum b c``, where that costs less.

    Either ``a`` and ``b`` are repeated along axes, and nothing else is a sum, since the square of a
    difference must not become a difference of squares; or nothing but products is added, of few
    elements or of sums that are distributed themselves: blocks of many are added where they are.
    """
    values = p.values
    sums = [
        i
        for i, (slot, _, selects) in enumerate(p.factors)
        if not selects and type(values.code[slot].op) in _SUMS
    ]
    if len(sums) != 1:
        return None
    (i,) = sums
    slot = p.factors[i].slot
    op, args, _, _ = values.code[slot]
    repeats = all(2 * values.size(arg) <= values.size(slot) for arg in args)
    products = len(p.factors) == 1 and all(_is_made_product(arg, values) for arg in args)
    now = plan.cost + _spared(slot, values)
    if not (repeats or products) or now < _CALLS * values.costs.call or values.stands(slot):
        return None
    one, other = (_planned(p.replaced(i, arg), depth + 1) for arg in args)
    if one is None or other is None:
        return None
    if not repeats and (one.plain or other.plain) and values.size(slot) > values.costs.few:
        return None
    cost = one.cost + other.cost + values.costs.call
    return _Plan((op, (one.value, other.value)), cost, plain=False) if cost < now else None


def _spared(slot: int, values: ValueTable) -> float:
    """The cost of a sum, with its products: of one that others read a share."""
    size = values.size(slot)
    args = values.code[slot].args
    made = 1 + sum([_is_made_product(arg, values) and not values.shared(arg) for arg in args])
    cost = made * values.costs.elementwise(size, 2 * size, values.dtype(slot).itemsize)
    return cost / max(values.reads(slot), 1)


def _is_made_product(slot: int, values: ValueTable) -> bool:
    """True if a slot is a product of elements, or a view of one."""
    while isinstance(values.code[slot].op, View):
        (slot,) = values.code[slot].args
    return type(values.code[slot].op) in (Multiply, Square)


RULES: Mapping[type[Op], Rule] = dict.fromkeys(
    (Sum, MatMul, MatrixDiagonal, ScatterAdd), _contraction
)
