"""Numbers computed within the expressions that read them: each as on a line of its own."""

import re

import numpy as np
from gradwire_engine.backends.finite import all_finite
from gradwire_engine.backends.numpy.lower import lower, written
from gradwire_engine.backends.plan import plan
from gradwire_engine.backends.quiet import quiet
from gradwire_engine.ops.base import SINGLETONS
from gradwire_engine.ops.constants import Constant, Input
from gradwire_engine.tape import ArrayType, Instruction, Tape
from hypothesis import given
from hypothesis import strategies as st

NUMBER = ArrayType(np.dtype("float64"), ())
VECTOR = ArrayType(np.dtype("float64"), (3,))
INPUTS = 3
#: Operations whose Python code gives the bits of NumPy's.
UNARY = [SINGLETONS[name] for name in ("negative", "square", "absolute", "sign")]
BINARY = [SINGLETONS[name] for name in ("add", "subtract", "multiply", "maximum", "minimum")]


@st.composite
def tapes(draw):
    """Arithmetic on numbers, constants and a vector; each may be read never, once or often."""
    kinds = [NUMBER, NUMBER, VECTOR]
    made = [Instruction(Input(i), (), kind, 0) for i, kind in enumerate(kinds)]
    for _ in range(draw(st.integers(1, 40))):
        if draw(st.integers(0, 6)) == 0:
            value = np.asarray(draw(st.floats(-9, 9) | st.sampled_from([-0.0, np.inf, np.nan])))
            made.append(Instruction(Constant.of(value), (), NUMBER, 0))
            continue
        op = draw(st.sampled_from(UNARY + BINARY + BINARY))
        recent = st.integers(max(0, len(made) - 4), len(made) - 1) | st.integers(0, len(made) - 1)
        args = tuple([draw(recent) for _ in range(1 if op in UNARY else 2)])
        vector = any(made[a].type.shape for a in args)
        made.append(Instruction(op, args, VECTOR if vector else NUMBER, 0))
    outputs = {len(made) - 1, draw(st.integers(0, len(made) - 1))}
    return Tape(tuple(made), tuple(range(INPUTS)), tuple(outputs))


@given(tapes(), st.lists(st.floats(allow_subnormal=False), min_size=5, max_size=5))
def test_nested_expressions_give_the_bits_of_separate_ones(tape, values):
    inputs = [np.float64(values[0]), np.float64(values[1]), np.array(values[2:])]
    planned = plan(tape)
    (found, unsure), (expected, _) = (
        quiet.run(lower(tape, planned, quick=quick), inputs, lambda: None)
        for quick in (True, False)
    )
    assert unsure or all_finite(expected)
    for x, y in zip(found, expected, strict=True):
        assert type(x) is type(y)
        np.testing.assert_array_equal(x, y)
        plain = ~np.isnan(y)
        np.testing.assert_array_equal(np.signbit(x)[plain], np.signbit(y)[plain])


def test_long_chains_are_broken_before_python_is_at_its_limit():
    add = SINGLETONS["add"]
    made = [Instruction(Input(0), (), NUMBER, 0)]
    made += [Instruction(add, (slot, 0), NUMBER, 0) for slot in range(1000)]
    tape = Tape(tuple(made), (0,), (1000,))
    ((total,), _) = lower(tape, plan(tape), quick=True)([np.float64(1)], lambda: None)
    assert total == 1001
    lines = [line for line, _ in written(tape, plan(tape)).lines]
    assert len(lines) < 200
    assert max(len(re.findall(r"\(", line)) for line in lines) < 50


def test_what_is_evaluated_twice_is_computed_once():
    x, y = (Instruction(Input(i), (), NUMBER, 0) for i in range(2))
    difference = Instruction(SINGLETONS["subtract"], (0, 1), NUMBER, 0)
    squared = Instruction(SINGLETONS["square"], (2,), NUMBER, 0)
    tape = Tape((x, y, difference, squared), (0, 1), (3,))
    code = "".join(line for line, _ in written(tape, plan(tape)).lines)
    assert code.count(" - ") == 1
