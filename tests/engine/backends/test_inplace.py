"""Arithmetic in an operand's memory: the same bits, and never in memory of somebody else."""

import numpy as np
import pytest
from gradwire_engine.backends.numpy.emit import function
from gradwire_engine.backends.numpy.inplace import reused
from gradwire_engine.backends.numpy.lower import lower
from gradwire_engine.backends.plan import plan
from gradwire_engine.backends.quiet import quiet
from gradwire_engine.errors import EngineError
from gradwire_engine.ops.arrays.indexing import GetItem
from gradwire_engine.ops.arrays.shape import BroadcastTo, Reshape
from gradwire_engine.ops.base import SINGLETONS
from gradwire_engine.ops.constants import Input
from gradwire_engine.ops.conversion import AsType
from gradwire_engine.ops.patterns import FULL, Span
from gradwire_engine.tape import ArrayType, Instruction, Tape
from hypothesis import given
from hypothesis import strategies as st

DOUBLE = np.dtype("float64")
SHAPES = [(4,), (3, 4), (3, 1)]
ARITHMETIC = ["add", "subtract", "multiply", "divide", "maximum", "negative", "square", "tanh"]
ARITHMETIC += ["greater", "where", "real", "absolute"]
VIEWS = [Reshape((2, 2)), Reshape((4,)), BroadcastTo((3, 4)), GetItem((Span(1, None, None),))]
VIEWS += [GetItem((Span(None, None, -1), FULL)), AsType(DOUBLE), SINGLETONS["copy"]]
#: Operations whose code gives the bits of the kernel's.
OPS = [SINGLETONS[name] for name in ARITHMETIC] + VIEWS


def operands_of(op):
    return 1 + (op.name in ARITHMETIC[:5] or op.name == "greater") + 2 * (op.name == "where")


@st.composite
def tapes(draw):
    """Arithmetic and views of arrays, most of what was made last, which then is dead."""
    made = [Instruction(Input(i), (), ArrayType(DOUBLE, s), 0) for i, s in enumerate(SHAPES)]
    for _ in range(draw(st.integers(1, 30))):
        op = draw(st.sampled_from(OPS))
        recent = st.integers(max(0, len(made) - 3), len(made) - 1) | st.integers(0, len(made) - 1)
        args = tuple([draw(recent) for _ in range(operands_of(op))])
        types = [made[a].type for a in args]
        if isinstance(op, GetItem) and len(op.pattern) != types[0].ndim:
            continue
        try:
            kind = op.infer(*types)
        except EngineError:  # shapes or dtypes do not fit
            continue
        made.append(Instruction(op, args, kind, 0))
    chosen = st.integers(0, len(made) - 1)
    return Tape(tuple(made), (0, 1, 2), (len(made) - 1, draw(chosen), draw(chosen)))


@given(tapes(), st.integers(0, 9))
def test_what_is_overwritten_nobody_sees(tape, seed):
    draw = np.random.default_rng(seed)
    inputs = [draw.normal(size=shape) for shape in SHAPES]
    before = [x.copy() for x in inputs]
    values: list[np.ndarray] = []
    for op, args, _, _ in tape.instructions:
        operands = [values[a].copy() for a in args]
        values.append(
            inputs[op.index]
            if isinstance(op, Input)
            else np.array(quiet.run(function(op), *operands))
        )
    outputs, *_ = quiet.run(lower(tape, plan(tape), quick=True), inputs, lambda: None)
    for slot, found in zip(tape.outputs, outputs, strict=True):
        np.testing.assert_array_equal(found, values[slot])
        assert found.dtype == values[slot].dtype
    for x, y in zip(inputs, before, strict=True):
        np.testing.assert_array_equal(x, y)


def chain(op):
    """The square of an input, and ``op`` of that and the input."""
    vector = ArrayType(DOUBLE, (4,))
    made = [
        Instruction(Input(0), (), vector, 0),
        Instruction(SINGLETONS["square"], (0,), vector, 0),
        Instruction(op, (0, 1)[-operands_of(op) :], vector, 0),
    ]
    return Tape(tuple(made), (0,), (2,))


@pytest.mark.parametrize("name", ["add", "multiply", "subtract", "maximum", "tanh", "negative"])
def test_memory_is_used_again(name):
    op = SINGLETONS[name]
    tape = chain(op)
    assert reused(tape, plan(tape).dead) == {2: operands_of(op) - 1}
