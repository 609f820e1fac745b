"""NumPy's quickest code for operations: to be inlined, and as functions to be called.

Tables by the type of the operation; what is in none is called by its kernel.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import count
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
from gradwire_engine.ops.conversion import AsType
from gradwire_engine.ops.patterns import ARRAY, Pattern, Span, index_of
from gradwire_engine.ops.pointwise.selection import Extremum, Round, Where
from gradwire_engine.ops.reductions.reductions import Extreme, Reduction, Sum
from gradwire_engine.tape import ArrayType, Type, scalar_char

F = TypeVar("F", bound=Callable[..., Any])
#: Gives an object a name in generated code.
Bind = Callable[..., str]

#: Elements of arrays on which arithmetic takes less than calling NumPy does.
SMALL = 1024
_UINT64 = np.dtype("uint64")
#: Fewest numbers that ``take`` selects in less time than an index.
_FEWEST_TAKEN = 4096


class ByType(dict[type[Op], Callable[..., Any]]):
    """Emitters of operations, by their type or by the nearest of its base classes.

    As ``functools.singledispatch``, in a third of its time: it is asked for each instruction.
    """

    def __missing__(self, kind: type[Op]) -> Callable[..., Any]:
        found = self[kind] = next(self[base] for base in kind.__mro__[1:] if base in self)
        return found

    def of(self, kind: type[Op]) -> Callable[[F], F]:
        """Register what is for a type."""

        def register(made: F) -> F:
            self[kind] = made
            return made

        return register


#: From an operation to its kernel as a function of the operands, constant work done beforehand.
FUNCTIONS = ByType()
#: From an operation, what gives objects names, and the operands' types to the kernel as code that
#: is quicker than calling it, empty where there is none: an expression over ``{0}``, ``{1}``. It
#: may round otherwise than the kernel.
INLINED = ByType()
#: From an operation and the operands' types to the kernel on Python's numbers, if there is any.
ON_NUMBERS = ByType()


@FUNCTIONS.of(Op)
def _(op: Op) -> Callable[..., Any]:
    if op.template:
        return _operators(op.template)
    return attrgetter(op.ufunc)(NUMPY) if op.is_ufunc else partial(op.kernel, NUMPY)


@INLINED.of(Op)
def _(op: Op, bind: Bind, *types: ArrayType) -> str:
    return ""


@ON_NUMBERS.of(Op)
def _(op: Op, types: Sequence[Type]) -> str:
    code = op.scalar or op.template
    if not code:
        return ""
    chars = map(scalar_char, types)
    return code if all(char and char in op.scalar_dtypes for char in chars) else ""


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


@cache
def _operators(template: str) -> Callable[..., Any]:
    """A template as a function: operators are quicker than the ufuncs behind them on scalars."""
    made: Callable[..., Any] = eval(f"lambda x, y=None: {template.format('x', 'y')}")  # noqa: S307
    return made


# Numbers


@ON_NUMBERS.of(AsType)
def _(op: AsType, types: Sequence[Type]) -> str:
    char = scalar_char(types[0])
    return "float({0})" if op.dtype.char == "d" and char and char not in "FDG" else ""


@ON_NUMBERS.of(Round)
def _(op: Round, types: Sequence[Type]) -> str:
    numbers = scalar_char(types[0]) == "d" and not op.decimals
    return "math.copysign(round({0}), {0})" if numbers else ""


@INLINED.of(Where)
def _(op: Where, bind: Bind, *types: ArrayType) -> str:
    return "" if any(kind.shape for kind in types) else f"({op.scalar})"


@INLINED.of(Extremum)
def _(op: Extremum, bind: Bind, *types: ArrayType) -> str:
    numbers = all(not kind.shape and kind.dtype.kind in "iuf" for kind in types)
    return f"({op.scalar})" if numbers and op.scalar else ""


# Python's own syntax


@INLINED.of(Item)
def _(op: Item, bind: Bind, *types: ArrayType) -> str:
    return f"{{0}}[{op.index}]"


@INLINED.of(Guard)
def _(op: Guard, bind: Bind, *types: ArrayType) -> str:
    return f"{{0}} == {op.expected} or {bind(_fail, 'fail')}()"


def _fail() -> None:
    raise GuardFailed


@INLINED.of(GetItem)
def _(op: GetItem, bind: Bind, *types: ArrayType) -> str:
    if any(kind.dtype == _UINT64 for kind in types[1:]):
        return ""
    if op.selects_rows and types[1].ndim and (types[0].ndim > 1 or types[1].size >= _FEWEST_TAKEN):
        return f"{bind(_selected_rows, 'take_rows')}({{0}}, {{1}})"
    return f"{{0}}[{_index_code(op.pattern)}]"


@FUNCTIONS.of(GetItem)
def _(op: GetItem) -> Callable[..., Any]:
    if ARRAY in op.pattern:
        return partial(op.kernel, NUMPY)
    return itemgetter(index_of(op.pattern, ()))


def _selected_rows(x: Any, index: Any) -> Any:
    """``x[index]``, by a quicker function where it lays the result out alike."""
    alike = x.flags.c_contiguous and index.flags.c_contiguous
    return x.take(index, 0) if alike else x[index]


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


def _index_code(pattern: Pattern) -> str:
    """An index, with the operands from the second on in the gaps of its pattern."""
    following = count(1)
    return ", ".join(
        [
            _span_code(p)
            if isinstance(p, Span)
            else f"{{{next(following)}}}"
            if p == ARRAY
            else str(p)
            for p in pattern
        ]
    )


def _span_code(span: Span) -> str:
    start, stop, step = ["" if place is None else str(place) for place in span]
    return f"{start}:{stop}:{step}" if step else f"{start}:{stop}"


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
    if math.prod(op.shape) > SMALL:
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


# Sums and products: BLAS is called in half the time of a ufunc


@INLINED.of(Reduction)
def _(op: Reduction, bind: Bind, *types: ArrayType) -> str:
    return _reduced(op, bind, types[0])


def _reduced(op: Reduction, bind: Bind, x: ArrayType) -> str:
    ufunc = getattr(np, op.pairwise, None)
    axes = None if len(op.axes) == x.ndim else op.axes
    return f"{bind(ufunc.reduce, f'{op.pairwise}_up')}({{0}}, {axes})" if ufunc else ""


@INLINED.of(Extreme)
def _(op: Extreme, bind: Bind, *types: ArrayType) -> str:
    """Of few elements without looking at their rows."""
    return _reduced(op, bind, types[0]) if types[0].size <= SMALL else ""


@INLINED.of(Sum)
def _(op: Sum, bind: Bind, *types: ArrayType) -> str:
    """A product with ones for few numbers."""
    (x,) = types
    whole = len(op.axes) == x.ndim
    plain = whole or (x.ndim == 2 and len(op.axes) == 1)
    if x.dtype.char not in "df" or not 0 < x.size <= SMALL or not plain:
        return _reduced(op, bind, x)
    length = x.size if whole else x.shape[op.axes[0]]
    ones = bind(np.ones(length, x.dtype), f"ones_{x.dtype.char}{length}")
    if whole:
        return f"{{0}}.dot({ones})" if x.ndim == 1 else f"{{0}}.reshape(-1).dot({ones})"
    return f"{ones}.dot({{0}})" if op.axes == (0,) else f"{{0}}.dot({ones})"


@FUNCTIONS.of(Sum)
def _(op: Sum) -> Callable[..., Any]:
    return partial(np.add.reduce, axis=op.axes)
