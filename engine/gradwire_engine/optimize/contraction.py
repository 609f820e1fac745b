"""Contractions: one form for all sums of products, computed in the order that costs least.

What is summed or multiplied as matrices is a product over labelled axes (products.py), whoever made
it: matmul, einsum, a sum of a product that broadcasts, a trace. It is contracted two arrays at a
time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
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
from gradwire_engine.optimize.products import Product

#: Up to so many arrays every order is compared; of more the cheapest pair comes first.
_COMPARED = 4
#: Sums are looked into so deep.
_DEEPEST = 3
#: A value that others read is looked into where that costs hardly more than reading it.
_HARDLY = 1.05
#: Labels of axes, each once.
_Labels: TypeAlias = tuple[int, ...]


class _Array(NamedTuple):
    """An array over labelled axes."""

    labels: _Labels
    value: Expression


class _Plan(NamedTuple):
    """How a product is computed, and the nanoseconds that it takes; ``plain`` as one product."""

    value: Expression
    cost: float
    plain: bool = True


class _Pair(NamedTuple):
    """A step: the numbers of two arrays, the labels of their product, and its nanoseconds."""

    places: tuple[int, int]
    labels: _Labels
    cost: float


def _contraction(op: Op, args: Sequence[int], kept: Kept) -> Settled | None:
    """What multiplies and adds, in the order that costs least."""
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
    dtype = p.kept.dtype(p.factors[0].slot)
    if p.scale != 1 and not is_normal(p.scale, dtype):
        return None
    plan = _as_pairs(p)
    if depth < _DEEPEST and (parts := _distributed(p, plan, depth)) is not None:
        plan = parts
    return plan


def _as_pairs(p: Product) -> _Plan:
    """Two arrays at a time, what one alone is summed over first."""
    result = p.whole(p.result)
    arrays, cost, scale = _summed(p, result)
    dtype = p.kept.dtype(p.factors[0].slot)
    size = p.size(result)
    if scale != 1:
        cost += p.kept.costs.call
        least = min(arrays, key=lambda array: p.size(array.labels))
        if p.size(least.labels) < size:
            arrays[arrays.index(least)] = least._replace(value=scaled(scale, least.value, dtype))
            scale = 1
    for pair in _order(p, [array.labels for array in arrays], (*result,)):
        x, y = (arrays[place] for place in pair.places)
        arrays = [array for i, array in enumerate(arrays) if i not in pair.places]
        arrays.append(_times(p, x, y, pair.labels))
        cost += pair.cost
    value = _spread(p, arrays[0], (*result,))
    value = scaled(scale, value, dtype)
    shape = tuple([1 if label is None else p.length(label) for label in p.result])
    return _Plan((Reshape(shape), (value,)), cost)


def _summed(p: Product, result: Sequence[int]) -> tuple[list[_Array], float, complex]:
    """The factors, summed over the labels that they alone have, and what this costs."""
    arrays = [_array(p, factor.slot, p.whole(factor.labels)) for factor in p.factors]
    own = [{*array.labels} for array in arrays]
    known = {*result}.union(*own)
    # What is repeated along an axis that nothing has is added as often as that is long.
    summed = [label for label in range(len(p.lengths)) if label not in p.splits]
    scale = p.scale * p.size([label for label in summed if label not in known])
    cost = 0.0
    for i, array in enumerate(arrays):
        others = {*result}.union(*own[:i], *own[i + 1 :])
        axes = tuple([j for j, label in enumerate(array.labels) if label not in others])
        if axes:
            cost += p.kept.costs.elementwise(p.size(array.labels), 0, p.itemsize)
            labels = tuple([label for label in array.labels if label in others])
            arrays[i] = _Array(labels, (Sum(axes), (array.value,)))
    return arrays, cost, scale


def _array(p: Product, slot: int, labels: list[int]) -> _Array:
    """A slot with axes of its labels, each once."""
    value: Expression = slot
    shape = tuple([p.length(label) for label in labels])
    if shape != p.kept.shape(slot):
        value = Reshape(shape), (value,)
    while repeated := [label for label in labels if labels.count(label) > 1]:
        label = repeated[0]
        first = labels.index(label)
        pair = [first, labels.index(label, first + 1)]
        order = [i for i in range(len(labels)) if i not in pair]
        value = MatrixDiagonal(0), (_in_order(value, [*order, *pair]),)
        labels = [*[labels[i] for i in order], label]
    return _Array(tuple(labels), value)


def _order(p: Product, arrays: Sequence[_Labels], result: _Labels) -> Sequence[_Pair]:
    """Which two to multiply next, until one is left: every way, or the cheapest pair first."""
    if len(arrays) < 2:
        return ()
    pairs = [_pair(p, places, arrays, result) for places in combinations(range(len(arrays)), 2)]
    if len(arrays) > _COMPARED:
        pairs = [min(pairs, key=lambda pair: pair.cost)]
    ways = []
    for pair in pairs:
        rest = [labels for i, labels in enumerate(arrays) if i not in pair.places]
        ways.append([pair, *_order(p, [*rest, pair.labels], result)])
    return min(ways, key=lambda way: sum([pair.cost for pair in way]))


def _pair(p: Product, places: tuple[int, int], arrays: Sequence[_Labels], result: _Labels) -> _Pair:
    """Multiply two arrays, and sum over the labels that nothing else has."""
    x, y = (arrays[place] for place in places)
    others = [labels for i, labels in enumerate(arrays) if i not in places]
    needed = {*result}.union(*others)
    rows, columns = ([i for i in a if i not in b] for a, b in ((x, y), (y, x)))
    both = [label for label in x if label in y]
    batch = [label for label in both if label in needed]
    labels = (*batch, *rows, *columns)
    costs, products = p.kept.costs, p.size([*both, *rows, *columns])
    size, read = p.size(labels), p.size(x) + p.size(y)
    if len(batch) == len(both):
        labels = labels if others else tuple([label for label in result if label in labels])
        return _Pair(places, labels, costs.elementwise(size, read, p.itemsize))
    cost = costs.contraction(
        *(products, size + read, p.itemsize),
        batched=bool(batch),
        matrices=bool(rows and columns),
    )
    return _Pair(places, labels if others else _among(result, labels), cost)


def _among(result: _Labels, labels: _Labels) -> _Labels:
    """The labels of the result that there are."""
    return tuple([label for label in result if label in labels])


def _times(p: Product, x: _Array, y: _Array, labels: _Labels) -> _Array:
    """A contraction of two arrays, or a product where there is nothing to sum."""
    if {*x.labels, *y.labels} != {*labels}:
        return _Array(labels, (contract(x.labels, y.labels, labels), (x.value, y.value)))
    return _Array(labels, (Multiply(), (_aligned(p, x, labels), _aligned(p, y, labels))))


def _aligned(p: Product, x: _Array, labels: _Labels) -> Expression:
    """An array with its axes in this order, and of length 1 where it has none."""
    turned = _in_order(x.value, [x.labels.index(i) for i in labels if i in x.labels])
    first = next((i for i, label in enumerate(labels) if label in x.labels), len(labels))
    shape = tuple([p.length(label) if label in x.labels else 1 for label in labels[first:]])
    return turned if len(shape) == len(x.labels) else (Reshape(shape), (turned,))


def _spread(p: Product, x: _Array, result: _Labels) -> Expression:
    """An array repeated along the labels of the result that it lacks."""
    value = _aligned(p, x, result)
    if len(x.labels) == len(result):
        return value
    return BroadcastTo(tuple([p.length(label) for label in result])), (value,)


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
        if type(op) not in (Add, Subtract):
            continue
        repeats = all(2 * p.kept.size(arg) <= p.kept.size(slot) for arg in args)
        once = [factor.slot for factor in p.factors].count(slot) == 1
        products = all(type(p.kept.code[arg].op) in (Multiply, Square) for arg in args)
        if not ((repeats and once) or (products and len(p.factors) == 1)):
            continue
        if p.kept.stands(slot):
            continue
        parts = [_planned(p.replaced(i, arg), depth + 1) for arg in args]
        if None in parts:
            continue
        one, other = (part for part in parts if part is not None)
        cost = one.cost + other.cost + p.kept.costs.call
        if cost < plan.cost + _spared(slot, args, p):
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
