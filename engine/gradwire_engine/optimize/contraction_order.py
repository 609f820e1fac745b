"""The order of a product of arrays: which two are multiplied next, by what that costs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, reduce
from itertools import combinations
from operator import or_
from typing import NamedTuple, TypeAlias

from gradwire_engine.ops.arrays.diagonals import MatrixDiagonal
from gradwire_engine.ops.arrays.indexing import GetItem, ScatterAdd
from gradwire_engine.ops.arrays.shape import BroadcastTo, Reshape, Transpose
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.linalg.contraction import contract
from gradwire_engine.ops.patterns import ARRAY, FULL
from gradwire_engine.ops.pointwise.arithmetic import Multiply
from gradwire_engine.ops.reductions.reductions import Sum
from gradwire_engine.optimize.costs import Costs
from gradwire_engine.optimize.products import Form, Labels

#: Of so many factors the cheapest pairs give a limit of what is looked at.
_LIMITED = 4
#: Sums of one thing in another order differ less.
_ROUNDED = 1 + 1e-9
#: What is larger than all factors and the result is made only where there is no other way.
_AVOIDED = 1e6
#: Labels of axes, each once.
_Labels: TypeAlias = tuple[int, ...]
#: The number of a factor, or two products that are multiplied.
_Tree: TypeAlias = "int | tuple[_Tree, _Tree]"

#: An expression of the numbers of arrays. Without an operation it is what a number multiplies.
Order: TypeAlias = "int | tuple[Op | None, Sequence[Order]]"


class Pairs(NamedTuple):
    """A way to compute a product, and its time in nanoseconds.

    The result is ``repeats`` times that: axes along which it is repeated are summed, too.
    """

    value: Order
    cost: float
    repeats: int = 1


class _Array(NamedTuple):
    """An array over labelled axes; what ``selects`` is the index that stands for a matrix."""

    labels: _Labels
    value: Order
    selects: bool = False


class _Pairing:
    """A form, the costs that are compared, and the sizes of sets of labels, which are bits."""

    def __init__(self, form: Form, costs: Costs) -> None:
        self.form = form
        self.costs = costs
        self.lengths = form.lengths
        #: Elements of the largest factor, or of the result.
        self.largest = 0
        #: Marks the labels of an index.
        self.index = 1 << len(form.lengths)
        self.itemsize = form.dtype.itemsize
        self._splits = dict(form.splits)
        self._sizes: dict[int, int] = {}

    def whole(self, labels: Labels) -> _Labels:
        """Labels of axes, those that were split by their parts, without those of length 1."""
        found: list[int] = []
        for label in labels:
            if label in self._splits:
                found += self.whole(self._splits[label])
            elif label is not None:
                found.append(label)
        return tuple(found)

    def size(self, labels: int) -> int:
        """The number of elements of an array over some labels."""
        found = self._sizes.get(labels)
        if found is None:
            lengths = [n for label, n in enumerate(self.lengths) if labels >> label & 1]
            found = self._sizes[labels] = math.prod(lengths)
        return found


class _Sets:
    """Sets of factors: numbers with five bits for how many there are of each kind.

    Factors of the same labels are of one kind, so that no two orders differ by these alone.
    """

    def __init__(self, p: _Pairing, alike: Mapping[int, Sequence[int]], result: int) -> None:
        self._p, self._result = p, result
        self._kinds = [(mask, 31 << 5 * i) for i, mask in enumerate(alike)]
        #: How many there are of each kind, by the set of one of them.
        self.ones = {1 << 5 * i: len(each) for i, each in enumerate(alike.values())}
        self.every = sum([one * count for one, count in self.ones.items()])
        #: The highest bits of all kinds, which more than there are would take from ``every``.
        self.above = sum([one << 4 for one in self.ones])
        #: Labels that are needed beside sets, and those of their products.
        self._known: dict[int, tuple[int, int]] = {
            one: (self._needed(one), mask) for one, mask in zip(self.ones, alike, strict=True)
        }

    def cost(self, x: int, y: int) -> float:
        """The cost of multiplying the products of two sets."""
        known, both = self._known, x + y
        if both not in known:
            needed = self._needed(both)
            known[both] = needed, self._union(both) & needed & ~self._p.index
        return _cost(self._p, known[x][1], known[y][1], known[both][0])

    def _needed(self, chosen: int) -> int:
        return self._union(self.every - chosen) | self._result

    def _union(self, chosen: int) -> int:
        return reduce(or_, [mask for mask, bits in self._kinds if chosen & bits], 0)


@lru_cache(maxsize=4096)
def paired(form: Form, costs: Costs) -> Pairs:
    """Two arrays at a time, what one alone is summed over first."""
    p = _Pairing(form, costs)
    result = p.whole(form.result)
    arrays = [
        _Array(p.whole(labels), i, selects) if selects else _array(p, i, p.whole(labels))
        for i, (labels, selects) in enumerate(zip(form.labels, form.selects, strict=True))
    ]
    masks = [_mask(array.labels) for array in arrays]
    whole = _mask(result)
    seen, several = 0, whole
    for each in masks:
        several |= seen & each
        seen |= each
    cost, repeats = 0.0, 1
    if missing := (1 << len(form.lengths)) - 1 & ~(seen | whole):
        for label, _ in form.splits:
            missing &= ~(1 << label)
        repeats = p.size(missing)
    if alone := seen & ~several:
        cost += _sum_apart(p, arrays, masks, alone)
    least = min(range(len(arrays)), key=lambda i: (arrays[i].selects, p.size(masks[i])))
    early = not arrays[least].selects and p.size(masks[least]) < p.size(whole)
    if early:
        array = arrays[least]
        arrays[least] = array._replace(value=(None, (array.value,)))
    masks = [
        each | p.index if array.selects else each for each, array in zip(masks, arrays, strict=True)
    ]
    p.largest = max([p.size(each) for each in [whole, *masks] if not each & p.index])
    more, tree = _order(p, masks, whole)
    cost += more
    if cost == math.inf or (arrays[0].selects and len(arrays) == 1):
        return Pairs(0, math.inf)
    left: dict[_Tree, _Array] = dict(enumerate(arrays))
    _multiply(p, left, tree, result)
    value = _spread(p, left[tree], result)
    if not early:
        value = None, (value,)
    if result != form.result:
        shape = tuple([1 if label is None else p.lengths[label] for label in form.result])
        value = Reshape(shape), (value,)
    return Pairs(value, cost, repeats)


def _sum_apart(p: _Pairing, arrays: list[_Array], masks: list[int], alone: int) -> float:
    """Sum arrays over the labels that they alone have; what this costs."""
    cost = 0.0
    for i, array in enumerate(arrays):
        if masks[i] & alone and array.selects:
            cost = math.inf
        elif masks[i] & alone:
            cost += p.costs.elementwise(p.size(masks[i]), 0, p.itemsize)
            axes = tuple([j for j, label in enumerate(array.labels) if alone >> label & 1])
            left = tuple([label for label in array.labels if not alone >> label & 1])
            arrays[i], masks[i] = _Array(left, (Sum(axes), (array.value,))), masks[i] & ~alone
    return cost


def _array(p: _Pairing, number: int, labels: _Labels) -> _Array:
    """A factor with axes of its labels, each once."""
    value: Order = number
    shape = tuple([p.lengths[label] for label in labels])
    if shape != p.form.shapes[number]:
        value = Reshape(shape), (value,)
    while len({*labels}) < len(labels):
        label = next(label for label in labels if labels.count(label) > 1)
        first = labels.index(label)
        pair = [first, labels.index(label, first + 1)]
        order = [i for i in range(len(labels)) if i not in pair]
        value = MatrixDiagonal(0), (_in_order(value, [*order, *pair]),)
        labels = (*[labels[i] for i in order], label)
    return _Array(labels, value)


def _order(p: _Pairing, masks: list[int], result: int) -> tuple[float, _Tree]:
    """The order of least cost, and that cost: of each set of factors the best way is kept.

    What costs more than taking the cheapest pair next, until one is left, is dropped on the way.
    Source: Pfeifer, Haegeman and Verstraete, Faster identification of optimal contraction
    sequences for tensor networks, Physical Review E 90 (2014), section III.
    """
    if len(masks) == 1:
        return 0.0, 0
    if len(masks) == 2:
        return _cost(p, masks[0], masks[1], result), (0, 1)
    alike: dict[int, list[int]] = {}
    for i, each in enumerate(masks):
        alike.setdefault(each, []).append(i)
    sets = _Sets(p, alike, result)
    room, above = sets.every + sets.above, sets.above
    ways: list[dict[int, tuple[float, _Tree]]] = [{}, {one: (0.0, one) for one in sets.ones}]
    most = math.inf if len(masks) < _LIMITED else _ROUNDED * _greedy(sets)
    for size in range(2, len(masks) + 1):
        found: dict[int, tuple[float, _Tree]] = {}
        for less in range(1, size // 2 + 1):
            for x, (one, first) in ways[less].items():
                left = room - x
                for y, (other, second) in ways[size - less].items():
                    if left - y & above != above or (y < x and 2 * less == size):
                        continue
                    both, cost = x + y, one + other
                    limit = found[both][0] if both in found else most
                    if cost <= limit:
                        cost += sets.cost(x, y)
                        if cost < limit or (both not in found and cost <= limit):
                            found[both] = cost, (first, second)
        ways.append(found)
    cost, tree = ways[-1][sets.every]
    return cost, _numbered(tree, dict(zip(sets.ones, map(iter, alike.values()), strict=True)))


def _greedy(sets: _Sets) -> float:
    """The cost of always multiplying the two that cost least next."""
    left = [one for one, count in sets.ones.items() for _ in range(count)]
    total = 0.0
    while len(left) > 1:
        cost, i, j = min(
            (sets.cost(left[i], left[j]), i, j) for i, j in combinations(range(len(left)), 2)
        )
        total += cost
        left.append(left.pop(j) + left.pop(i))
    return total


def _numbered(tree: _Tree, alike: Mapping[int, Iterator[int]]) -> _Tree:
    """An order with numbers of factors, each once, in place of those of their kinds."""
    if isinstance(tree, int):
        return next(alike[tree])
    first, second = tree
    if isinstance(first, int) and not isinstance(second, int):  # of equals the first come first
        more = _numbered(second, alike)
        return _numbered(first, alike), more
    return _numbered(first, alike), _numbered(second, alike)


def _cost(p: _Pairing, x: int, y: int, needed: int) -> float:
    """The cost of multiplying two arrays, and of summing over the labels that nothing else has."""
    costs, every = p.costs, x | y
    if every & p.index:
        return _cost_of_index(p, *((x, y) if x & p.index else (y, x)), needed)
    size, read = p.size(every & needed), p.size(x) + p.size(y)
    avoided = _AVOIDED if size > p.largest else 1
    if not every & ~needed:
        return avoided * costs.elementwise(size, read, p.itemsize)
    matrices = bool(x & ~y and y & ~x)
    stacked = p.size(x & y & needed)
    return avoided * costs.contraction(
        *(p.size(every), size + read, p.itemsize), stacked=stacked, matrices=matrices
    )


def _cost_of_index(p: _Pairing, index: int, x: int, needed: int) -> float:
    """The cost of reading rows, or of adding to them: one axis of the index is then gone."""
    summed = index & x & ~p.index
    if x & p.index or not summed or summed & needed or summed == index & ~p.index:
        return math.inf
    moved = max(p.size(x), p.size((index | x) & ~summed))
    return p.costs.call + p.costs.selected * moved


def _multiply(p: _Pairing, left: dict[_Tree, _Array], tree: _Tree, result: _Labels) -> None:
    """Put the product of two arrays in their place, after that of what either is made of."""
    if isinstance(tree, int):
        return
    for part in tree:
        _multiply(p, left, part, result)
    x, y = [left.pop(part) for part in tree]
    needed = {*result}.union(*[array.labels for array in left.values()])
    left[tree] = _times(p, x, y, needed, result)


def _times(p: _Pairing, x: _Array, y: _Array, needed: set[int], result: _Labels) -> _Array:
    """A contraction of two arrays, or a product where there is nothing to sum."""
    both = [label for label in x.labels if label in y.labels]
    rows, columns = ([i for i in a.labels if i not in both] for a in (x, y))
    made = [label for label in both if label in needed] + rows + columns
    last = needed == {*result}
    labels = tuple([label for label in result if label in made] if last else made)
    if x.selects or y.selects:
        return _indexed(p, *((x, y) if x.selects else (y, x)), labels)
    if not needed.issuperset(both):
        return _Array(labels, (contract(x.labels, y.labels, labels), (x.value, y.value)))
    return _Array(labels, (Multiply(), (_aligned(p, x, labels), _aligned(p, y, labels))))


def _indexed(p: _Pairing, index: _Array, x: _Array, labels: _Labels) -> _Array:
    """The rows of an array that an index selects, or those that an array's rows are added to."""
    row, column = index.labels
    if column in x.labels:
        made = [row if label == column else label for label in x.labels]
        op: Op = GetItem(tuple([ARRAY if label == column else FULL for label in x.labels]))
        value: Order = (op, (x.value, index.value))
    else:
        rest = [label for label in x.labels if label != row]
        made = [column, *rest]
        op = ScatterAdd((ARRAY, *[FULL for _ in rest]), tuple([p.lengths[i] for i in made]))
        rows = _in_order(x.value, [x.labels.index(label) for label in (row, *rest)])
        value = op, (rows, index.value)
    return _Array(labels, _in_order(value, [made.index(label) for label in labels]))


def _aligned(p: _Pairing, x: _Array, labels: _Labels) -> Order:
    """An array with its axes in this order, and of length 1 where it has none."""
    turned = _in_order(x.value, [x.labels.index(i) for i in labels if i in x.labels])
    first = next((i for i, label in enumerate(labels) if label in x.labels), len(labels))
    shape = tuple([p.lengths[label] if label in x.labels else 1 for label in labels[first:]])
    return turned if len(shape) == len(x.labels) else (Reshape(shape), (turned,))


def _spread(p: _Pairing, x: _Array, result: _Labels) -> Order:
    """An array repeated along the labels of the result that it lacks."""
    if x.labels == result:
        return x.value
    value = _aligned(p, x, result)
    if len(x.labels) == len(result):
        return value
    return BroadcastTo(tuple([p.lengths[label] for label in result])), (value,)


def _in_order(x: Order, axes: Sequence[int]) -> Order:
    """``x`` with its axes in another order, if it is another."""
    return x if [*axes] == sorted(axes) else (Transpose(tuple(axes)), (x,))


def _mask(labels: Sequence[int]) -> int:
    """A set of labels as the bits of a number."""
    return reduce(or_, [1 << label for label in labels], 0)
