"""Quicker operations are as near the true values as is said."""

import gradwire_engine.ops  # noqa: F401  (fills the registry)
import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Query
from gradwire_engine.answer import Limits
from gradwire_engine.backends.walk.backend import NUMPY_BACKEND
from gradwire_engine.backends.walk.operations import SumByProduct
from gradwire_engine.check import interpret
from gradwire_engine.ops.base import FUNCTIONS, SINGLETONS
from gradwire_engine.ops.builder import Builder
from gradwire_engine.ops.reductions.normalized import Softmax
from gradwire_engine.ops.reductions.reductions import Sum
from gradwire_engine.ops.sequences.cumulative import LinearRecurrence
from gradwire_engine.optimize.simplify import optimize
from gradwire_engine.tape import ArrayType
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays


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
    np.testing.assert_allclose(powers(x, n), x.astype(np.longdouble) ** n, rtol=2e-15)
    edges = np.resize([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-200, -1e200, 1.0, -1.0], 90)
    with np.errstate(all="ignore"):
        expected = edges ** float(n)
    np.testing.assert_array_equal(powers(edges, n), expected)
    np.testing.assert_array_equal(np.signbit(powers(edges, n)), np.signbit(expected))


@pytest.mark.parametrize(
    ("size", "dtype", "exact"), [(127, "f8", 0), (127, "f2", 0), (128, "f8", 1)]
)
def test_sums_of_exponentials_are_numpys_own_where_said(size, dtype, exact):
    def ops(size, dtype, exact):
        b = Builder(Limits())
        sides = [b.input(ArrayType(np.dtype(dtype), shape)) for shape in [(size,), ()]]
        tape = b.tape([FUNCTIONS["logaddexp"].record(b, *sides)])
        return [i.op for i in optimize(tape, NUMPY_BACKEND, exact=bool(exact)).instructions]

    assert SINGLETONS["logaddexp"] in ops(size, dtype, exact)
    assert SINGLETONS["logaddexp"] not in ops(128, "f4", exact=False)


def total(shape, axes, dtype="float64"):
    b = Builder(Limits())
    x = b.input(ArrayType(np.dtype(dtype), shape))
    return optimize(b.tape([Sum(axes)(x)]), NUMPY_BACKEND)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("shape", [(256, 256, 2), (300, 2, 5), (257, 3, 300), (5000, 1, 1)])
@pytest.mark.parametrize("axes", [(0,), (0, 1), (2,), (1, 2)])
def test_sums_over_the_first_or_last_axes_are_products(shape, axes, dtype, order):
    tape = total(shape, axes, dtype)
    assert type(tape.instructions[-1].op) is SumByProduct
    x = np.random.default_rng(0).normal(size=shape).astype(dtype, order)
    x[1, 0, 0], x[0, 0, 0] = np.inf, np.nan
    found, expected = interpret(tape, [x])[tape.outputs[0]], x.sum(axes)
    finite = np.isfinite(expected)
    assert found.shape == expected.shape
    np.testing.assert_array_equal(found[~finite], expected[~finite])
    scale, exact = (y.sum(axes, dtype=np.longdouble)[finite] for y in (np.abs(x), x))
    assert (np.abs(found[finite] - exact) <= 30 * np.finfo(dtype).eps * scale).all()


@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        *[((255, 5), (1,)), ((255, 5), (0,)), ((300, 5, 3), (1,)), ((300, 5, 3), (0, 2))],
        *[((600,), (0,)), ((300, 1025), (1,))],
    ],
)
def test_few_numbers_and_long_rows_and_axes_within_are_added_up(shape, axes):
    assert type(total(shape, axes).instructions[-1].op) is Sum


@pytest.mark.parametrize("axes", [(0,), (1,), (0, 1)])
@given(arrays(float, (3, 4), elements=st.floats(-1e3, 1e3) | st.sampled_from([np.inf, -np.inf])))
def test_softmax_is_what_its_parts_give(axes, x):
    b = Builder(Limits())
    tape = b.tape([Softmax(axes)(b.input(ArrayType(x.dtype, x.shape)))])
    better = optimize(tape, NUMPY_BACKEND)
    with np.errstate(all="ignore"):
        before, after = interpret(tape, [x]), interpret(better, [x])
    assert Softmax not in [type(instruction.op) for instruction in better.instructions]
    np.testing.assert_allclose(after[better.outputs[0]], before[tape.outputs[0]], rtol=1e-14)


