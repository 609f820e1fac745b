"""Quicker operations are as near the true values as is said."""

import gradwire_engine.ops  # noqa: F401  (fills the registry)
import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Query
from gradwire_engine.answer import Limits
from gradwire_engine.backends.walk.backend import NUMPY_BACKEND
from gradwire_engine.check import interpret
from gradwire_engine.ops.base import FUNCTIONS, SINGLETONS
from gradwire_engine.ops.builder import Builder
from gradwire_engine.ops.reductions.normalized import Softmax
from gradwire_engine.ops.sequences.cumulative import LinearRecurrence
from gradwire_engine.optimize.simplify import optimize
from gradwire_engine.tape import ArrayType
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from tests.engine.conftest import called


def powers(x, n):
    b = Builder(Limits())
    base = b.input(ArrayType(x.dtype, x.shape))
    z = FUNCTIONS["power"].record(b, base, float(n))
    tape = optimize(b.tape([z]), NUMPY_BACKEND)
    assert SINGLETONS["power"] not in [instruction.op for instruction in tape.instructions]
    with np.errstate(all="ignore"):
        return interpret(tape, [x])[tape.outputs[0]]


@pytest.mark.parametrize("n", [*range(-16, 0), *range(1, 17)])
def test_whole_powers_are_products(n):
    rng = np.random.default_rng(n + 16)
    x = np.resize([1.0, -1.0], 1000) * 10 ** rng.uniform(-300 / abs(n), 300 / abs(n), 1000)
    assert_allclose(powers(x, n), x.astype(np.longdouble) ** n, rtol=2e-15)
    edges = np.resize([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-200, -1e200, 1.0, -1.0], 90)
    with np.errstate(all="ignore"):
        expected = edges ** float(n)
    assert_array_equal(powers(edges, n), expected)
    assert_array_equal(np.signbit(powers(edges, n)), np.signbit(expected))


@pytest.mark.parametrize("axes", [(0,), (1,), (0, 1)])
@given(arrays(float, (3, 4), elements=st.floats(-1e3, 1e3) | st.sampled_from([np.inf, -np.inf])))
def test_softmax_is_what_its_parts_give(axes, x):
    b = Builder(Limits())
    tape = b.tape([Softmax(axes)(b.input(ArrayType(x.dtype, x.shape)))])
    better = optimize(tape, NUMPY_BACKEND)
    with np.errstate(all="ignore"):
        before, after = interpret(tape, [x]), interpret(better, [x])
    assert Softmax not in [type(instruction.op) for instruction in better.instructions]
    assert_allclose(after[better.outputs[0]], before[tape.outputs[0]], rtol=1e-14)


NUMBERS = st.floats(0, 1e3) | st.sampled_from([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan])


@given(arrays(float, (3, 50), elements=NUMBERS))
def test_powers_of_two(x):
    b = Builder(Limits())
    exponent = b.input(ArrayType(np.dtype(float), x.shape))
    tape = b.tape([FUNCTIONS["power"].record(b, 2.0, exponent)])
    better = optimize(tape, NUMPY_BACKEND)
    assert SINGLETONS["power"] not in [instruction.op for instruction in better.instructions]
    with np.errstate(all="ignore"):
        before, after = interpret(tape, [x]), interpret(better, [x])
    found, expected = after[better.outputs[0]], before[tape.outputs[0]]
    assert_allclose(found, expected, rtol=1e-15, atol=1e-320)


@pytest.mark.parametrize("exponents", [range(8), [5, 0, 3], [16, 1]])
def test_a_column_to_whole_powers_is_made_of_products(exponents):
    x = np.concatenate([np.linspace(-2, 2, 99), [0, np.inf, -np.inf, np.nan]])[:, None]
    b = Builder(Limits())
    given = b.input(ArrayType(np.dtype("float64"), x.shape))
    powers = b.constant(np.array([*exponents], "float64"))
    tape = optimize(b.tape([FUNCTIONS["power"].record(b, given, powers)]), NUMPY_BACKEND)
    assert "power" not in {i.op.name for i in tape.instructions}
    (found,) = [interpret(tape, [x])[slot] for slot in tape.outputs]
    with np.errstate(all="ignore"):
        assert_allclose(found, x ** np.array([*exponents]), rtol=2e-15)


@pytest.mark.parametrize(("count", "dtype"), [(8, "float64"), (18, "float32"), (3, "complex128")])
@pytest.mark.parametrize("ends", ["", ", increasing=True"])
def test_running_products_of_one_column_are_its_powers(count, dtype, ends):
    x = np.random.default_rng(0).normal(size=20).astype(dtype)
    x[0] = 0
    engine = Engine()
    program = engine.parse(f"vander(x, {count}{ends})")
    call = engine.call(program, {"x": Leaf(x)}, Query("evaluate"))
    for _ in range(2):
        found = call.replay(lambda: None).value
    expected = np.vander(x, count, increasing=bool(ends))
    assert_allclose(found, expected, rtol=1e-6 if dtype == "float32" else 1e-14)
    assert found.dtype == dtype
    made = {i.op.name for i in call.entry.paths[0].executable.tape.instructions}
    assert ("cumprod" in made) == (count > 17)


def test_running_products_of_integers_stay():
    engine = Engine()
    call = called(engine, "vander(x, 4)", {"x": np.arange(5)}, "evaluate")
    assert_array_equal(call.replay(lambda: None).value, np.vander(np.arange(5), 4))


def test_a_whole_exponent_is_a_variable():
    engine = Engine()
    program = engine.parse("sum(x**k)")
    x = np.linspace(-2, 2, 101)
    for k in (0, 1, 2, 3, 7, -1):
        at = np.delete(x, 50) if k < 0 else x
        values = {"x": Leaf(at), "k": Leaf(np.asarray(k))}
        call = engine.call(program, values, Query("gradient", sources=["x"]))
        for _ in range(3):
            answer = call.replay(lambda: None)
            slopes = k * at ** float(k - 1) if k else np.zeros_like(at)
            assert_allclose(answer.gradients[0], slopes, rtol=1e-14)


@given(
    st.sampled_from([((200,), 0), ((3, 200), 1), ((200, 2), 0), ((2, 150, 2), 1)]),
    st.sampled_from(["float64", "float32"]),
    st.integers(0, 2**32 - 1),
)
def test_recurrences_in_few_rows_are_solved_by_bands(shape_axis, dtype, seed):
    (shape, axis), rng = shape_axis, np.random.default_rng(seed)
    a, b = (rng.uniform(-1, 1, shape).astype(dtype) for _ in range(2))
    op, builder = LinearRecurrence(axis), Builder(Limits())
    operands = [builder.input(ArrayType(x.dtype, x.shape)) for x in (a, b)]
    tape = builder.tape([op(*operands)])
    better = optimize(tape, NUMPY_BACKEND)
    assert [i.op.name for i in better.instructions][-1] == "recurrence_by_rows"
    assert optimize(tape, NUMPY_BACKEND, exact=True).instructions[-1].op == op
    found, expected = (interpret(of, [a, b])[of.outputs[0]] for of in (better, tape))
    assert found.dtype == expected.dtype
    assert_allclose(found, expected, atol=8 * shape[axis] * np.finfo(dtype).eps)


def test_recurrences_in_many_rows_take_a_step_for_all():
    builder = Builder(Limits())
    operands = [builder.input(ArrayType(np.dtype(float), (20, 900))) for _ in range(2)]
    better = optimize(builder.tape([LinearRecurrence(0)(*operands)]), NUMPY_BACKEND)
    assert better.instructions[-1].op == LinearRecurrence(0)
