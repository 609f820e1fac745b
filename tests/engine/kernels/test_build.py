"""Kernels of arithmetic, functions and reductions: what they give is what NumPy gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gradwire_engine.errors import EngineError
from gradwire_engine.kernels.definitions import PLAIN
from gradwire_engine.kernels.scalar import has_expression
from gradwire_engine.ops.arrays.shape import BroadcastTo, Reshape
from gradwire_engine.ops.arrays.slicing import Slice
from gradwire_engine.ops.base import PRIMITIVES
from gradwire_engine.ops.conversion import AsType
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.ops.reductions.reductions import Max, Min, Sum
from gradwire_engine.tape import ArrayType
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from tests.effort import examples, some
from tests.engine.conftest import named
from tests.engine.kernels.tapes import (
    EXTREMES,
    LENGTHS,
    Writer,
    apply,
    both,
    go_on,
    kernels,
    moved,
    native,
    shapes,
    values_of,
)

SEEDS = st.integers(0, 2**32 - 1)
FLOATS, COMPLEX = ["float64", "float32"], ["complex128", "complex64"]


def operands_of(name: str, char: str) -> int:
    """The number of a primitive's operands, none if it has no expression on such numbers."""
    op = PRIMITIVES[name]
    written = PLAIN.get(name) or op.scalar or op.template
    count = sum(f"{{{k}}}" in written for k in range(3))
    if not op.elementwise or op.parameters or not count:
        return 0
    chars = [char] * count
    if name == "where":
        chars[0] = "?"
    kinds = [ArrayType(np.dtype(char), (3,)) for char in chars]
    made = op()
    try:
        return count if has_expression(made, made.infer(*kinds), kinds) else 0
    except EngineError:
        return 0


ELEMENTWISE = {
    (name, dtype): n
    for name in sorted(PRIMITIVES)
    for dtype in EXTREMES
    if (n := operands_of(name, np.dtype(dtype).char))
}


def test_operations_have_expressions():
    known = {(name, "float64") for name in ("add", "where", "tanh", "arctan2", "sqrt", "digamma")}
    known |= {("logical_xor", "bool"), ("left_shift", "int32"), ("remainder", "int64")}
    known |= {("divide", "complex128"), ("absolute", "complex64"), ("where", "complex128")}
    assert known <= ELEMENTWISE.keys()
    assert len({name for name, _ in ELEMENTWISE}) > 60


@pytest.mark.parametrize(("name", "dtype"), ELEMENTWISE)
def test_each_operation(name, dtype):
    dtypes = [dtype] * ELEMENTWISE[name, dtype]
    if name == "where":
        dtypes[0] = "bool"
    for n in some((1, 5, 8, 43), 4 if dtype == "float64" else 2):
        rng, w = np.random.default_rng(n), Writer()
        xs = [w.input(np.zeros(n, d)) for d in dtypes]
        kept = w.input(np.ones(n, bool))
        tape = w.tape(apply(name, *xs), apply("where", kept, xs[-1], xs[-1]))
        run = native(tape)
        for extremes in (False, True):
            values = [values_of(d, (n,), rng, extremes=extremes) for d in dtypes]
            if name == "gammaln":  # SciPy's is infinite at subnormal numbers
                values[0][abs(values[0]) < np.finfo(dtype).tiny] = 1
            if name == "digamma":  # SciPy's loses digits beside its poles
                x = values[0]
                part = np.modf(x)[0]
                x[(part < 0) & ((part > -0.25) | (part < -0.75))] = 1
            with named(n, extremes):
                found, expected = both(tape, [*values, w.inputs[-1]], run)
                signs = name not in EITHER_ZERO
                close(found[0], expected[0], signs=signs, atol=ABSOLUTE.get(name, 0.0))
                assert_array_equal(found[1], expected[1])


#: Epsilons that functions are off where their values are small: NumPy's and SciPy's cancel, too.
ABSOLUTE = {"logaddexp": 8.0, "logaddexp2": 8.0, "gammaln": 8.0, "digamma": 8.0}
#: Where of 0 and -0 either may be given.
EITHER_ZERO = ("fmax", "fmin", "maximum", "minimum")


def close(found: Any, expected: Any, *, signs: bool, atol: float = 0.0) -> None:
    """Within a few units in the last place, and NaN or infinite where the other is."""
    if expected.dtype.kind == "c":
        close_complex(found, expected)
        return
    if expected.dtype.kind != "f":
        assert_array_equal(found, expected)
        return
    least = np.finfo(expected.dtype)
    atol = max(atol * least.eps, 5 * least.smallest_subnormal)
    assert_allclose(found, expected, rtol=5 * least.eps, atol=atol)
    known = ~np.isnan(expected) & signs
    assert_array_equal(np.signbit(found)[known], np.signbit(expected)[known])


