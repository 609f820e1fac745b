"""Walks of random tapes: the bits of their operations, in places and memory that are used again."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Query
from gradwire_engine.backends.errstate import errstate
from gradwire_engine.backends.finite import all_finite
from gradwire_engine.backends.reference.namespace import NUMPY
from gradwire_engine.backends.walk import steps
from gradwire_engine.backends.walk.executable import WalkExecutable
from gradwire_engine.errors import DomainError, EngineError
from gradwire_engine.ops.arrays.indexing import GetItem
from gradwire_engine.ops.arrays.shape import BroadcastTo, Reshape
from gradwire_engine.ops.base import SINGLETONS
from gradwire_engine.ops.constants import Constant, Input
from gradwire_engine.ops.conversion import AsType
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.ops.patterns import FULL, Span
from gradwire_engine.tape import ArrayType, Instruction, Tape
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

DOUBLE = np.dtype("float64")
SHAPES = [(), (4,), (3, 4), (3, 1)]
ARITHMETIC = ["add", "subtract", "multiply", "divide", "maximum", "greater", "where", "negative"]
ARITHMETIC += ["square", "tanh", "real", "absolute", "sign"]
VIEWS = [Reshape((2, 2)), Reshape((4,)), BroadcastTo((3, 4)), GetItem((Span(1, None, None),))]
VIEWS += [GetItem((Span(None, None, -1), FULL)), AsType(DOUBLE), SINGLETONS["copy"]]
PRODUCTS = [Contract("ab,cb->ca"), Contract("a,a->"), Contract("ab,b->a")]
OPS = [*[SINGLETONS[name] for name in ARITHMETIC], *VIEWS, *PRODUCTS]


def nothing():
    """Never stop."""


def operands_of(op):
    two = op.name in ARITHMETIC[:6] or isinstance(op, Contract)
    return 3 if op.name == "where" else 1 + two


@st.composite
def tapes(draw):
    """Arithmetic, views, products and constants, of what was made last, which then is dead."""
    made = [Instruction(Input(i), (), ArrayType(DOUBLE, s), 0) for i, s in enumerate(SHAPES)]
    for _ in range(draw(st.integers(1, 30))):
        if draw(st.integers(0, 9)) == 0:
            value = np.asarray(draw(st.floats(-9, 9) | st.sampled_from([-0.0, np.inf, np.nan])))
            made.append(Instruction(Constant.of(value), (), ArrayType(DOUBLE, ()), 0))
            continue
        op = draw(st.sampled_from(OPS))
        recent = st.integers(max(0, len(made) - 3), len(made) - 1) | st.integers(0, len(made) - 1)
        args = tuple([draw(recent) for _ in range(operands_of(op))])
        types = [made[a].type for a in args]
        if isinstance(op, GetItem) and len(op.pattern) != types[0].ndim:
            continue
        if isinstance(op, Contract) and [len(x) for x in op.labels[:2]] != [t.ndim for t in types]:
            continue
        try:
            kind = op.infer(*types)
        except (EngineError, ValueError):  # shapes or dtypes do not fit
            continue
        if not isinstance(op, Contract) or all(t.dtype == DOUBLE for t in types):
            made.append(Instruction(op, args, kind, 0))
    chosen = st.integers(0, len(made) - 1)
    slots = tuple(range(len(SHAPES)))
    return Tape(tuple(made), slots, (len(made) - 1, draw(chosen), draw(chosen)))


@given(tapes(), st.integers(0, 9), st.sampled_from([1, 64, 1 << 16]))
def test_a_walk_gives_the_bits_of_its_operations(tape, seed, pooled):
    draw = np.random.default_rng(seed)
    inputs = [np.asarray(draw.normal(size=shape)) for shape in SHAPES]
    before = [x.copy() for x in inputs]
    values = []
    for op, args, _, _ in tape.instructions:
        if isinstance(op, Input):
            values.append(inputs[op.index][()])
        elif isinstance(op, Contract):  # BLAS adds up in an order of its own
            values.append(np.einsum(op.subscripts, *[values[a] for a in args])[()])
        else:
            kernel = errstate.run(op.kernel, NUMPY, *[np.copy(values[a])[()] for a in args])
            values.append(np.array(kernel)[()])
    products = any(isinstance(i.op, Contract) for i in tape.instructions)
    with pytest.MonkeyPatch.context() as patch:  # from so many bytes on arrays are the pool's
        patch.setattr(steps, "POOLED_BYTES", pooled)
        run = WalkExecutable(tape)
        for _ in range(2):
            replayed = run.replay(inputs, nothing)
            assert replayed.unsure or all_finite([values[slot] for slot in tape.outputs])
            for slot, found in zip(tape.outputs, replayed.outputs, strict=True):
                assert found.dtype == values[slot].dtype
                assert found.shape == values[slot].shape
                if products:
                    assert_allclose(found, values[slot], rtol=1e-9, atol=1e-9)
                    continue
                assert_array_equal(found, values[slot])
                if found.dtype == DOUBLE:
                    plain = ~np.isnan(found)
                    one, other = np.signbit(found), np.signbit(values[slot])
                    assert_array_equal(np.where(plain, one, 0), np.where(plain, other, 0))
    for x, y in zip(inputs, before, strict=True):
        assert_array_equal(x, y)


def chain(length, *last):
    """A long sum of sines, each of two that are near and far, then ``last``."""
    lines = [f"y{i + 1} = sin(y{i}) + cos(y{i // 2})*x" for i in range(length)]
    return "\n".join(["y0 = x", *lines, *last])


def ask(engine, text, query, poll=nothing, **values):
    leaves = {name: Leaf(np.asarray(value)) for name, value in values.items()}
    return engine.call(engine.parse(text), leaves, query).replay(poll)


LONG = 1024


def test_what_fails_late_in_a_long_tape_is_found():
    text = chain(LONG, f"z = inv(ones((2, 2)) * y{LONG})", "y = sum(z)")
    engine = Engine()
    for _ in range(3):
        with pytest.raises(DomainError) as failed:
            ask(engine, text, Query("evaluate"), x=0.5)
        assert failed.value.at is not None
        assert (failed.value.at.op, failed.value.at.line) == ("inv", LONG + 2)


@pytest.mark.thorough
def test_threads_replay_one_long_tape_at_once():
    engine, text = Engine(), chain(LONG, f"y = y{LONG}")
    points = np.linspace(0, 1, 16)
    expected = [ask(Engine(), text, Query("evaluate"), x=x).value for x in points]
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(ask, engine, text, Query("evaluate"), x=x) for x in points]
        found = [future.result().value for future in asked]
    assert_array_equal(found, expected)


def test_a_long_replay_looks_at_its_deadline():
    engine, text, looks = Engine(), chain(4 * LONG, f"y = y{4 * LONG}"), 0

    def poll():
        nonlocal looks
        looks += 1

    for _ in range(3):
        looks = 0
        ask(engine, text, Query("evaluate"), poll, x=0.5)
    assert looks >= 4


def test_an_answer_keeps_its_memory():
    x = np.linspace(-1, 1, 100_000)
    engine = Engine()
    answers = [ask(engine, "sum(x * x * x)", Query("gradient"), x=x) for _ in range(3)]
    for answer in answers:
        assert_allclose(answer.gradients["x"], 3 * x * x)
    assert len({answer.gradients["x"].ctypes.data for answer in answers}) == 3
