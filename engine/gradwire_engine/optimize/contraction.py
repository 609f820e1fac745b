"""Contractions: one form for all sums of products, computed in the order that costs least.

What is summed or multiplied as matrices is a product over labelled axes (products.py), whoever made
it: matmul, einsum, a sum of a product that broadcasts, a trace. It is contracted two arrays at a
time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from functools import reduce
from itertools import combinations
from operator import or_
from typing import NamedTuple, TypeAlias

from gradwire_engine.ops.arrays.diagonals import MatrixDiagonal
from gradwire_engine.ops.arrays.shape import BroadcastTo, Reshape, Transpose
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.linalg.contraction import contract
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.pointwise.arithmetic import Add, Multiply, Square, Subtract
from gradwire_engine.ops.reductions.reductions import Sum
from gradwire_engine.optimize.expressions import Expression, Kept, Rule, Settled
from gradwire_engine.optimize.factors import is_normal, scaled
from gradwire_engine.optimize.products import Product, is_product, mask

#: Up to so many pairs every order is compared; of more the cheapest pair comes first.
_COMPARED = 3
#: Sums are looked into so deep, and where products cost at least so many calls.
_DEEPEST, _CALLS = 3, 3
#: A value that others read is looked into where that costs hardly more than reading it.
_HARDLY = 1.05
_SUMS = (Add, Subtract)
#: Labels of axes, each once.
_Labels: TypeAlias = tuple[int, ...]
_Pair: TypeAlias = tuple[int, int]


class _Array(NamedTuple):
    """An array over labelled axes."""

    labels: _Labels
    value: Expression


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
    found = Product.of(op, args, kept, through=False)
    if not found.factors:
        return None
    least = plan = _planned(found)
    if found.stopped:
        through = _planned(Product.of(op, args, kept, through=True))
        if plan is None or (through and through.cost <= _HARDLY * plan.cost):
            least = through
    if least is None or (least is plan and least.plain and found.is_only(args[0])):
        return None
    return Settled(least.value)


def _planned(p: Product, depth: int = 0) -> _Plan | None:
    """The way of least cost that is known."""
    if p.scale != 1 and not is_normal(p.scale, p.dtype):
        return None
    plan = _as_pairs(p)
    if depth < _DEEPEST and (parts := _distributed(p, plan, depth)) is not None:
        plan = parts
    return plan


def _as_pairs(p: Product) -> _Plan:
    """Two arrays at a time, what one alone is summed over first."""
    result = tuple(p.whole(p.result))
    arrays = [_array(p, slot, p.whole(labels)) for slot, labels in p.factors]
    masks = [mask(array.labels) for array in arrays]
    whole = mask(result)
    seen, several = 0, whole
    for each in masks:
        several |= seen & each
        seen |= each
    cost, scale = 0.0, p.scale
    if missing := (1 << len(p.lengths)) - 1 & ~(seen | whole):
        for label in p.splits:
            missing &= ~(1 << label)
        scale = scale * p.size(missing)  # what is repeated along an axis is added as often
    if alone := seen & ~several:
        cost += _sum_apart(p, arrays, masks, alone)
    if scale != 1:
        cost += p.kept.costs.call
        least = min(range(len(arrays)), key=lambda i: p.size(masks[i]))
        if p.size(masks[least]) < p.size(whole):
            array = arrays[least]
            arrays[least] = array._replace(value=scaled(scale, array.value, p.dtype))
            scale = 1
    more, pairs = _order(p, masks, whole)
    for i, j in pairs:
        y, x = arrays.pop(j), arrays.pop(i)
        arrays.append(_times(p, x, y, {*result}.union(*[a.labels for a in arrays]), result))
    value = scaled(scale, _spread(p, arrays[0], result), p.dtype)
    if len(result) != len(p.result):
        shape = tuple([1 if label is None else p.lengths[label] for label in p.result])
        value = Reshape(shape), (value,)
    return _Plan(value, cost + more)


def _sum_apart(p: Product, arrays: list[_Array], masks: list[int], alone: int) -> float:
    """Sum arrays over the labels that they alone have; what this costs."""
    cost = 0.0
    for i, (labels, value) in enumerate(arrays):
        if masks[i] & alone:
            cost += p.kept.costs.elementwise(p.size(masks[i]), 0, p.itemsize)
            axes = tuple([j for j, label in enumerate(labels) if alone >> label & 1])
            left = tuple([label for label in labels if not alone >> label & 1])
            arrays[i], masks[i] = _Array(left, (Sum(axes), (value,))), masks[i] & ~alone
    return cost


def _array(p: Product, slot: int, labels: list[int]) -> _Array:
    """A slot with axes of its labels, each once."""
    value: Expression = slot
    shape = tuple([p.lengths[label] for label in labels])
    if shape != p.kept.shape(slot):
        value = Reshape(shape), (value,)
    while len({*labels}) < len(labels):
        label = next(label for label in labels if labels.count(label) > 1)
        first = labels.index(label)
        pair = [first, labels.index(label, first + 1)]
        order = [i for i in range(len(labels)) if i not in pair]
        value = MatrixDiagonal(0), (_in_order(value, [*order, *pair]),)
        labels = [*[labels[i] for i in order], label]
    return _Array(tuple(labels), value)


def _order(p: Product, masks: list[int], result: int) -> tuple[float, tuple[_Pair, ...]]:
    """Which two to multiply next, until one is left, and what this costs.

    Each step takes two away and appends their product. All ways are compared, or the cheapest pair
    comes first.
    """
    if len(masks) == 1:
        return 0.0, ()
    if len(masks) == 2:
        return _cost(p, *masks, result), ((0, 1),)
    steps = []
    for i, j in combinations(range(len(masks)), 2):
        others = masks[:i] + masks[i + 1 : j] + masks[j + 1 :]
        needed = reduce(or_, others, result)
        x, y = masks[i], masks[j]
        steps.append((_cost(p, x, y, needed), (i, j), [*others, (x | y) & needed]))
    if len(steps) > _COMPARED:
        steps = [min(steps)]
    ways = []
    for cost, pair, left in steps:
        more, pairs = _order(p, left, result)
        ways.append((cost + more, (pair, *pairs)))
    return min(ways)


def _cost(p: Product, x: int, y: int, needed: int) -> float:
    """What it costs to multiply two arrays, and to sum over the labels that nothing else has."""
    costs, every = p.kept.costs, x | y
    size, read = p.size(every & needed), p.size(x) + p.size(y)
    if not every & ~needed:
        return costs.elementwise(size, read, p.itemsize)
    matrices = bool(x & ~y and y & ~x)
    batched = bool(x & y & needed)
    return costs.contraction(
        *(p.size(every), size + read, p.itemsize), batched=batched, matrices=matrices
    )


def _times(p: Product, x: _Array, y: _Array, needed: Set[int], result: _Labels) -> _Array:
    """A contraction of two arrays, or a product where there is nothing to sum."""
    both = [label for label in x.labels if label in y.labels]
    rows, columns = ([i for i in a.labels if i not in both] for a in (x, y))
    made = [label for label in both if label in needed] + rows + columns
    last = needed == {*result}
    labels = tuple([label for label in result if label in made] if last else made)
    if not needed.issuperset(both):
        return _Array(labels, (contract(x.labels, y.labels, labels), (x.value, y.value)))
    return _Array(labels, (Multiply(), (_aligned(p, x, labels), _aligned(p, y, labels))))


def _aligned(p: Product, x: _Array, labels: _Labels) -> Expression:
    """An array with its axes in this order, and of length 1 where it has none."""
    turned = _in_order(x.value, [x.labels.index(i) for i in labels if i in x.labels])
    first = next((i for i, label in enumerate(labels) if label in x.labels), len(labels))
    shape = tuple([p.lengths[label] if label in x.labels else 1 for label in labels[first:]])
    return turned if len(shape) == len(x.labels) else (Reshape(shape), (turned,))


def _spread(p: Product, x: _Array, result: _Labels) -> Expression:
    """An array repeated along the labels of the result that it lacks."""
    if x.labels == result:
        return x.value
    value = _aligned(p, x, result)
    if len(x.labels) == len(result):
        return value
    return BroadcastTo(tuple([p.lengths[label] for label in result])), (value,)


def _in_order(x: Expression, axes: Sequence[int]) -> Expression:
    """``x`` with its axes in another order, if it is another."""
    return x if [*axes] == sorted(axes) else (Transpose(tuple(axes)), (x,))


def _distributed(p: Product, plan: _Plan, depth: int) -> _Plan | None:
    """``sum (a ± b) c`` as ``sum a c ± sum b c``, where that costs less.

    Either ``a`` and ``b`` are repeated along axes and ``a ± b`` occurs once, since the square of a
    difference must not become a difference of squares, or nothing but products is added.
    """
    for i, (slot, _) in enumerate(p.factors):
        op, args, _, _ = p.kept.code[slot]
        if type(op) not in _SUMS:
            continue
        repeats = all(2 * p.kept.size(arg) <= p.kept.size(slot) for arg in args)
        once = [factor.slot for factor in p.factors].count(slot) == 1
        products = all(type(p.kept.code[arg].op) in (Multiply, Square) for arg in args)
        if not ((repeats and once) or (products and len(p.factors) == 1)):
            continue
        now = plan.cost + _spared(slot, args, p)
        if now < _CALLS * p.kept.costs.call or p.kept.stands(slot):
            continue
        parts = [_planned(p.replaced(i, arg), depth + 1) for arg in args]
        if None in parts:
            continue
        one, other = (part for part in parts if part is not None)
        cost = one.cost + other.cost + p.kept.costs.call
        if cost < now:
            return _Plan((op, (one.value, other.value)), cost, plain=False)
    return None


def _spared(slot: int, args: Sequence[int], p: Product) -> float:
    """What it costs to make a sum, with its products, if nobody else reads it."""
    kept, costs = p.kept, p.kept.costs
    if kept.shared(slot):
        return 0.0
    size = kept.size(slot)
    made = 1 + sum(
        [type(kept.code[arg].op) in (Multiply, Square) and not kept.shared(arg) for arg in args]
    )
    return made * costs.elementwise(size, 2 * size, p.itemsize)


RULES: Mapping[type[Op], Rule] = dict.fromkeys((Sum, MatMul, MatrixDiagonal), _contraction)
