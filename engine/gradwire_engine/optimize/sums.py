"""Sums of products as products of matrices and vectors; sums of what is linear, of less."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from gradwire_engine.ops.arrays.shape import Reshape, Transpose, View
from gradwire_engine.ops.axes import with_ones, without
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.elementwise import broadcast_shapes
from gradwire_engine.ops.linalg.inner_products import InnerProducts
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.pointwise.arithmetic import Add, Multiply, Negative, Square, Subtract
from gradwire_engine.ops.reductions.reductions import Sum
from gradwire_engine.optimize.expressions import Expression, Kept, Rule
from gradwire_engine.optimize.factors import scaled, split
from gradwire_engine.tape import Shape

#: Fewest products for which einsum, or a matrix product of views, is quicker than their sum.
_FEWEST_SUMMED, _FEWEST_TURNED = 2048, 128
#: Most products that are added in single precision other than by NumPy, which adds in pairs.
_MOST_SINGLE = 1 << 20
#: Most elements of sums that are worth another call each.
_FEW = 1024
_Axes: TypeAlias = tuple[int, ...]


def _sum(op: Op, args: Sequence[int], kept: Kept) -> Expression | None:
    """A sum by what is summed."""
    assert isinstance(op, Sum)
    (x,) = args
    inner, of, _, _ = kept.code[x]
    rule = _RULES.get(type(inner))
    if kept.dtype(x).char not in "fdFD" or not kept.size(x):
        return None
    if isinstance(inner, View) and kept.shared(x):
        kept.share(of[0])
    return None if rule is None else rule(op.axes, x, kept)


def _of_multiples(axes: _Axes, x: int, kept: Kept) -> Expression | None:
    part = split(x, kept)
    return part and scaled(part[0], (Sum(axes), (part[1],)), kept.dtype(x))


def _of_squares(axes: _Axes, x: int, kept: Kept) -> Expression | None:
    (base,) = kept.code[x].args
    return None if kept.shared(x) else _Product(axes, kept, base, base).summed()


def _of_products(axes: _Axes, x: int, kept: Kept) -> Expression | None:
    """``sum(a b)``, and ``sum((c a) b)`` without the factor, unless the product is there anyway."""
    if (found := _of_multiples(axes, x, kept)) is not None:
        return found
    if kept.shared(x):
        return None
    a, b = kept.code[x].args
    for factor, other in ((a, b), (b, a)):
        part = split(factor, kept)
        if part and a != b and not kept.shared(factor):
            c, base = part
            return scaled(c, (Sum(axes), ((Multiply(), (base, other)),)), kept.dtype(x))
    found = _of_three(axes, x, kept)
    return _Product(axes, kept, a, b).summed() if found is None else found


def _of_three(axes: _Axes, x: int, kept: Kept) -> Expression | None:
    """``sum_ij c_i d_ij e_j = sum_i c_i (sum_j d_ij e_j)``: no product of all three is made.

    Where a product of two is there anyway, one of the others has to be smaller than it.
    """
    shape, (a, b) = kept.shape(x), kept.code[x].args
    if kept.size(x) < _FEWEST_TURNED:
        return None
    for factor, other in ((a, b), (b, a)):
        inner, parts, _, _ = kept.code[factor]
        if type(inner) is not Multiply or a == b:
            continue
        three = [*parts, other]
        for i, c in enumerate(three):
            d, e = three[:i] + three[i + 1 :]
            own = _own(kept.shape(c), shape)
            first = tuple([axis for axis in axes if shape[axis] != 1 and axis not in own])
            whole = broadcast_shapes(kept.shape(d), kept.shape(e)) == shape
            small = min(kept.size(d), kept.size(e)) < kept.size(x)
            if first and whole and (small or not kept.shared(factor)):
                ahead = (1,) * (len(shape) - len(kept.shape(c)))
                less: Expression = (Reshape(without((*ahead, *kept.shape(c)), first)), (c,))
                product: Expression = (Multiply(), (less, (Sum(first), ((Multiply(), (d, e)),))))
                kinds = [axis for axis in range(len(shape)) if axis not in first]
                rest = tuple([n for n, axis in enumerate(kinds) if axis in axes])
                return (Sum(rest), (product,)) if rest else product
    return None


class _Product(NamedTuple):
    """The product of the slots ``a`` and ``b``, to be summed over ``axes``."""

    axes: _Axes
    kept: Kept
    a: int
    b: int

    def summed(self) -> Expression | None:
        """How to sum it without making it, if that is quicker."""
        shape = broadcast_shapes(self.kept.shape(self.a), self.kept.shape(self.b))
        left, right = (_own(self.kept.shape(slot), shape) for slot in (self.a, self.b))
        result = without(shape, self.axes)
        if (left ^ right).intersection(self.axes):
            return self._apart(left, right, shape, result)
        inner = [axis for axis in self.axes if axis in left]
        count = math.prod([shape[axis] for axis in inner])
        if not inner or (count > _MOST_SINGLE and self.kept.dtype(self.a).char in "fF"):
            return None
        both = left & right - {*inner}
        rows, columns = left - right, right - left
        if rows and columns and not both and math.prod(shape) >= _FEWEST_TURNED:
            return self._matrix(sorted(rows), inner, sorted(columns), result)
        if bool(rows) != bool(columns) and not both:
            matrix, vector = (self.a, self.b) if rows else (self.b, self.a)
            found = self._vector(matrix, vector, left | right, inner, result)
            if found is not None:
                return found
        along = self.kept.shape(self.a) == self.kept.shape(self.b) and (
            not result or self.axes == (len(shape) - 1,)
        )
        if along or math.prod(shape) >= _FEWEST_SUMMED:
            return InnerProducts(self.axes), (self.a, self.b)
        return None

    def _apart(
        self, left: set[int], right: set[int], shape: Shape, result: Shape
    ) -> Expression | None:
        """Sum first along axes that one operand alone has."""
        first = tuple([axis for axis in self.axes if axis in left - right])
        second = tuple([axis for axis in self.axes if axis in right - left])
        rest = tuple([axis for axis in self.axes if axis in left & right])
        gone = () if rest else self.axes
        a = _presummed(self.a, first, gone, shape, self.kept)
        b = _presummed(self.b, second, gone, shape, self.kept)
        product: Expression = (Multiply(), (a, b))
        return Reshape(result), [(Sum(rest), (product,)) if rest else product]

    def _matrix(
        self, rows: Sequence[int], inner: Sequence[int], columns: Sequence[int], result: Shape
    ) -> Expression:
        """A product of matrices, their axes gathered to rows and columns."""
        a, b = self._turned(self.a, rows, inner), self._turned(self.b, inner, columns)
        product: Expression = (MatMul(), (a, b))
        order = [*rows, *columns]
        shape = broadcast_shapes(self.kept.shape(self.a), self.kept.shape(self.b))
        spread: Expression = (Reshape(tuple([shape[axis] for axis in order])), (product,))
        places = [order.index(axis) for axis in sorted(order)]
        return Reshape(result), [_in_order(spread, places)]

    def _turned(self, slot: int, first: Sequence[int], second: Sequence[int]) -> Expression:
        """An operand as a matrix of these axes of the product."""
        own = _squeezed(slot, self._shape(), self.kept)
        axes = sorted([*first, *second])
        turned = _in_order(own, [axes.index(axis) for axis in (*first, *second)])
        sizes = [math.prod([self._shape()[i] for i in part]) for part in (first, second)]
        return Reshape(tuple(sizes)), (turned,)

    def _vector(
        self, matrix: int, vector: int, axes: set[int], inner: Sequence[int], result: Shape
    ) -> Expression | None:
        """The product of a matrix and a vector, if the inner axes are its first or its last."""
        order, count = sorted(axes), len(inner)
        size = math.prod([self._shape()[axis] for axis in inner])
        flat: Expression = (Reshape((size,)), (vector,))
        if order[-count:] == inner:
            shape = (*[self._shape()[axis] for axis in order[:-count]], size)
            return Reshape(result), [(MatMul(), ((Reshape(shape), (matrix,)), flat))]
        if order[:count] == inner:
            columns = math.prod([self._shape()[axis] for axis in order[count:]])
            whole: Expression = (Reshape((size, columns)), (matrix,))
            return Reshape(result), [(MatMul(), (flat, whole))]
        return None

    def _shape(self) -> Shape:
        return broadcast_shapes(self.kept.shape(self.a), self.kept.shape(self.b))


def _own(shape: Shape, whole: Shape) -> set[int]:
    """The axes of ``whole`` that an operand of ``shape`` is not repeated along."""
    ahead = len(whole) - len(shape)
    return {i for i, n in enumerate(whole) if n != 1 and i >= ahead and shape[i - ahead] == n}


def _in_order(x: Expression, axes: Sequence[int]) -> Expression:
    """``x`` with its axes in another order, if it is another."""
    return x if [*axes] == sorted(axes) else (Transpose(tuple(axes)), (x,))


def _squeezed(slot: int, whole: Shape, kept: Kept) -> Expression:
    """An operand without the axes that it is repeated along."""
    shape = tuple([whole[axis] for axis in sorted(_own(kept.shape(slot), whole))])
    return Reshape(shape), (slot,)


def _presummed(slot: int, axes: _Axes, gone: _Axes, whole: Shape, kept: Kept) -> Expression:
    """An operand summed over axes of the product, of which those stay as 1 that are not gone."""
    shape = kept.shape(slot)
    ahead = len(whole) - len(shape)
    own = tuple([axis - ahead for axis in gone or axes if axis >= ahead])
    left = without(shape, own) if gone else with_ones(shape, own)
    return Reshape(left), [(Sum(own), (slot,)) if any(shape[i] != 1 for i in own) else slot]


def _of_matrices(axes: _Axes, x: int, kept: Kept) -> Expression | None:
    """``sum_i (A B)_ij = (sum_i A_i) B``, ``sum_j (A B)_ij = A (sum_j B_j)``."""
    a, b = kept.code[x].args
    left, right, shape = kept.shape(a), kept.shape(b), kept.shape(x)
    if kept.shared(x) and kept.size(x) < kept.size(a) + 2 * kept.size(b):
        return None
    column = len(shape) - 1
    row = column - (len(right) > 1)
    product: Expression
    if len(left) > 1 and row in axes and left[-2] > 1:
        gone, total = row, (Sum((len(left) - 2,)), (a,))
        if len(left) == 2 or len(right) == 1:
            product = MatMul(), (total, b)
        else:
            product = MatMul(), ((Reshape((*left[:-2], 1, left[-1])), (total,)), b)
    elif len(right) > 1 and column in axes and right[-1] > 1:
        gone, total = column, (Sum((len(right) - 1,)), (b,))
        if len(right) == 2:
            product = MatMul(), (a, total)
        else:
            product = MatMul(), (a, (Reshape((*right[:-1], 1)), (total,)))
    else:
        return None
    less: Expression = (Reshape(without(shape, (gone,))), (product,))
    rest = tuple([axis - (axis > gone) for axis in axes if axis != gone])
    return (Sum(rest), (less,)) if rest else less


def _of_turned(axes: _Axes, x: int, kept: Kept) -> Expression | None:
    """The sum of a transposed array, by the axes that it had."""
    inner, (base,), _, _ = kept.code[x]
    assert isinstance(inner, Transpose)
    mapped = tuple(sorted([inner.axes[axis] for axis in axes]))
    left = [axis for i, axis in enumerate(inner.axes) if i not in axes]
    return _in_order((Sum(mapped), (base,)), [sorted(left).index(axis) for axis in left])


def _of_reshaped(axes: _Axes, x: int, kept: Kept) -> Expression | None:
    """The sum of an array in which only axes of length 1 came or went, or of all elements."""
    (base,) = kept.code[x].args
    shape, before = kept.shape(x), kept.shape(base)
    if len(axes) == len(shape):
        return Sum(tuple(range(len(before)))), (base,)
    old = [i for i, n in enumerate(before) if n != 1]
    new = [i for i, n in enumerate(shape) if n != 1]
    if [before[i] for i in old] != [shape[i] for i in new]:
        return None
    mapped = tuple([i for i, j in zip(old, new, strict=True) if j in axes])
    return Reshape(without(shape, axes)), [(Sum(mapped), (base,)) if mapped else base]


def _of_sums(axes: _Axes, x: int, kept: Kept) -> Expression | None:
    """``sum(a b ± c d)`` of few elements: two products of vectors take less than three calls."""
    op, args, _, _ = kept.code[x]
    shape = kept.shape(x)
    if len(axes) < len(shape) or kept.size(x) > _FEW or kept.shared(x):
        return None
    for slot in args:
        products = type(kept.code[slot].op) in (Multiply, Square)
        if not products or kept.shape(slot) != shape:
            return None
    return op, [(Sum(axes), (slot,)) for slot in args]


def _of_inner_products(axes: _Axes, x: int, kept: Kept) -> Expression | None:
    """Sums of products that are summed further."""
    inner, of, _, _ = kept.code[x]
    assert isinstance(inner, InnerProducts)
    ndim = max([len(kept.shape(slot)) for slot in of])
    left = [axis for axis in range(ndim) if axis not in inner.axes]
    both = tuple(sorted([*inner.axes, *[left[axis] for axis in axes]]))
    return None if kept.shared(x) else (InnerProducts(both), of)


_RULES: Mapping[type[Op], Callable[[_Axes, int, Kept], Expression | None]] = {
    InnerProducts: _of_inner_products,
    Negative: _of_multiples,
    Multiply: _of_products,
    Square: _of_squares,
    MatMul: _of_matrices,
    Transpose: _of_turned,
    Reshape: _of_reshaped,
    Add: _of_sums,
    Subtract: _of_sums,
}
RULES: Mapping[type[Op], Rule] = {Sum: _sum}