def close_complex(found: Any, expected: Any) -> None:
    """Within a few units in the last place of the size; infinite and NaN parts as the other's."""
    least = np.finfo(expected.dtype)
    for one, other in ((found.real, expected.real), (found.imag, expected.imag)):
        assert_array_equal(np.isnan(one), np.isnan(other))
        held = np.isfinite(other)
        assert_array_equal(one[~held], other[~held])
        size = np.where(np.isfinite(abs(expected)), abs(expected), abs(other))[held]
        most = np.maximum(6 * least.eps * size, 5 * least.smallest_subnormal)
        assert np.all(abs(one[held] - other[held]) <= most), (found, expected)


EXACT = ["add", "subtract", "multiply", "divide"]
ON_INTEGERS = ["add", "subtract", "multiply"]
COMPARED = ["less", "less_equal", "greater", "greater_equal", "equal", "not_equal"]


@pytest.mark.thorough
@examples(200)
@given(data=st.data(), shape=shapes(), dtype=st.sampled_from([*FLOATS, "int64"]), seed=SEEDS)
def test_arithmetic_is_exact(data, shape, dtype, seed):
    rng, w = np.random.default_rng(seed), Writer()
    xs = [w.input(values_of(dtype, shape, rng, extremes=True)) for _ in range(3)]
    numbers = [*EXTREMES[dtype], *([0.1, 1e-20, 16777217.0] if dtype != "int64" else [17])]
    constant = w.builder.constant(np.array(data.draw(st.sampled_from(numbers)), dtype))
    truths: list[Any] = []
    for _ in range(data.draw(st.integers(2, 8))):
        x, y = data.draw(st.sampled_from(xs)), data.draw(st.sampled_from([*xs, constant]))
        kind = data.draw(st.sampled_from(["arithmetic", "where", "negative", "scalar"]))
        if kind == "where":
            truth = apply(data.draw(st.sampled_from(COMPARED)), x, y)
            if truths and truth.shape == truths[-1].shape:
                joined = data.draw(st.sampled_from(["equal", "not_equal", "logical_or", "where"]))
                same = truths[-1]
                truth = apply(joined, truth, *[same, truth] if joined == "where" else [same])
            truths.append(truth)
            xs.append(apply("where", truth, x, y))
        elif kind == "negative":
            xs.append(apply("negative", x))
        else:
            name = st.sampled_from(ON_INTEGERS if dtype == "int64" else EXACT)
            xs.append(apply(data.draw(name), *((y, x) if kind == "scalar" else (x, y))))
    w.agree(*xs[3:], *truths[-1:], signs=dtype != "int64")


@pytest.mark.parametrize("value", EXTREMES["int64"])
def test_whole_constants_keep_all_their_digits(value):
    w = Writer()
    x = w.input(np.arange(10) + 2**53)
    c = w.builder.constant(np.array(value, "int64"))
    w.agree(apply("add", x, c), apply("less", c, x), apply("multiply", c, x))


def test_constants_that_differ_in_the_sign_of_zero():
    w = Writer()
    x = w.input(np.ones(9))
    zeros = [w.builder.constant(np.array(z)) for z in (0.0, -0.0)]
    w.agree(*[apply("divide", x, apply("multiply", x, zero)) for zero in zeros])


CONVERSIONS = [("float64", "float32"), ("float32", "float64"), ("int64", "float64")]
CONVERSIONS += [("int64", "float32"), ("bool", "float64"), ("bool", "float32"), ("bool", "int64")]
CONVERSIONS += [("float64", "int64"), ("float64", "bool"), ("int64", "bool"), ("int32", "int64")]
CONVERSIONS += [("float64", "int32"), ("int64", "int32"), ("float32", "int64"), ("bool", "int32")]
CONVERSIONS += [("float64", "complex128"), ("complex64", "complex128"), ("complex128", "float32")]
CONVERSIONS += [("complex128", "bool"), ("int32", "complex64"), ("complex64", "int64")]


