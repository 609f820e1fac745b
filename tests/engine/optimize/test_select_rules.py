"""Choices in choices by one condition are made once, with the values that they had."""

import gradwire_engine.ops  # noqa: F401  (fills the registry)
import numpy as np
import pytest
from gradwire_engine.answer import Limits
from gradwire_engine.autodiff.reverse import gradient
from gradwire_engine.backends.walk.backend import NUMPY_BACKEND
from gradwire_engine.check import interpret
from gradwire_engine.ops.base import FUNCTIONS
from gradwire_engine.ops.builder import Builder
from gradwire_engine.optimize.simplify import optimize
from gradwire_engine.tape import ArrayType
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

SHAPE = (2, 3)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["where", "where", "multiply", "exp", "maximum", "abs", "logical_not"]),
        st.tuples(st.integers(0, 9), st.integers(0, 99), st.integers(0, 99)),
    ),
    min_size=1,
    max_size=12,
)
ELEMENTS = st.sampled_from([-2.0, -0.0, 0.0, 0.5, 1.0, np.inf, -np.inf, np.nan])


def call(name, *operands):
    return FUNCTIONS[name].record(operands[0].builder, *operands)


def build(steps):
    """A tape of random choices by few conditions, with the gradient of the last value."""
    b = Builder(Limits())
    x, row = (b.input(ArrayType(np.dtype(float), shape)) for shape in (SHAPE, SHAPE[1:]))
    conditions = [call("greater", x, b.scalar(0, x.dtype)), call("isfinite", row)]
    values = [x, row, b.scalar(0, x.dtype), b.scalar(1, x.dtype), b.scalar(-0.0, x.dtype)]
    for name, (c, i, j) in steps:
        condition, y, z = conditions[c % len(conditions)], values[i % len(values)], values[~j % 5]
        if name == "logical_not":
            conditions.append(call(name, condition))
        elif name == "where":
            values.append(call(name, condition, y, z))
        else:
            values.append(call(name, *[y, z][: 2 if name in ("multiply", "maximum") else 1]))
    bars = gradient(b, [values[-1]], [x, row])
    return b.tape([values[-1], *[bar for bar in bars if bar is not None]])


@given(STEPS, arrays(float, SHAPE, elements=ELEMENTS), arrays(float, SHAPE[1:], elements=ELEMENTS))
def test_values_stay_what_they_are(steps, x, row):
    tape = build(steps)
    better = optimize(tape, NUMPY_BACKEND)
    with np.errstate(all="ignore"):
        before, after = interpret(tape, [x, row]), interpret(better, [x, row])
    for old, new in zip(tape.outputs, better.outputs, strict=True):
        assert_allclose(after[new], before[old], rtol=1e-12)


def test_what_is_chosen_may_come_to_a_row():
    b = Builder(Limits())
    x, row = (b.input(ArrayType(np.dtype(float), shape)) for shape in (SHAPE, SHAPE[1:]))
    some, other = call("greater", x, b.scalar(0, x.dtype)), call("isfinite", x)
    chosen = call("where", other, call("where", some, row, x), b.scalar(0, x.dtype))
    tape = b.tape([call("where", some, chosen, x)])
    values = [np.array([[1.0, -1.0, np.inf], [2.0, -np.inf, 0.0]]), np.array([3.0, 4.0, 5.0])]
    better = optimize(tape, NUMPY_BACKEND)
    before, after = interpret(tape, values), interpret(better, values)
    assert_array_equal(after[better.outputs[0]], before[tape.outputs[0]])


@pytest.mark.parametrize(
    ("name", "choices"), [("relu", 1), ("elu", 3), ("leaky_relu", 3), ("hardtanh", 2)]
)
def test_a_derivative_chooses_once_for_each_branch(name, choices):
    b = Builder(Limits())
    x = b.input(ArrayType(np.dtype(float), SHAPE))
    y = call(name, x)
    (x_bar,) = gradient(b, [call("sum", call("square", y))], [x])
    assert x_bar is not None
    ops = [i.op.name for i in optimize(b.tape([y, x_bar]), NUMPY_BACKEND).instructions]
    assert ops.count("where") == choices
    assert {"logical_not", "not_equal"}.isdisjoint(ops)


def test_what_a_choice_keeps_from_a_slow_function_is_kept_from_it():
    b = Builder(Limits())
    x = b.input(ArrayType(np.dtype(float), SHAPE))
    zero, one = (b.scalar(number, x.dtype) for number in (0, 1))
    positive = call("greater", x, zero)
    root = call("power", call("where", positive, x, one), b.scalar(2.5, x.dtype))
    tape = optimize(b.tape([call("where", positive, root, zero)]), NUMPY_BACKEND)
    power = next(i for i in tape.instructions if i.op.name == "power")
    assert tape.instructions[power.args[0]].op.name == "where"
