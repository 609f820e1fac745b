"""Functions that stand for kernels: the same bits, of every operation that has one."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Query
from gradwire_engine.backends.errstate import errstate
from gradwire_engine.backends.reference.namespace import NUMPY
from gradwire_engine.backends.walk.executable import WalkExecutable
from gradwire_engine.ops.arrays.indexing import GetItem, ScatterAdd
from gradwire_engine.ops.arrays.joining import Stack
from gradwire_engine.ops.arrays.placements import Placed
from gradwire_engine.ops.arrays.shape import BroadcastTo, Reshape, Transpose
from gradwire_engine.ops.base import PRIMITIVES, Op
from gradwire_engine.ops.constants import Constant, Guard, GuardFailed, Input
from gradwire_engine.ops.conversion import AsType
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.patterns import ARRAY, FULL, Span, indexed_shape
from gradwire_engine.ops.reductions.reductions import AllOf, AnyOf, Max, Min, Prod, Sum
from gradwire_engine.tape import ArrayType, Instruction, Shape, Tape
from numpy.testing import assert_allclose, assert_array_equal

from tests.engine.conftest import called, named

PATTERNS = [
    *[(FULL, FULL), (Span(1, None, None), 0), (-1, Span(None, -1, 2)), (1, 2)],
    *[(None, Span(None, None, -1), 1), (Span(3, 1, -1), FULL), (Span(7, None, None), FULL)],
]
SHAPE = (4, 3)
SELECTED = [indexed_shape(SHAPE, pattern, ()) for pattern in PATTERNS]
#: Elements of arrays up to which another function fills them.
SMALL = 1024
SHAPES = [(), (0,), (1,), (5,), (3, 4), (0, 3), (2, 3, 4), (SMALL + 1,)]
AXES = [axes for n in range(4) for axes in itertools.combinations(range(3), n)]
#: Operations with the shapes of their operands.
CALLS: list[Any] = [
    *[(GetItem(pattern), [SHAPE]) for pattern in PATTERNS],
    *[(ScatterAdd(p, SHAPE), [shape]) for p, shape in zip(PATTERNS, SELECTED, strict=True)],
    *[(Placed(tuple(PATTERNS[:n]), SHAPE), SELECTED[:n]) for n in (1, 2, 4, 7)],
    (Placed(((Span(0, 2, None),), (Span(2, 4, None),)), (4,)), [(2,), (2,)]),
    (Placed(((0,), (1,), (0,)), (3,)), [(), (), ()]),
    *[(Reshape(shape), [(2, 6)]) for shape in [(12,), (3, 4), (1, 12, 1)]],
    *[(Reshape(shape), [(1, 1)]) for shape in [(), (1,)]],
    *[(Transpose(axes), [(2, 3, 4)]) for axes in itertools.permutations(range(3))],
    *[(BroadcastTo((2, 3)), [shape]) for shape in [(), (3,), (2, 1), (1, 3), (2, 3)]],
    *[(BroadcastTo((0, 3)), [(3,)]), (BroadcastTo((2, SMALL)), [(SMALL,)])],
    *[(Sum(axes), [s]) for s in SHAPES for axes in AXES if max(axes, default=-1) < len(s)],
    *[
        (op(axes), [(2, 3)])
        for op in (Max, Min, Prod, AllOf, AnyOf)
        for axes in [(), (0,), (1,), (0, 1)]
    ],
    *[(MatMul(), [a, b]) for a in [(3,), (2, 3), (0, 3)] for b in [(3,), (3, 2), (3, 0)]],
    (MatMul(), [(2, 4, 3), (3, 2)]),
    *[(Stack(axis), [(2, 3)] * 4) for axis in range(3)],
    *[(Stack(0), [()] * 5), (Stack(1), [(2,)] * 17), (Stack(0), [(0,)] * 2)],
    *[(AsType(np.dtype(to)), [shape]) for to in ("float64", "int64") for shape in [(), (3, 2)]],
    *[(MatMul(), [(2, 0), (0, 2)]), (MatMul(), [(0,), (0,)])],
]


def tape_of(op, shapes, dtype):
    """The operation on inputs alone."""
    kinds = [ArrayType(np.dtype(dtype), shape) for shape in shapes]
    inputs = [Instruction(Input(i), (), kind, 0) for i, kind in enumerate(kinds)]
    slots = tuple(range(len(kinds)))
    return Tape((*inputs, Instruction(op, slots, op.infer(*kinds), 0)), slots, (len(slots),))


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "int64"])
def test_functions_give_what_the_kernel_gives(dtype):
    for op, shapes in CALLS:
        with named(op, shapes):
            gives_what_the_kernel_gives(op, shapes, dtype)


def gives_what_the_kernel_gives(op: Op, shapes: Sequence[Shape], dtype: str) -> None:
    draw = np.random.default_rng(0)
    values = [draw.normal(size=shape, scale=9).astype(dtype) for shape in shapes]
    tape = tape_of(op, shapes, dtype)
    run = WalkExecutable(tape)
    for given in (values, [np.asfortranarray(x) if x.ndim else x for x in values]):
        expected = np.asarray(op.kernel(NUMPY, *[x[()] for x in given]))
        (found,) = run.replay(given, lambda: None).outputs
        assert found.dtype == expected.dtype
        assert found.shape == expected.shape
        scale = float(np.abs(expected).max(initial=1))
        eps = float(np.finfo(dtype).eps) if np.dtype(dtype).kind in "fc" else 0.0
        assert_allclose(found, expected, rtol=0, atol=64 * eps * scale)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize(
    ("op", "shapes"),
    [c for c in CALLS if isinstance(c[0], Sum | MatMul) and 0 not in c[1][0]],
    ids=str,
)
def test_what_is_not_finite_stays_where_it_is(op, shapes, value):
    given = [np.ones(shape) for shape in shapes]
    given[0][(-1,) * given[0].ndim] = value
    run = WalkExecutable(tape_of(op, shapes, "float64"))
    (found,) = run.replay(given, lambda: None).outputs
    expected = errstate.run(op.kernel, NUMPY, *[x[()] for x in given])
    assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", ["int64", "uint8", "int32", "float32"])
def test_numbers_of_other_dtypes_keep_them(dtype):
    text = "n = k * k\nm = maximum(minimum(n, 7), k)\nwhere(m > 3, m, n) + clip(k, 1, 5)"
    engine = Engine()
    program = engine.parse(text)
    for k in (0, 1, 2, 3, 9):
        value = {"k": Leaf(np.asarray(k, dtype))}
        calls = [engine.call(program, value, Query("evaluate", exact=x)) for x in (False, True)]
        plain, exact = [[call.replay(lambda: None).value for _ in range(3)][-1] for call in calls]
        assert plain == exact
        assert plain.dtype == exact.dtype == np.dtype(dtype)


def test_indices_are_read_where_they_are_written():
    pattern = (ARRAY, Span(1, None, None), ARRAY)
    kinds = [ArrayType(np.dtype("float64"), (4, 3, 2)), *[ArrayType(np.dtype("int64"), ())] * 2]
    inputs = [Instruction(Input(i), (), kind, 0) for i, kind in enumerate(kinds)]
    op = GetItem(pattern)
    tape = Tape((*inputs, Instruction(op, (0, 1, 2), op.infer(*kinds), 0)), (0, 1, 2), (3,))
    x = np.arange(24.0).reshape(4, 3, 2)
    run = WalkExecutable(tape)
    for first, last in [(0, 1), (-1, 0), (3, -2)]:
        (found,) = run.replay([x, np.array(first), np.array(last)], lambda: None).outputs
        assert_array_equal(found, x[first, 1:, last])
    with pytest.raises(IndexError):
        run.replay([x, np.array(4), np.array(0)], lambda: None)


@pytest.mark.parametrize(("expected", "dtype"), [(True, "bool"), (False, "bool"), (3, "int64")])
def test_guards_hold_only_for_what_was_decided(expected, dtype):
    kind = ArrayType(np.dtype(dtype), ())
    made = Instruction(Input(0), (), kind, 0), Instruction(Guard(expected), (0,), kind, 0)
    run = WalkExecutable(Tape(made, (0,), (0,)))
    for _ in range(2):
        assert run.replay([np.array(expected, dtype)], lambda: None).guard is None
        failed = run.replay([np.array(not expected, dtype)], lambda: None)
        assert (failed.guard, failed.outputs) == (GuardFailed, ())


def test_results_of_constants_are_of_their_type():
    kinds = ArrayType(np.dtype("float32"), (2,)), ArrayType(np.dtype("float32"), ())
    x = Instruction(Input(0), (), kinds[0], 0)
    half = Instruction(Constant.of(np.asarray(0.5, "float32")), (), kinds[1], 0)
    twice = Instruction(PRIMITIVES["multiply"](), (1, 0), kinds[0], 0)
    tape = Tape((x, half, twice), (0,), (2, 1))
    run = WalkExecutable(tape)
    for _ in range(2):
        product, constant = run.replay([np.array([1, 3], "float32")], lambda: None).outputs
        assert product.dtype == constant.dtype == np.float32
        assert isinstance(constant, np.float32)
        assert product.tolist() == [0.5, 1.5]


@pytest.mark.parametrize("dtype", ["int64", "float32", "float64"])
@pytest.mark.parametrize("name", ["maximum", "minimum", "fmax", "fmin"])
def test_extremes_of_numbers_are_the_same_at_each_replay(name, dtype):
    engine = Engine()
    for x, y in [(1, 2), (2, 1), (np.nan, 1), (1, np.nan)]:
        if dtype == "int64" and x + y != 3:
            continue
        given = {"x": Leaf(np.asarray(x, dtype)), "y": Leaf(np.asarray(y, dtype))}
        call = called(engine, f"{name}(x, y)", given, "evaluate")
        for _ in range(3):
            found = call.replay(lambda: None).value
            assert_array_equal(found, getattr(np, name)(x, y))
            assert found.dtype == np.dtype(dtype)