NUMBERS = st.floats(0, 1e3) | st.sampled_from([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan])


@pytest.mark.parametrize("name", ["xlogy", "power"])
@given(arrays(float, (3, 50), elements=NUMBERS), arrays(float, (50,), elements=NUMBERS))
def test_logarithms_of_weights_and_powers_of_two(name, x, y):
    b = Builder(Limits())
    sides = [b.input(ArrayType(np.dtype(float), side.shape)) for side in (x, y)]
    operands = sides if name == "xlogy" else [2.0, sides[0]]
    tape = b.tape([FUNCTIONS[name].record(b, *operands)])
    better = optimize(tape, NUMPY_BACKEND)
    assert SINGLETONS[name] not in [instruction.op for instruction in better.instructions]
    with np.errstate(all="ignore"):
        before, after = interpret(tape, [x, y]), interpret(better, [x, y])
    found, expected = after[better.outputs[0]], before[tape.outputs[0]]
    np.testing.assert_allclose(found, expected, rtol=1e-15, atol=1e-320)


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
        np.testing.assert_allclose(found, x ** np.array([*exponents]), rtol=2e-15)


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
    np.testing.assert_allclose(found, expected, rtol=1e-6 if dtype == "float32" else 1e-14)
    assert found.dtype == dtype
    made = {i.op.name for i in call.entry.paths[0].executable.tape.instructions}
    assert ("cumprod" in made) == (count > 17)


def test_running_products_of_integers_stay():
    engine = Engine()
    call = engine.call(engine.parse("vander(x, 4)"), {"x": Leaf(np.arange(5))}, Query("evaluate"))
    np.testing.assert_array_equal(call.replay(lambda: None).value, np.vander(np.arange(5), 4))


EXPONENTS = [*range(-16, 17), 17, 0.5, -0.5, np.inf, np.nan]


def raised_to(x, y):
    b = Builder(Limits())
    operands = [b.input(ArrayType(of.dtype, of.shape)) for of in (x, y)]
    tape = optimize(b.tape([FUNCTIONS["power"].record(b, *operands)]), NUMPY_BACKEND)
    assert any(i.op.name == "power_by_products" for i in tape.instructions)
    with np.errstate(all="ignore"):
        return interpret(tape, [x, y])[tape.outputs[0]], np.power(x, y)


@pytest.mark.parametrize("exponent", EXPONENTS)
@pytest.mark.parametrize("shape", [(), (1,), (80,), (3, 80)])
def test_exponents_that_turn_out_to_be_whole_are_products(exponent, shape):
    x = np.linspace(-3, 3, 80)
    x[:6] = 0.0, -0.0, np.inf, -np.inf, np.nan, 1e-20
    found, expected = raised_to(x, np.full(shape, exponent, float))
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=2e-15)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


def test_exponents_that_differ_are_numpys_powers():
    y = np.full(80, 3.0)
    y[7] = 2
    found, expected = raised_to(np.linspace(-3, 3, 80), y)
    np.testing.assert_array_equal(found, expected)


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
            np.testing.assert_allclose(answer.gradients[0], slopes, rtol=1e-14)


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
    np.testing.assert_allclose(found, expected, atol=8 * shape[axis] * np.finfo(dtype).eps)


def test_recurrences_in_many_rows_take_a_step_for_all():
    builder = Builder(Limits())
    operands = [builder.input(ArrayType(np.dtype(float), (20, 900))) for _ in range(2)]
    better = optimize(builder.tape([LinearRecurrence(0)(*operands)]), NUMPY_BACKEND)
    assert better.instructions[-1].op == LinearRecurrence(0)


@pytest.mark.parametrize(
    ("axes", "shape"), [((0,), (0, 3)), ((0,), (3, 0)), ((1,), (3, 0)), ((1,), (0, 3))]
)
def test_sums_of_nothing_by_products(axes, shape):
    found = SumByProduct(axes).kernel(np, np.empty(shape))
    np.testing.assert_array_equal(found, np.zeros(shape[1 - axes[0]]))
