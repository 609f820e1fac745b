"""Constant factors are collected: a chain of products multiplies once, and what is smallest.

Measured by *Rosenbrock, n = 1,000,000* and *kernel energy: norm*, in machine code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from gradwire_engine.ops.arrays.shape import Reshape
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.ops.pointwise.arithmetic import Multiply, Negative
from gradwire_engine.optimize.expressions import PARTS, Expression, Rule, ValueTable, constant
from gradwire_engine.tape import DType


def split(slot: int, values: ValueTable) -> tuple[Any, int] | None:
    """The number and the slot of which a slot is the product, if it is one."""
    if slot not in values.multiples:
        return None
    op, args, _, _ = values.code[slot]
    if type(op) is Negative:
        return (-1, args[0]) if values.dtype(slot).kind in "fc" else None
    if type(op) is Multiply:
        for number, other in (args, args[::-1]):
            if (c := values.number(number)) is not None:
                return c, other
    return None


def scaled(factor: Any, x: Expression, dtype: DType) -> Expression:
    """``factor * x``."""
    if factor == 1:
        return x
    return (Negative(), (x,)) if factor == -1 else (Multiply(), (constant(factor, dtype), x))


def _product(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """``c (d x)`` and ``(c x) (d y)`` with one number."""
    if values.multiples.isdisjoint(args):
        return None
    for number, slot in (args, args[::-1]):
        if (c := values.number(number)) is not None:
            return _multiple(c, slot, values)
    left, right = args
    parts = split(left, values), split(right, values)
    if parts == (None, None):
        return None
    (c, x), (d, y) = parts[0] or (1, left), parts[1] or (1, right)
    alike = values.shape(x) == values.shape(y)
    there = alike and (product := values.find(op, x, y)) is not None and values.reads(product) > 0
    if alike and not there and None in parts:  # as most products are
        return None
    dtype = values.dtype(x)
    if not is_normal(c * d, dtype):
        return None
    #: Operands that need not be multiplied any more.
    spared = [
        part is not None and not values.shared(a) for part, a in zip(parts, args, strict=True)
    ]
    if values.size(x) > values.size(y) and spared[0]:
        return op, (x, scaled(c * d, y, dtype))
    if values.size(x) < values.size(y) and spared[1]:
        return op, (scaled(c * d, x, dtype), y)
    if there or (all(spared) and x != y) or c * d == 1:
        return scaled(c * d, (op, (x, y)), dtype)
    return None


def _multiple(c: Any, slot: int, values: ValueTable) -> Expression | None:
    """``c`` times what is itself a multiple, or a product with something smaller."""
    dtype = values.dtype(slot)
    if (part := split(slot, values)) is not None:
        d, x = part
        return scaled(c * d, x, dtype) if is_normal(c * d, dtype) else None
    op, args, _, _ = values.code[slot]
    if type(op) is Reshape and not values.shared(slot):
        inner = _multiple(c, args[0], values)
        return inner and (op, (inner,))
    if type(op) in PARTS and not values.shared(slot):
        return _placed(op, scaled(c, args[0], dtype), args)
    if type(op) not in (Multiply, Contract) or not values.shape(slot):
        return None
    x, y = args
    if 2 * min(values.size(x), values.size(y)) >= values.size(slot) or values.shared(slot):
        return None
    if values.size(x) < values.size(y):
        return op, (scaled(c, x, dtype), y)
    return op, (x, scaled(c, y, dtype))


def _placed(place: Op, part: Expression, args: Sequence[int]) -> Expression:
    """Another part, in the place that it has among zeros."""
    return place, (part, *args[1:])


def is_normal(factor: Any, dtype: DType) -> bool:
    """True if a number neither overflows nor loses digits in ``dtype``."""
    smallest, largest = _range(dtype)
    return bool(smallest <= abs(factor) <= largest)


@cache
def _range(dtype: DType) -> tuple[float, float]:
    limits = np.finfo(dtype)
    return limits.tiny, limits.max


RULES: Mapping[type[Op], Rule] = {Multiply: _product}