@pytest.mark.parametrize(("source", "target"), CONVERSIONS)
@pytest.mark.parametrize("n", [1, 8, 21])
def test_conversions(source, target, n):
    rng, w = np.random.default_rng(n), Writer()
    whole = target.startswith("int")
    x = w.input(values_of(source, (n,), rng, extremes=not whole))
    y = w.input(values_of(target, (n,), rng, extremes=True))
    z = AsType(np.dtype(target))(x)
    condition = w.input(np.arange(n) % 3 > 0)
    z = apply("where", condition, z, y)
    for found, expected in zip(
        *both(w.tape(apply("where", condition, y, z), z), w.inputs), strict=True
    ):
        assert_array_equal(found, expected)


@pytest.mark.thorough
@examples(200)
@given(data=st.data(), shape=shapes().filter(len), dtype=st.sampled_from(FLOATS), seed=SEEDS)
def test_reductions(data, shape, dtype, seed):
    rng, w = np.random.default_rng(seed), Writer()
    values = values_of(dtype, shape, rng, extremes=data.draw(st.booleans()))
    values[np.isfinite(values) & (abs(values) > 1e30)] = 1  # whether two overflow is for the order
    x = w.input(values)
    x = apply("negative", x) if data.draw(st.booleans()) else x
    for _ in range(data.draw(st.integers(0, 2))):
        x = moved(data.draw, x)
    outputs, largest = [], []
    for reduction in data.draw(st.lists(st.sampled_from([Sum, Max, Min]), min_size=1, max_size=4)):
        axes = tuple(sorted(data.draw(st.sets(st.integers(0, x.ndim - 1))))) if x.ndim else ()
        z = reduction(axes)(x)
        outputs += [z, apply("negative", z)]
        largest += [Sum(axes)(apply("absolute", x))] * 2
    outputs.append(apply("multiply", x, x))
    found, expected = both(w.tape(*outputs, *largest), w.inputs)
    for k, (one, other) in enumerate(zip(found, expected, strict=True)):
        if k % 2 == 0 and k < len(largest):
            most = x.type.size * np.finfo(dtype).eps * expected[len(outputs) + k]
        elif k < len(largest):
            assert_array_equal(one, -found[k - 1])
            continue
        else:
            continue
        with np.errstate(invalid="ignore"):
            same = (one == other) | (np.isnan(one) & np.isnan(other))
            assert np.all(same | (np.abs(one - other) <= most)), (one, other)


@pytest.mark.thorough
@examples(100)
@given(data=st.data(), shape=shapes().filter(len), dtype=st.sampled_from(COMPLEX), seed=SEEDS)
def test_complex_programs(data, shape, dtype, seed):
    """Arithmetic, parts and sums of complex numbers, moved about."""
    rng, w = np.random.default_rng(seed), Writer()
    x, y = (w.input(values_of(dtype, shape, rng, extremes=False)) for _ in range(2))
    constant = w.builder.constant(np.array(2.5 - 1.5j, dtype))
    z = apply("multiply", apply("add", x, constant), apply("conjugate", y))
    for _ in range(data.draw(st.integers(0, 2))):
        z = moved(data.draw, z)
    size = apply("absolute", apply("exp", apply("divide", z, constant)))
    turned = apply("complex", apply("imag", z), apply("real", apply("negative", z)))
    assume(z.ndim)
    axes = tuple(sorted(data.draw(st.sets(st.integers(0, z.ndim - 1), min_size=1))))
    outputs = [z, size, turned, Sum(axes)(turned), Sum(axes)(size), apply("log", turned)]
    found, expected = both(w.tape(*outputs, Sum(axes)(apply("absolute", z))), w.inputs)
    eps = 32 * np.finfo(dtype).eps  # exponents of some ten have errors of as many units
    for k, (one, other) in enumerate(zip(found, expected, strict=True)):
        most = z.type.size * expected[-1] if k == 3 else 1 + abs(other)
        with np.errstate(invalid="ignore"):  # of infinities, which are equal
            assert np.all((one == other) | (abs(one - other) <= eps * most)), k


@pytest.mark.thorough
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("reduction", [Max, Min])
@pytest.mark.parametrize("axes", [(0,), (1,), (0, 1)])
def test_extremes_are_nan_where_an_element_is(dtype, reduction, axes):
    for n in (1, 7, 8, 9, 20):
        for at in {0, 3 % n, n - 1}:
            w = Writer()
            x = np.ones((3, n), dtype)
            x[1, at] = np.nan
            x[2, :] = -np.inf
            y = apply("negative", w.input(x))
            z = apply("negative", reduction(axes)(y))
            w.agree(z, y)


SUBSCRIPTS = ["ab,ab->ab", "ab,b->ab", "a,b->ba", "ab,bc->ac", "ab,cb->ca", "ab,ab->", "a,a->"]
SUBSCRIPTS += [",ab->ba", "ab,->ab", ",->", "a,ab->b", "abc,bd->acd", "ab,ab->b"]


