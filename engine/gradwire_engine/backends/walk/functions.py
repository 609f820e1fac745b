"""NumPy's quickest function for each operation, with the bits of its kernel.

A table by the type of the operation; what is not in it is called by its kernel.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import partial
from operator import attrgetter, itemgetter, methodcaller
from typing import Any, TypeVar

import numpy as np

from gradwire_engine.backends.reference.namespace import NUMPY
from gradwire_engine.ops.arrays.indexing import GetItem, ScatterAdd
from gradwire_engine.ops.arrays.joining import Stack
from gradwire_engine.ops.arrays.placements import Placed
from gradwire_engine.ops.arrays.shape import BroadcastTo, Reshape, Transpose
from gradwire_engine.ops.arrays.windows import Windows
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Guard, GuardFailed, Item
from gradwire_engine.ops.patterns import ARRAY, index_of
from gradwire_engine.ops.reductions.reductions import Sum
from gradwire_engine.tape import ArrayType

F = TypeVar("F", bound=Callable[..., Any])

#: Elements of arrays on which arithmetic takes less than calling NumPy does.
_SMALL = 1024
_UINT64 = np.dtype("uint64")
#: Fewest numbers that ``take`` selects in less time than an index.
_FEWEST_TAKEN = 4096
#: Python's operators, which are quicker than the ufuncs behind them on scalars.
_OPERATORS: dict[str, Callable[..., Any]] = {
    "{0} + {1}": operator.add,
    "{0} - {1}": operator.sub,
    "{0} * {1}": operator.mul,
    "{0} / {1}": operator.truediv,
    "{0} // {1}": operator.floordiv,
    "{0} % {1}": operator.mod,
    "{0} ** {1}": operator.pow,
    "{0} == {1}": operator.eq,
    "{0} != {1}": operator.ne,
    "{0} < {1}": operator.lt,
    "{0} <= {1}": operator.le,
    "{0} > {1}": operator.gt,
    "{0} >= {1}": operator.ge,
    "{0} & {1}": operator.and_,
    "{0} | {1}": operator.or_,
    "{0} ^ {1}": operator.xor,
    "{0} << {1}": operator.lshift,
    "{0} >> {1}": operator.rshift,
    "{0} * {0}": lambda x: x * x,
    "-{0}": operator.neg,
    "~{0}": operator.invert,
    "{0}": lambda x: x,
}


class ByType(dict[type[Op], Callable[..., Any]]):
    """Functions for operations, by their type or by the nearest of its base classes.

    As ``functools.singledispatch``, in a third of its time: it is asked for each instruction.
    """

    def __missing__(self, kind: type[Op]) -> Callable[..., Any]:
        found = self[kind] = next(self[base] for base in kind.__mro__[1:] if base in self)
        return found

    def of(self, kind: type[Op]) -> Callable[[F], F]:
        """Register what is for a type.

        Raises: ``TypeError`` where something is already.
        """

        def register(made: F) -> F:
            if kind in self:
                raise TypeError(f"two functions for {kind.name or kind.__name__}")
            self[kind] = made
            return made

        return register


#: From an operation to its kernel as a function of the operands, constant work done beforehand.
FUNCTIONS = ByType()


def function(op: Op) -> Callable[..., Any]:
    """The kernel as a function of the operands alone."""
    found: Callable[..., Any] = FUNCTIONS[type(op)](op)
    return found


def ufunc_of(op: Op) -> np.ufunc | None:
    """The ufunc that is the whole kernel, where nothing is quicker."""
    if not op.ufunc or not op.is_ufunc or FUNCTIONS[type(op)] is not FUNCTIONS[Op]:
        return None
    found = attrgetter(op.ufunc)(NUMPY)
    return found if isinstance(found, np.ufunc) else None


@FUNCTIONS.of(Op)
def _(op: Op) -> Callable[..., Any]:
    if op.template:
        return _OPERATORS[op.template]
    return attrgetter(op.ufunc)(NUMPY) if op.is_ufunc else partial(op.kernel, NUMPY)


@FUNCTIONS.of(Item)
def _(op: Item) -> Callable[..., Any]:
    return itemgetter(op.index)


@FUNCTIONS.of(Guard)
def _(op: Guard) -> Callable[..., Any]:
    expected = op.expected

    def guard(x: Any) -> Any:
        if x != expected:
            raise GuardFailed
        return x

    return guard


@FUNCTIONS.of(GetItem)
def _(op: GetItem) -> Callable[..., Any]:
    if ARRAY not in op.pattern:
        return itemgetter(index_of(op.pattern, ()))
    kernel = partial(op.kernel, NUMPY)

    def selected_rows(x: Any, index: Any) -> Any:
        """By a quicker function where it lays the result out alike."""
        alike = x.flags.c_contiguous and index.flags.c_contiguous and index.dtype != _UINT64
        if alike and index.ndim and (x.ndim > 1 or index.size >= _FEWEST_TAKEN):
            return x.take(index, 0)
        return kernel(x, index)

    return selected_rows if op.selects_rows else kernel


@FUNCTIONS.of(Windows)
def _(op: Windows) -> Callable[..., Any]:
    """By strides, in a tenth of the time where the operand is in row-major order."""
    places = len(op.sizes)

    def slide(x: Any) -> Any:
        if not x.flags.c_contiguous:
            return op.kernel(NUMPY, x)
        shape = op.infer(ArrayType(x.dtype, x.shape)).shape
        lead, own = x.strides[:-places], x.strides[-places:]
        inner = [n * step for n, step in zip(op.dilations, own, strict=True)]
        outer = [n * step for n, step in zip(op.strides, own, strict=True)]
        pairs = zip((*lead, *inner, *outer), shape, strict=True)
        steps = [step if length > 1 else 0 for step, length in pairs]  # no others count
        return np.ndarray(shape, x.dtype, x, 0, steps)

    return slide


# The array's own methods, which do not look for other types of arrays first


@FUNCTIONS.of(Reshape)
def _(op: Reshape) -> Callable[..., Any]:
    return methodcaller("reshape", op.shape)


@FUNCTIONS.of(Transpose)
def _(op: Transpose) -> Callable[..., Any]:
    return methodcaller("transpose", op.axes)


# New arrays


@FUNCTIONS.of(BroadcastTo)
def _(op: BroadcastTo) -> Callable[..., Any]:
    """A small array is quicker filled than made of strides."""
    if math.prod(op.shape) > _SMALL:
        return partial(op.kernel, NUMPY)

    def fill(x: Any) -> Any:
        out = np.empty(op.shape, x.dtype)
        out[...] = x
        return out

    return fill


@FUNCTIONS.of(Stack)
def _(op: Stack) -> Callable[..., Any]:
    """A list of numbers is soonest an array."""

    def stack(*parts: Any) -> Any:
        return op.kernel(NUMPY, *parts) if parts[0].ndim else np.array(parts, parts[0].dtype)

    return stack


@FUNCTIONS.of(ScatterAdd)
def _(op: ScatterAdd) -> Callable[..., Any]:
    """A fixed index selects nothing twice."""
    if ARRAY in op.pattern:
        return partial(op.kernel, NUMPY)
    index, shape = index_of(op.pattern, ()), op.shape

    def scatter(z_bar: Any) -> Any:
        out = np.zeros(shape, z_bar.dtype)
        out[index] = z_bar
        return out

    return scatter


@FUNCTIONS.of(Placed)
def _(op: Placed) -> Callable[..., Any]:
    return op.placing(NUMPY)


@FUNCTIONS.of(Sum)
def _(op: Sum) -> Callable[..., Any]:
    return partial(np.add.reduce, axis=op.axes)
