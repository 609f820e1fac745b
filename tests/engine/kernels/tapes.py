"""Random tapes of what kernels know, written with their operands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from gradwire_engine import Limits
from gradwire_engine.backends.base import Executable
from gradwire_engine.backends.reference.backend import REFERENCE
from gradwire_engine.ops.arrays.diagonals import MatrixDiagonal, OnDiagonal, Tril, Triu
from gradwire_engine.ops.arrays.indexing import GetItem, ScatterAdd
from gradwire_engine.ops.arrays.joining import Concatenate, Stack
from gradwire_engine.ops.arrays.placements import Placed
from gradwire_engine.ops.arrays.rearranging import Flip, Roll
from gradwire_engine.ops.arrays.shape import BroadcastTo, Reshape, Transpose
from gradwire_engine.ops.arrays.slicing import Pad, Slice
from gradwire_engine.ops.base import PRIMITIVES
from gradwire_engine.ops.builder import Builder, Var
from gradwire_engine.ops.patterns import FULL, Span
from gradwire_engine.tape import ArrayType, Shape, Tape
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

pytest.importorskip("llvmlite")

from gradwire_engine.backends.llvm.backend import NativeBackend

from tests.engine.kernels.guarded import ends_well, is_callable

#: One of so many kernels is called on guarded memory.
_GUARDED = 6
#: What no operand has more elements than, and its axes at most.
_MOST_SIZE, _MOST_AXES = 2000, 4
#: Lengths of axes: around multiples of the number of lanes, and short.
LENGTHS = st.sampled_from([1, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 33, 40])
EXTREMES: dict[str, list[Any]] = {
    "float64": [0.0, -0.0, 1.0, -2.5, 5e-324, 1e308, np.inf, -np.inf, np.nan],
    "float32": [0.0, -0.0, 1.0, -2.5, 1e-45, 3e38, np.inf, -np.inf, np.nan],
    "int64": [0, 1, -1, 2**63 - 1, -(2**63), 2**53 + 1, -(2**53) - 1],
    "int32": [0, 1, -1, 2**31 - 1, -(2**31), 46341],
    "bool": [False, True],
    "complex128": [0j, complex(-0.0, 1e308), complex(np.inf, 1), complex(2, np.nan), 5e-324j, 1],
    "complex64": [0j, complex(-0.0, 3e38), complex(np.inf, 1), complex(2, np.nan), 1e-45j, 1],
}


def go_on() -> None:
    """Nothing here has a deadline."""


class Writer:
    """A tape that is being written."""

    def __init__(self) -> None:
        self.builder = Builder(Limits())
        self.inputs: list[np.ndarray] = []

    def input(self, value: Any) -> Var:
        """An input, with its value."""
        array = np.asarray(value)
        self.inputs.append(array)
        return self.builder.input(ArrayType(array.dtype, array.shape))

    def tape(self, *outputs: Var) -> Tape:
        """The tape so far, with these outputs."""
        b = self.builder
        return Tape(tuple(b.instructions), tuple(b.inputs), tuple([z.slot for z in outputs]))

    def agree(self, *outputs: Var, signs: bool = False, **tolerance: Any) -> None:
        """Machine code gives of these outputs what the reference gives."""
        same(*both(self.tape(*outputs), self.inputs), signs=signs, **tolerance)


def apply(name: str, *operands: Var) -> Var:
    """A primitive without parameters."""
    return PRIMITIVES[name]()(*operands)


def values_of(dtype: str, shape: Shape, rng: Any, *, extremes: bool) -> np.ndarray:
    """Random numbers, some of them extreme if so."""
    if dtype == "bool":
        return np.asarray(rng.random(shape) < 0.5)
    whole = rng.integers(-50, 50, shape)
    usual = whole if dtype.startswith("int") else rng.normal(size=shape)
    if dtype.startswith("complex"):
        usual = usual + 1j * rng.normal(size=shape)
    made = np.asarray(usual, dtype)
    if not extremes:
        return made
    chosen = rng.choice(np.array(EXTREMES[dtype], dtype), shape)
    return np.asarray(np.where(rng.random(shape) < 0.3, chosen, made), dtype)


def native(tape: Tape) -> Executable:
    """The tape by machine code, at once."""
    return NativeBackend().compile(tape, go_on)


def kernels(executable: Executable) -> list[Any]:
    """The kernels of machine code."""
    return [i.op for i in executable.replayed.instructions if i.op.name == "native"]


def both(tape: Tape, inputs: Sequence[Any], run: Executable | None = None) -> tuple[Any, Any]:
    """The results of machine code, compiled already or now, and of the reference.

    There must be a kernel. Some of the kernels are called on guarded memory, too.
    """
    run = native(tape) if run is None else run
    found = run.replay(inputs, go_on)
    assert kernels(run), tape
    for kernel in kernels(run):
        digest = crc32(repr(kernel.form).encode())
        if digest % _GUARDED == 0 and is_callable(kernel.form):
            assert ends_well(kernel.form, np.random.default_rng(digest)), kernel.form
    expected = REFERENCE.compile(tape, go_on).replay(inputs, go_on)
    assert found.finite == expected.finite
    for x, y in zip(found.outputs, expected.outputs, strict=True):
        assert (x.dtype, x.shape) == (y.dtype, y.shape)
    return found.outputs, expected.outputs


def same(found: Any, expected: Any, *, signs: bool = False, **tolerance: Any) -> None:
    """Equal unless there is a tolerance, also in the signs of zeros where these are asked for."""
    for x, y in zip(found, expected, strict=True):
        if tolerance:
            assert_allclose(x, y, **tolerance)
            continue
        assert_array_equal(x, y)
        if x.dtype.kind == "f" and signs:
            known = ~np.isnan(y)
            assert_array_equal(np.signbit(x)[known], np.signbit(y)[known])


# Operations that move elements: each of a variable, with what is drawn


def slice_(draw: st.DrawFn, x: Var) -> Var:
    starts = [draw(st.integers(0, n - 1)) for n in x.shape]
    stops = [draw(st.integers(a + 1, n)) for a, n in zip(starts, x.shape, strict=True)]
    return Slice(tuple(starts), tuple(stops))(x)


def getitem(draw: st.DrawFn, x: Var) -> Var:
    pattern: list[Any] = []
    for n in x.shape:
        if draw(st.booleans()) and draw(st.booleans()) and x.ndim < _MOST_AXES:
            pattern.append(None)
        kind = draw(st.sampled_from(["full", "span", "back", "one"]))
        step = draw(st.integers(1, 3))
        span = Span(draw(st.integers(0, n - 1)), None, step)
        back = Span(None, None, -step)
        one = draw(st.integers(-n, n - 1))
        pattern.append({"full": FULL, "span": span, "back": back, "one": one}[kind])
    return GetItem(tuple(pattern))(x)


def flip(draw: st.DrawFn, x: Var) -> Var:
    axes = draw(st.sets(st.integers(0, x.ndim - 1), min_size=1))
    return Flip(tuple(sorted(axes)))(x)


def roll(draw: st.DrawFn, x: Var) -> Var:
    axes = draw(st.lists(st.integers(0, x.ndim - 1), min_size=1, max_size=3))
    return Roll(tuple([draw(st.integers(-50, 50)) for _ in axes]), tuple(axes))(x)


def pad(draw: st.DrawFn, x: Var) -> Var:
    edges = [tuple([draw(st.integers(0, 9)) for _ in x.shape]) for _ in range(2)]
    return Pad(*edges)(x)


def concatenate(draw: st.DrawFn, x: Var) -> Var:
    axis = draw(st.integers(0, x.ndim - 1))
    parts = [x]
    for _ in range(draw(st.integers(1, 3))):
        stops = list(x.shape)
        stops[axis] = draw(st.integers(1, x.shape[axis]))
        parts.append(Slice((0,) * x.ndim, tuple(stops))(x))
    return Concatenate(axis)(*draw(st.permutations(parts)))


def stack(draw: st.DrawFn, x: Var) -> Var:
    others = [Flip((0,))(x) if draw(st.booleans()) else x for _ in range(draw(st.integers(1, 3)))]
    return Stack(draw(st.integers(0, x.ndim)))(x, *others)


def transpose(draw: st.DrawFn, x: Var) -> Var:
    return Transpose(tuple(draw(st.permutations(range(x.ndim)))))(x)


def reshape(draw: st.DrawFn, x: Var) -> Var:
    n = x.type.size
    first = draw(st.sampled_from([k for k in range(1, n + 1) if not n % k]))
    second = draw(st.sampled_from([k for k in range(1, n + 1) if not (n // first) % k]))
    shapes = [(n,), (first, n // first), (first, second, n // first // second), (1, n, 1)]
    return Reshape(draw(st.sampled_from(shapes)))(x)


def broadcast(draw: st.DrawFn, x: Var) -> Var:
    shape = [draw(LENGTHS) if n == 1 else n for n in x.shape]
    if draw(st.booleans()):
        shape.insert(0, draw(st.integers(1, 9)))
    return BroadcastTo(tuple(shape))(x)


def scatter(draw: st.DrawFn, x: Var) -> Var:
    pattern, shape = placement(draw, x, None)
    return ScatterAdd(pattern, shape)(x)


def placed(draw: st.DrawFn, x: Var) -> Var:
    """The same several times in one array, at places that may overlap."""
    first, shape = placement(draw, x, None)
    others = [placement(draw, x, shape)[0] for _ in range(draw(st.integers(0, 5)))]
    return Placed((first, *others), shape)(*[x] * (1 + len(others)))


def placement(draw: st.DrawFn, x: Var, shape: Shape | None) -> tuple[tuple[Any, ...], Shape]:
    """A pattern by which ``x`` is placed in an array, of this shape if there is one."""
    whole = list(shape or [n + draw(st.integers(0, 9)) for n in x.shape])
    pattern: list[Any] = []
    for n, length in zip(x.shape, whole[: x.ndim], strict=True):
        at = draw(st.integers(0, length - n))
        before = at - 1 if at else None
        back = Span(at + n - 1, before, -1)
        pattern.append(back if draw(st.booleans()) else Span(at, at + n, draw(UNIT)))
    pattern += [draw(st.integers(-length, length - 1)) for length in whole[x.ndim :]]
    if shape is None and draw(st.booleans()):
        whole.append(draw(st.integers(1, 5)))
        pattern.append(draw(st.integers(-whole[-1], whole[-1] - 1)))
    return tuple(pattern), tuple(whole)


def matrices(x: Var) -> Var:
    return x if x.ndim > 1 else Reshape((1, *x.shape))(x)


def triangle(draw: st.DrawFn, x: Var) -> Var:
    return draw(st.sampled_from([Tril, Triu]))(draw(st.integers(-50, 50)))(matrices(x))


def on_diagonal(draw: st.DrawFn, x: Var) -> Var:
    below, above = (draw(st.integers(0, 9)) for _ in range(2))
    if draw(st.booleans()):  # one side may go on beyond the end of the diagonal
        extra = (below, 0) if draw(st.booleans()) else (0, above)
        return OnDiagonal(x.shape[-1] + extra[0], x.shape[-1] + extra[1], 0)(x)
    offset = above or -below
    rows, columns = max(-offset, 0), max(offset, 0)
    return OnDiagonal(x.shape[-1] + rows, x.shape[-1] + columns, offset)(x)


def diagonal(draw: st.DrawFn, x: Var) -> Var:
    x = matrices(x)
    rows, columns = x.shape[-2:]
    return MatrixDiagonal(draw(st.integers(1 - rows, columns - 1)))(x)


UNIT = st.sampled_from([None, 1])
MOVES: list[Callable[..., Var]] = [slice_, getitem, flip, roll, pad, concatenate, stack]
MOVES += [transpose, reshape, broadcast, scatter, placed, triangle, on_diagonal, diagonal]


def moved(draw: st.DrawFn, x: Var) -> Var:
    """``x`` by one of the operations that move elements, if that leaves it of a moderate size."""
    move = draw(st.sampled_from(MOVES))
    if not x.ndim:
        return BroadcastTo((draw(LENGTHS),))(x)
    known = len(x.builder.instructions)
    z = move(draw, x)
    if z.type.size > _MOST_SIZE or z.ndim > _MOST_AXES or not z.type.size:
        del x.builder.instructions[known:], x.builder.vars[known:]
        return x
    return z


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    """Of up to three axes, of which not all are long."""
    found: list[int] = []
    for _ in range(draw(st.integers(0, 3))):
        length = draw(LENGTHS)
        if length * int(np.prod(found, dtype=int)) <= _MOST_SIZE:
            found.append(length)
    return tuple(found)
