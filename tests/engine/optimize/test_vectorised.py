"""What is computed by quicker operations is as near the true values as is said."""

import gradwire_engine.ops  # noqa: F401  (fills the registry)
import numpy as np
import pytest
from gradwire_engine.answer import Limits
from gradwire_engine.autodiff.reverse import gradient
from gradwire_engine.backends.numpy.namespace import NUMPY
from gradwire_engine.check import interpret
from gradwire_engine.ops.base import FUNCTIONS, SINGLETONS
from gradwire_engine.ops.builder import Builder
from gradwire_engine.optimize import vectorised
from gradwire_engine.optimize.simplify import optimize
from gradwire_engine.tape import ArrayType

N = 8192
MULTIPLES = np.arange(-N // 2, N // 2) * (np.pi / 2)
SIGNS = np.tile([1.0, -1.0], N // 2)
#: Where angles are drawn, by what is special about them.
ANGLES = {
    "normal": lambda rng: rng.normal(size=N),
    "wide": lambda rng: rng.uniform(-1e5, 1e5, N),
    "huge": lambda rng: SIGNS * 10 ** rng.uniform(5, 308, N),
    "tiny": lambda rng: SIGNS * 10 ** rng.uniform(-300, -1, N),
    "multiples of π/2": lambda rng: MULTIPLES,
    "beside multiples": lambda rng: MULTIPLES + SIGNS * 10 ** rng.uniform(-15, -1, N),
}


@pytest.fixture(autouse=True)
def quick_tangent(monkeypatch):
    """As where NumPy has vectorised tangents."""
    monkeypatch.setattr(vectorised, "_QUICK_TANGENT", True)


def recorded(names, shape=(N,), dtype="float64"):
    b = Builder(Limits())
    x = b.input(ArrayType(np.dtype(dtype), shape))
    return b.tape([FUNCTIONS[name].record(b, x) for name in names])


def computed(x):
    tape = optimize(recorded(["sin", "cos"]), NUMPY)
    values = interpret(tape, [x])
    return [values[slot] for slot in tape.outputs]


@pytest.mark.parametrize("name", ANGLES)
def test_relative_errors_are_within_what_is_said(name):
    x = ANGLES[name](np.random.default_rng(0))
    sine, cosine = computed(x)
    exact = x.astype(np.longdouble)
    np.testing.assert_allclose(sine, np.sin(exact), rtol=4.5e-16)
    np.testing.assert_allclose(cosine, np.cos(exact), rtol=2e-14)


def test_edges_are_those_of_numpy():
    edges = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -1e-310, 1e22, 1.7e308])
    x = np.resize(edges, N)
    with np.errstate(invalid="ignore"):
        found, expected = computed(x), [np.sin(x), np.cos(x)]
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=4.5e-16, atol=5e-324)
        np.testing.assert_array_equal(np.signbit(a), np.signbit(b))


def test_a_function_and_its_derivative_share_the_tangent():
    b = Builder(Limits())
    x = b.input(ArrayType(np.dtype(float), (N,)))
    y = FUNCTIONS["sum"].record(b, FUNCTIONS["sin"].record(b, x) * FUNCTIONS["cos"].record(b, x))
    (x_bar,) = gradient(b, [y], [x])
    assert x_bar is not None
    tape = b.tape([y, x_bar])
    ops = [instruction.op for instruction in optimize(tape, NUMPY).instructions]
    assert ops.count(SINGLETONS["tan"]) == 1
    assert not {SINGLETONS["sin"], SINGLETONS["cos"]} & {*ops}


@pytest.mark.parametrize(
    ("shape", "dtype", "exact"),
    [((N,), "float64", True), ((N,), "float32", False), ((N,), "complex128", False)]
    + [(shape, "float64", False) for shape in [(), (100,), (0, N)]],
)
def test_others_are_left_alone(shape, dtype, exact):
    """Under ``exact``, where NumPy is quick already, and where calls cost more than computing."""
    tape = recorded(["sin", "cos"], shape, dtype)
    assert optimize(tape, NUMPY, exact=exact) == tape


def test_few_angles_that_repeat_are_left_alone():
    b = Builder(Limits())
    x = b.broadcast(b.input(ArrayType(np.dtype(float), (3, 1))), (3, N))
    ops = [i.op for i in optimize(b.tape([SINGLETONS["sin"](x)]), NUMPY).instructions]
    assert SINGLETONS["sin"] in ops


def powers(x, n):
    b = Builder(Limits())
    base = b.input(ArrayType(x.dtype, x.shape))
    z = FUNCTIONS["power"].record(b, base, float(n))
    tape = optimize(b.tape([z]), NUMPY)
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
    ("size", "dtype", "exact"), [(127, "f8", 0), (128, "f2", 0), (128, "f8", 1)]
)
@pytest.mark.parametrize("name", ["logaddexp", "hypot"])
def test_functions_of_two_numbers_are_numpys_own_where_said(name, size, dtype, exact):
    def ops(size, dtype, exact):
        b = Builder(Limits())
        sides = [b.input(ArrayType(np.dtype(dtype), shape)) for shape in [(size,), ()]]
        tape = b.tape([FUNCTIONS[name].record(b, *sides)])
        return [i.op for i in optimize(tape, NUMPY, exact=bool(exact)).instructions]

    assert SINGLETONS[name] in ops(size, dtype, exact)
    assert SINGLETONS[name] not in ops(128, "f4", exact=False)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("shape", [(64, 2), (300, 10), (100, 128)])
def test_many_short_rows_are_summed_by_a_product(shape, dtype):
    def recorded_sum(shape, axis):
        b = Builder(Limits())
        x = b.input(ArrayType(np.dtype(dtype), shape))
        tape = optimize(b.tape([FUNCTIONS["sum"].record(b, x, axis)]), NUMPY)
        return tape, [instruction.op for instruction in tape.instructions]

    tape, ops = recorded_sum(shape, 1)
    assert SINGLETONS["matmul"] in ops
    x = np.random.default_rng(0).normal(size=shape).astype(dtype)
    x[3, 1], x[4, 0] = np.inf, np.nan
    found = interpret(tape, [x])[tape.outputs[0]]
    scale = np.abs(x).sum(axis=1, dtype=np.longdouble)
    finite = np.isfinite(scale)
    error = np.abs(found[finite] - x[finite].sum(axis=1, dtype=np.longdouble))
    assert (error <= 20 * np.finfo(dtype).eps * scale[finite]).all()
    np.testing.assert_array_equal(found[~finite], x.sum(axis=1)[~finite])
    for others, axis in [((63, 2), 1), ((64, 1), 1), ((64, 129), 1), (shape, 0), ((2, 64, 2), 2)]:
        assert SINGLETONS["matmul"] not in recorded_sum(others, axis)[1]
