"""Constant factors are collected: a chain of operations multiplies once, and what is smallest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from gradwire_engine.ops.arrays.shape import Reshape
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Constant
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.ops.pointwise.arithmetic import Add, Divide, Multiply, Negative, Subtract
from gradwire_engine.optimize.expressions import PARTS, Expression, Kept, Rule, constant
from gradwire_engine.tape import DType


def split(slot: int, kept: Kept) -> tuple[Any, int] | None:
    """The number and the slot of which a slot is the product, if it is one."""
    if slot not in kept.multiples:
        return None
    op, args, _, _ = kept.code[slot]
    if type(op) is Negative:
        return (-1, args[0]) if kept.dtype(slot).kind in "fc" else None
    if type(op) is Multiply:
        for number, other in (args, args[::-1]):
            if (c := kept.number(number)) is not None:
                return c, other
    return None


def scaled(factor: Any, x: Expression, dtype: DType) -> Expression:
    """``factor * x``."""
    if factor == 1:
        return x
    return (Negative(), (x,)) if factor == -1 else (Multiply(), (constant(factor, dtype), x))


def _product(op: Op, args: Sequence[int], kept: Kept) -> Expression | None:
    """``c (d x)`` and ``(c x) (d y)`` with one number."""
    if kept.multiples.isdisjoint(args):
        return None
    for number, slot in (args, args[::-1]):
        if (c := kept.number(number)) is not None:
            return _multiple(c, slot, kept)
    left, right = args
    parts = split(left, kept), split(right, kept)
    if parts == (None, None):
        return None
    (c, x), (d, y) = parts[0] or (1, left), parts[1] or (1, right)
    alike = kept.shape(x) == kept.shape(y)
    there = alike and (product := kept.find(op, x, y)) is not None and kept.reads(product) > 0
    if alike and not there and None in parts:  # as most products are
        return None
    dtype = kept.dtype(x)
    if not is_normal(c * d, dtype):
        return None
    #: Operands that need not be multiplied any more.
    spared = [part is not None and not kept.shared(a) for part, a in zip(parts, args, strict=True)]
    if kept.size(x) > kept.size(y) and spared[0]:
        return op, (x, scaled(c * d, y, dtype))
    if kept.size(x) < kept.size(y) and spared[1]:
        return op, (scaled(c * d, x, dtype), y)
    if there or (all(spared) and x != y) or c * d == 1:
        return scaled(c * d, (op, (x, y)), dtype)
    return None


def _multiple(c: Any, slot: int, kept: Kept) -> Expression | None:
    """``c`` times what is itself a multiple, or a product with something smaller."""
    dtype = kept.dtype(slot)
    if (part := split(slot, kept)) is not None:
        d, x = part
        return scaled(c * d, x, dtype) if is_normal(c * d, dtype) else None
    op, args, _, _ = kept.code[slot]
    if type(op) is Reshape and not kept.shared(slot):
        inner = _multiple(c, args[0], kept)
        return inner and (op, (inner,))
    if type(op) in PARTS and not kept.shared(slot):
        return _placed(op, scaled(c, args[0], dtype), args)
    if type(op) not in (Multiply, Contract) or not kept.shape(slot):
        return None
    x, y = args
    if 2 * min(kept.size(x), kept.size(y)) >= kept.size(slot) or kept.shared(slot):
        return None
    if kept.size(x) < kept.size(y):
        return op, (scaled(c, x, dtype), y)
    return op, (x, scaled(c, y, dtype))


def _quotient(op: Op, args: Sequence[int], kept: Kept) -> Expression | None:
    """``x / c`` of arrays, and ``(d x) / c``, as a product with one number."""
    if kept.multiples.isdisjoint(args):
        return None
    x, number = args
    c = kept.number(number)
    if c is None or c == 0 or not is_normal(1 / c, kept.dtype(x)):
        return None
    if (part := split(x, kept)) is not None:
        d, base = part
        return scaled(d / c, base, kept.dtype(x)) if is_normal(d / c, kept.dtype(x)) else None
    return scaled(1 / c, x, kept.dtype(x)) if kept.shape(x) else None


def _opposite(op: Op, args: Sequence[int], kept: Kept) -> Expression | None:
    """``-(c x)`` and ``-(x - y)``."""
    (slot,) = args
    inner, of, _, _ = kept.code[slot]
    if type(inner) is Subtract and kept.dtype(slot).kind in "fc":
        return inner, of[::-1]
    if type(inner) in PARTS and not kept.shared(slot):
        return _placed(inner, (op, of[:1]), of)
    part = split(slot, kept)
    return part and scaled(-part[0], part[1], kept.dtype(slot))


def _sum(op: Op, args: Sequence[int], kept: Kept) -> Expression | None:
    """``c x ± d x``, ``c x ± c y``, and what is added of opposites."""
    if kept.multiples.isdisjoint(args):
        return None
    left, right = (split(slot, kept) for slot in args)
    x, y = args
    if left is None and right is None:
        return _of_parts(op, x, y, kept)
    (c, a), (d, b) = left or (1, x), right or (1, y)
    adds, dtype = type(op) is Add, kept.dtype(x)
    if a == b and is_normal(total := c + d if adds else c - d, dtype):
        return scaled(total, a, dtype)
    if d == -1:
        return Subtract() if adds else Add(), (x, b)
    if c == -1 and adds:
        return Subtract(), (y, a)
    if not (left and right) or kept.shape(a) != kept.shape(b):
        return None
    if kept.shared(x) or kept.shared(y):
        return None
    if c in (d, -d):
        return scaled(c, (Add() if adds == (c == d) else Subtract(), (a, b)), dtype)
    for factor, one, other in ((c, a, b), (d, b, a)):
        part = _already((d if one == a else c) / factor, other, kept)
        if part is not None:
            return scaled(factor, (op, (a, part) if one == a else (part, b)), dtype)
    return None


def _already(factor: Any, slot: int, kept: Kept) -> Expression | None:
    """``factor (x y)`` by ``factor x`` that is kept already."""
    op, args, _, _ = kept.code[slot]
    if type(op) is not Multiply or kept.shared(slot):
        return None
    number = kept.known.get((Constant.of(np.asarray(factor, kept.dtype(slot))), ()))
    for x, y in (args, args[::-1]):
        if number is not None and (found := kept.find(op, number, x)) is not None:
            return op, (found, y)
    return None


def _of_parts(op: Op, x: int, y: int, kept: Kept) -> Expression | None:
    """The sum of two arrays that are zero but for the same part: that of the parts."""
    place, first, _, _ = kept.code[x]
    other, second, _, _ = kept.code[y]
    if type(place) not in PARTS or place != other or first[1:] != second[1:]:
        return None
    return _placed(place, (op, (first[0], second[0])), first)


def _placed(place: Op, part: Expression, args: Sequence[int]) -> Expression:
    """Another part, in the place that it has among zeros."""
    return place, (part, *args[1:])


def _reshaped(op: Op, args: Sequence[int], kept: Kept) -> Expression | None:
    """Multiples of what is reshaped, so that factors on both sides meet."""
    if kept.multiples.isdisjoint(args):
        return None
    part = None if kept.shared(args[0]) else split(args[0], kept)
    return part and scaled(part[0], (op, (part[1],)), kept.dtype(args[0]))


def is_normal(factor: Any, dtype: DType) -> bool:
    """Whether a number neither overflows nor loses digits in ``dtype``."""
    smallest, largest = _range(dtype)
    return bool(smallest <= abs(factor) <= largest)


@cache
def _range(dtype: DType) -> tuple[float, float]:
    limits = np.finfo(dtype)
    return limits.tiny, limits.max


RULES: Mapping[type[Op], Rule] = {
    Multiply: _product,
    Divide: _quotient,
    Negative: _opposite,
    Add: _sum,
    Subtract: _sum,
    Reshape: _reshaped,
}
