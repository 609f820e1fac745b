"""Constant factors are collected: fewer operations, with the values that there were."""

import gradwire_engine.ops  # noqa: F401  (fills the registry)
import numpy as np
import pytest
from gradwire_engine.answer import Limits
from gradwire_engine.backends.walk.backend import NUMPY_BACKEND
from gradwire_engine.check import interpret
from gradwire_engine.ops.arrays.indexing import ScatterAdd
from gradwire_engine.ops.arrays.slicing import Pad
from gradwire_engine.ops.base import FUNCTIONS
from gradwire_engine.ops.builder import Builder
from gradwire_engine.ops.patterns import Span
from gradwire_engine.optimize.simplify import optimize
from gradwire_engine.tape import ArrayType
from hypothesis import given
from hypothesis import strategies as st

NAMES = ["add", "subtract", "multiply", "divide", "negative", "reshape"]
#: Each operation so that nothing cancels.
SIZES = {"subtract": "add", "negative": "abs"}
STEPS = st.lists(
    st.tuples(st.sampled_from(NAMES), st.integers(0, 99), st.integers(0, 99)),
    min_size=1,
    max_size=20,
)
NUMBERS = (2, -1, 0.25, 3, 1e30, 1e-30, 0, 1)


def of(name):
    return FUNCTIONS[name].record


def record(b, name, x, y):
    if name == "reshape":
        return of(name)(b, x, (1, *x.shape)) if x.ndim < 3 else x
    return of(name)(b, x) if name in ("negative", "abs") else of(name)(b, x, y)


def build(steps, dtype, *, sizes=False):
    """A tape of factors, opposites, sums and products; of their sizes, nothing of which cancels."""
    b = Builder(Limits())
    values = [b.input(ArrayType(np.dtype(dtype), shape)) for shape in [(), (3,), (2, 1), (2, 3)]]
    values += [b.constant(np.asarray(abs(c) if sizes else c, dtype)) for c in NUMBERS]
    left = {*range(len(values))}
    for name, first, second in steps:
        x, y = first % len(values), len(values) - 1 - second % len(values)
        left -= {x, y}
        left.add(len(values))
        values.append(record(b, SIZES.get(name, name) if sizes else name, values[x], values[y]))
    return b.tape([values[i] for i in sorted(left)])


@given(STEPS, st.sampled_from(["float64", "float32", "complex128"]), st.integers(0, 2**32 - 1))
def test_values_stay_what_they_are(steps, dtype, seed):
    tape = build(steps, dtype)
    better = optimize(tape, NUMPY_BACKEND)
    rng = np.random.default_rng(seed)
    kinds = [tape.instructions[slot].type for slot in tape.inputs]
    inputs = [np.asarray(rng.choice([-1.5, 0.5, 1.0, 3.0], kind.shape), dtype) for kind in kinds]
    before, after = interpret(tape, inputs), interpret(better, inputs)
    bounds = build(steps, dtype, sizes=True)
    sizes = interpret(bounds, [np.abs(x).astype(dtype) for x in inputs])
    for old, new, size in zip(tape.outputs, better.outputs, bounds.outputs, strict=True):
        assert tape.instructions[old].type[:2] == better.instructions[new].type[:2]
        with np.errstate(all="ignore"):
            limits = np.finfo(dtype)
            near = np.abs(after[new] - before[old]) <= 64 * limits.eps * np.abs(sizes[size])
            lost = np.abs(sizes[size]) < limits.tiny / limits.eps
        assert (near | lost | ~np.isfinite(before[old])).all()


def left(recording, *shapes):
    """Operations that are left of what is recorded, beside what is given and constants."""
    b = Builder(Limits())
    made = recording(b, *[b.input(ArrayType(np.dtype(float), shape)) for shape in shapes])
    better = optimize(b.tape(made if isinstance(made, list) else [made]), NUMPY_BACKEND)
    return [i.op.name for i in better.instructions if i.args]


@pytest.mark.parametrize(
    ("recording", "operations"),
    [
        (lambda b, x, y: 2.0 * (3.0 * x), ["multiply"]),
        (lambda b, x, y: (2.0 * x) * (3.0 * y), ["multiply", "multiply"]),
        (lambda b, x, y: (-x) * (-y), ["multiply"]),
        (lambda b, x, y: 2.0 * of("reshape")(b, 3.0 * x, (3, 1)), ["multiply", "reshape"]),
        (lambda b, x, y: [x * y, 3.0 * ((2.0 * x) * y)], ["multiply", "multiply"]),
        (lambda b, x, y: 1e200 * (1e200 * x), ["multiply", "multiply"]),
        (lambda b, x, y: [3.0 * x, 3.0 * x + 3.0 * y], ["multiply", "multiply", "add"]),
    ],
)
def test_factors_meet(recording, operations):
    assert left(recording, (3,), (3,)) == operations


LOW = (Span(None, -1, None),)


@pytest.mark.parametrize(
    ("recording", "operations"),
    [
        (lambda x, y: ScatterAdd(LOW, (4,))(x) + ScatterAdd(LOW, (4,))(y), ["add", "scatter_add"]),
        (lambda x, y: 2.0 * ScatterAdd(LOW, (4,))(3.0 * x), ["multiply", "scatter_add"]),
        (lambda x, y: Pad((1,), (0,))(x) - Pad((0,), (1,))(y), ["zero_pad"] * 2 + ["subtract"]),
    ],
)
def test_what_is_zero_is_not_computed_with(recording, operations):
    assert left(lambda b, x, y: recording(x, y), (3,), (3,)) == operations


def test_the_smallest_operand_is_multiplied():
    b = Builder(Limits())
    x, y = (b.input(ArrayType(np.dtype(float), shape)) for shape in [(100, 1), (1, 100)])
    tape = b.tape([2.0 * (x * y), 3.0 * of("matmul")(b, x, y)])
    values = interpret(optimize(tape, NUMPY_BACKEND), [np.ones((100, 1)), np.ones((1, 100))])
    assert sum(np.size(value) == 10_000 for value in values.values()) == 2


def test_integers_are_left_alone():
    assert left(lambda b, x: 2 * (3 * of("astype")(b, x, "int32")), (3,)).count("multiply") == 2