@pytest.mark.parametrize("subscripts", SUBSCRIPTS)
@examples(50)
@given(data=st.data(), dtype=st.sampled_from([*FLOATS, *COMPLEX]), seed=SEEDS)
def test_contractions(subscripts, data, dtype, seed):
    rng, w = np.random.default_rng(seed), Writer()
    length = {label: data.draw(LENGTHS) % 8 + 1 for label in "abcd"}  # few products
    left, right = subscripts.split("->")[0].split(",")
    xs = [
        values_of(dtype, tuple([length[i] for i in labels]), rng, extremes=False)
        for labels in (left, right)
    ]
    x, y = map(w.input, xs)
    z = Contract(subscripts)(apply("negative", x), y)
    run = native(w.tape(apply("negative", z), z))
    found = run.replay(w.inputs, go_on).outputs
    wide = "c16" if dtype.startswith("complex") else "f8"
    expected = np.einsum(subscripts, -xs[0].astype(wide), xs[1].astype(wide))
    sizes = np.einsum(subscripts, abs(xs[0]), abs(xs[1]))
    most = 2 * length["a"] * length["b"] * np.finfo(dtype).eps * sizes
    assert np.all(abs(found[1] - expected) <= most)
    assert found[1].dtype == dtype
    assert_array_equal(found[0], -found[1])
    assert kernels(run)


@examples(50)
@given(data=st.data(), shape=st.tuples(LENGTHS, LENGTHS), seed=SEEDS)
def test_sums_and_contractions_of_the_same_arrays(data, shape, seed):
    rng, w = np.random.default_rng(seed), Writer()
    x = w.input(rng.normal(size=shape))
    known, outputs = [x, apply("exp", x)], []
    for _ in range(data.draw(st.integers(2, 8))):
        one, other = (data.draw(st.sampled_from(known)) for _ in range(2))
        kind = data.draw(st.sampled_from(["contract", "sum", "add"]))
        if kind == "add":
            known.append(apply("tanh", apply("add", one, other)))
            outputs += [known[-1]] * data.draw(st.booleans())
            continue
        labels = data.draw(st.sampled_from(["", "a", "b", "ab", "ba"]))
        axes = tuple([axis for axis, label in enumerate("ab") if label not in labels])
        sums = Contract(f"ab,ab->{labels}")(one, other) if kind == "contract" else Sum(axes)(one)
        outputs.append(sums)
        if len(labels) == 1:
            row = (1, shape[1]) if labels == "b" else (shape[0], 1)
            known.append(apply("tanh", apply("multiply", one, Reshape(row)(sums))))
    outputs.append(apply("negative", known[-1]))
    w.agree(*outputs, rtol=1e-10, atol=1e-10)


def test_sums_of_products_of_the_same_arrays_share_their_loops():
    w = Writer()
    x = w.input(np.linspace(-1, 1, 600))
    y, z = apply("tanh", x), apply("exp", x)
    dots = [Contract("a,a->")(one, other) for one, other in ((x, y), (y, z), (z, z))]
    run = native(w.tape(*dots, Sum((0,))(y), z))
    run.replay(w.inputs, go_on)
    assert [nest.lengths for nest in kernels(run)[0].form.nests] == [(600,)]


def test_sums_over_no_axes_and_axes_of_length_1():
    w = Writer()
    x = w.input(np.arange(9.0).reshape(1, 9, 1))
    y = apply("negative", x)
    sums = [Sum(axes)(y) for axes in [(), (0,), (2,), (0, 2), (1,), (0, 1, 2)]]
    w.agree(*sums)


def test_values_that_several_nests_read():
    w = Writer()
    x = w.input(np.arange(30.0).reshape(5, 6) - 10)
    y = apply("exp", apply("negative", apply("multiply", x, x)))
    rows, columns = Sum((1,))(y), Max((0,))(y)
    spread = apply("multiply", y, BroadcastTo((5, 6))(columns))
    shifted = apply("add", Slice((1, 0), (5, 6))(y), Slice((0, 0), (4, 6))(spread))
    outputs = [rows, columns, Sum((0, 1))(spread), Min((0, 1))(shifted), Sum((0,))(shifted), y]
    for found, expected in zip(*both(w.tape(*outputs), w.inputs), strict=True):
        assert_allclose(found, expected, rtol=1e-14, atol=1e-14 * np.max(abs(expected)))
