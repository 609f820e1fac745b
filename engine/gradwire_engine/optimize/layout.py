"""Orders of axes, moved to where they cancel, and axes that are only inserted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gradwire_engine.ops.arrays.indexing import GetItem, ScatterAdd
from gradwire_engine.ops.arrays.shape import Reshape, Transpose
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.linalg.contraction import Contract, contract
from gradwire_engine.ops.patterns import FULL
from gradwire_engine.optimize.expressions import Expression, Rule, ValueTable


def _transposed(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """``T(f(T'x, y))`` as ``f(x, T y)`` where the orders cancel, and all else is smaller.

    Where only axes of length 1 move, it is another shape.
    """
    assert isinstance(op, Transpose)
    (slot,) = args
    shape = values.shape(slot)
    order = [axis for axis in op.axes if shape[axis] != 1]
    if order == sorted(order):
        return Reshape(tuple([shape[axis] for axis in op.axes])), (slot,)
    inner, of, _, _ = values.code[slot]
    if isinstance(inner, Contract) and not values.shared(slot):
        left, right, result = inner.labels
        return contract(left, right, "".join([result[axis] for axis in op.axes])), of
    if not inner.elementwise:
        return None
    natural = tuple(range(len(op.axes)))
    cancels = all(2 * values.size(arg) <= values.size(slot) for arg in of)
    for arg in of:
        turned = values.code[arg].op
        if isinstance(turned, Transpose) and len(turned.axes) == len(natural):
            same = tuple([turned.axes[axis] for axis in op.axes]) == natural
            cancels |= same
            if same:
                continue
        if 2 * values.size(arg) > values.size(slot):
            return None
    if not cancels or values.shared(slot):
        return None
    return inner, [_turned(arg, op, values) for arg in of]


def _turned(slot: int, op: Transpose, values: ValueTable) -> Expression:
    """An operand, which may lack the first axes, in another order of all axes."""
    shape = values.shape(slot)
    missing = len(op.axes) - len(shape)
    if not shape:
        return slot
    whole: Expression = (Reshape((1,) * missing + shape), (slot,)) if missing else slot
    return op, (whole,)


def _of_everything(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """New axes alone, of all elements, as another shape, which meets others."""
    assert isinstance(op, GetItem | ScatterAdd)
    if any(item not in (None, FULL) for item in op.pattern):
        return None
    (x,) = args
    shape = op.shape if isinstance(op, ScatterAdd) else op.infer(values.code[x].type).shape  # type: ignore[arg-type]
    return Reshape(shape), (x,)


RULES: Mapping[type[Op], Rule] = {
    Transpose: _transposed,  # GMM, d = 10, k = 25, n = 1,000
    GetItem: _of_everything,  # quadratic form: columns
    ScatterAdd: _of_everything,
}
