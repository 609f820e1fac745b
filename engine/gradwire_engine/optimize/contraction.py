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
from gradwire_engine.ops.pointwise.arithmetic import Add, Multiply, Square, Subtract
from gradwire_engine.ops.reductions.reductions import Sum
from gradwire_engine.optimize.expressions import Expression, Kept, Rule, Settled
from gradwire_engine.optimize.factors import is_normal, scaled
from gradwire_engine.optimize.pairs import Order, paired
from gradwire_engine.optimize.products import Product, is_product
from gradwire_engine.tape import DType

#: Sums are looked into so deep. These, and what others read, where products cost so many calls.
_DEEPEST, _CALLS = 3, 3
_SUMS = (Add, Subtract)


class _Plan(NamedTuple):
    """How a product is computed, and the nanoseconds that it takes; ``plain`` as one product."""

    value: Expression
    cost: float
    plain: bool = True


def _contraction(op: Op, args: Sequence[int], kept: Kept) -> Settled | None:
    """What multiplies and adds, in the order that costs least."""
    inner = kept.code[args[0]].op
    if type(op) is not MatMul and not (is_product(inner) or type(inner) in _SUMS):
        return None
    char = kept.dtype(args[0]).char
    if char not in "fdFD" or not all(map(kept.size, args)):
        return None
    if isinstance(op, Sum) and char in "fF":
        shape = kept.shape(args[0])
        if math.prod([shape[axis] for axis in op.axes]) > kept.costs.most_single:
            return None  # NumPy adds in pairs
    found, plan = _looked_into(op, args, kept, through=False)
    if plan is None:
        return None
    least = plan
    if found.stopped and plan.cost + found.share > _CALLS * kept.costs.call:
        _, through = _looked_into(op, args, kept, through=True)
        if through is not None and through.cost <= plan.cost + found.share:
            least = through
    if least is plan and least.plain and found.is_only(args[0]):
        return None
    return Settled(least.value)


def _looked_into(
    op: Op, args: Sequence[int], kept: Kept, *, through: bool
) -> tuple[Product, _Plan | None]:
    """The product that a result is, and the way of least cost that is known.

    Where indices do not select rows of anything they are left alone.
    """
    for selecting in (True, False):
        found = Product.of(op, args, kept, through=through, selecting=selecting)
        plan = _planned(found) if found.factors else None
        if plan is None or plan.cost < math.inf:
            return found, plan
    return found, None


def _planned(p: Product, depth: int = 0) -> _Plan | None:
    """The way of least cost that is known."""
    if p.scale != 1 and not is_normal(p.scale, p.dtype):
        return None
    order = paired(p.form, p.kept.costs)
    scale = p.scale * order.repeats
    value = _of_slots(order.value, [factor.slot for factor in p.factors], scale, p.dtype)
    plan = _Plan(value, order.cost if scale == 1 else order.cost + p.kept.costs.call)
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
    kept = p.kept
    sums = [
        i
        for i, (slot, _, selects) in enumerate(p.factors)
        if not selects and type(kept.code[slot].op) in _SUMS
    ]
    if len(sums) != 1:
        return None
    (i,) = sums
    slot = p.factors[i].slot
    op, args, _, _ = kept.code[slot]
    repeats = all(2 * kept.size(arg) <= kept.size(slot) for arg in args)
    products = len(p.factors) == 1 and all(_is_made_product(arg, kept) for arg in args)
    now = plan.cost + _spared(slot, args, p)
    if not (repeats or products) or now < _CALLS * kept.costs.call or kept.stands(slot):
        return None
    one, other = (_planned(p.replaced(i, arg), depth + 1) for arg in args)
    if one is None or other is None:
        return None
    if not repeats and (one.plain or other.plain) and kept.size(slot) > kept.costs.few:
        return None
    cost = one.cost + other.cost + kept.costs.call
    return _Plan((op, (one.value, other.value)), cost, plain=False) if cost < now else None


def _spared(slot: int, args: Sequence[int], p: Product) -> float:
    """What it costs to make a sum, with its products, if nobody else reads it."""
    kept, costs = p.kept, p.kept.costs
    if kept.shared(slot):
        return 0.0
    size = kept.size(slot)
    made = 1 + sum([_is_made_product(arg, kept) and not kept.shared(arg) for arg in args])
    return made * costs.elementwise(size, 2 * size, p.dtype.itemsize)


def _is_made_product(slot: int, kept: Kept) -> bool:
    """Whether a slot is a product of elements, or a view of one."""
    while isinstance(kept.code[slot].op, View):
        (slot,) = kept.code[slot].args
    return type(kept.code[slot].op) in (Multiply, Square)


RULES: Mapping[type[Op], Rule] = dict.fromkeys(
    (Sum, MatMul, MatrixDiagonal, ScatterAdd), _contraction
)
