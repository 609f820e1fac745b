"""Constant indices select, add and replace as NumPy does, however they are made quicker."""

import gradwire_engine.ops  # noqa: F401  (fills the registry)
import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Query
from gradwire_engine.answer import Limits
from gradwire_engine.backends.walk.backend import NUMPY_BACKEND
from gradwire_engine.check import check, interpret
from gradwire_engine.errors import BadArgument
from gradwire_engine.ops.arrays.indexing import GetItem, ScatterAdd, SetItem
from gradwire_engine.ops.builder import Builder
from gradwire_engine.ops.patterns import ARRAY, FULL, Span, index_of, indexed_shape
from gradwire_engine.optimize.index_steps import Steps, steps_of
from gradwire_engine.optimize.simplify import optimize
from gradwire_engine.tape import ArrayType
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from tests.engine.conftest import called

NUMBERS = st.integers(-3, 3)


@st.composite
def regular(draw, length):
    """Indices of an axis of a length that are made by arithmetic, or by nothing of the kind."""
    count = draw(st.integers(1, 2 * length))
    kind = draw(st.sampled_from(["steps", "roll", "clip", "repeat", "tile", "windows", "any"]))
    at = np.arange(count)
    if kind == "steps":
        found = draw(NUMBERS) + draw(NUMBERS) * at
    elif kind == "roll":
        found = draw(st.sampled_from([1, -1])) * np.arange(length) + draw(NUMBERS)
    elif kind == "clip":
        found = np.clip(at + draw(NUMBERS), 0, length - 1)
    elif kind == "repeat":
        found = at // draw(st.integers(1, 3))
    elif kind == "tile":
        found = at % draw(st.integers(1, 4)) + draw(NUMBERS)
    elif kind == "windows":
        rows, columns = np.arange(draw(st.integers(1, 6))), np.arange(draw(st.integers(1, 4)))
        found = draw(NUMBERS) * rows[:, None] + draw(NUMBERS) * columns + draw(NUMBERS)
    else:
        found = np.array(draw(st.lists(st.integers(0, length - 1), min_size=1, max_size=8)))
        order = np.array(draw(st.permutations(range(length))))
        found = draw(st.sampled_from([found, found[0], order]))
    found = np.asarray(found) % length
    return found - length if draw(st.booleans()) and kind != "any" else found


@st.composite
def selections(draw):
    """A shape, a pattern for it, and its constant arrays of indices."""
    shape = tuple(draw(st.lists(st.integers(1, 7), min_size=1, max_size=3)))
    gaps = draw(st.integers(1, min(2, len(shape))))
    first = draw(st.integers(0, len(shape) - gaps))
    basic = st.sampled_from([FULL, FULL, Span(1, None, None), Span(None, None, -1), 0, -1])
    pattern = [ARRAY if first <= axis < first + gaps else draw(basic) for axis in range(len(shape))]
    arrays = [draw(regular(shape[first + i])) for i in range(gaps)]
    if gaps == 2:
        if draw(st.booleans()):
            arrays = [arrays[0].ravel()[:, None], arrays[1].ravel()]
        else:
            count = min(array.size for array in arrays)
            arrays = [array.ravel()[:count] for array in arrays]
    if draw(st.booleans()):
        pattern.insert(draw(st.integers(0, len(pattern))), None)
    return shape, tuple(pattern), arrays


def both(record, values):
    """The tape recorded of values, and the same optimised."""
    b = Builder(Limits())
    inputs = [b.input(ArrayType(x.dtype, x.shape)) for x in values]
    tape = b.tape([record(b, *inputs)])
    better = optimize(tape, NUMPY_BACKEND)
    kinds = [of.instructions[of.outputs[0]].type[:2] for of in (tape, better)]
    assert kinds[0] == kinds[1]
    return [np.asarray(interpret(of, values)[of.outputs[0]]) for of in (tape, better)]


def whole(shape, dtype, seed):
    """Numbers that add up without rounding."""
    return np.random.default_rng(seed).integers(-99, 99, size=shape).astype(dtype)


DTYPES = st.sampled_from(["float64", "float32", "complex128"])


@given(selections(), DTYPES, st.integers(0, 99))
def test_elements_are_selected(selection, dtype, seed):
    shape, pattern, arrays = selection
    x = whole(shape, dtype, seed)
    expected = x[index_of(pattern, tuple(arrays))]
    plain, found = both(lambda b, v: GetItem(pattern)(v, *map(b.constant, arrays)), [x])
    assert_array_equal(plain, expected)
    assert_array_equal(found, expected)


@given(selections(), DTYPES, st.integers(0, 99))
def test_elements_are_added(selection, dtype, seed):
    shape, pattern, arrays = selection
    region = indexed_shape(shape, pattern, tuple([a.shape for a in arrays]))
    v, expected = whole(region, dtype, seed), np.zeros(shape, dtype)
    np.add.at(expected, index_of(pattern, tuple(arrays)), v)
    _, found = both(lambda b, v: ScatterAdd(pattern, shape)(v, *map(b.constant, arrays)), [v])
    assert_array_equal(found, expected)


@given(selections(), st.booleans(), st.integers(0, 99))
def test_elements_are_replaced(selection, alike, seed):
    shape, pattern, arrays = selection
    region = indexed_shape(shape, pattern, tuple([a.shape for a in arrays])) if alike else ()
    x, v = whole(shape, "float64", seed), whole(region, "float64", seed + 1)
    plain, found = both(lambda b, x, v: SetItem(pattern)(x, v, *map(b.constant, arrays)), [x, v])
    assert_array_equal(found, plain)


@pytest.mark.thorough
@given(st.integers(4500, 4600), st.integers(-3, 3), st.integers(1, 3), st.integers(0, 99))
def test_long_rows_are_rolled_and_clipped(n, shift, width, seed):
    at = np.arange(n)
    for index in ((at + shift) % n, np.clip(at + shift, 0, n - 1), (shift - at) % n):
        for shape, axis in (((n, width), 0), ((width, n), 1), ((n,), 0)):
            pattern = tuple([ARRAY if i == axis else FULL for i in range(len(shape))])
            x, expected = whole(shape, "float64", seed), np.zeros(shape)
            _, found = both(lambda b, v, p=pattern, i=index: GetItem(p)(v, b.constant(i)), [x])
            assert_array_equal(found, x.take(index, axis))
            np.add.at(expected, index_of(pattern, (index,)), x)
            _, found = both(
                lambda b, v, p=pattern, i=index, s=shape: ScatterAdd(p, s)(v, b.constant(i)), [x]
            )
            assert_array_equal(found, expected)


ROLLED = "x[(arange(6000) + 1) % 6000]"
#: What is selected from 6000 numbers, without indices, and the operations by which.
WRITINGS = {
    "x[5999 - arange(6000)]": "flip",
    "x[3 * arange(600) + 1]": "slice",
    "x[arange(18000) // 3]": "broadcast_to",
    "x[arange(18000) % 6000]": "broadcast_to",
    "reshape(x, (60, 100))[arange(60), arange(60)]": "slice",
}


def asked(text, values, **query):
    engine = Engine()
    call = called(engine, text, values, "gradient", sources=["x"], **query)
    answers = [call.replay(lambda: None) for _ in range(3)]
    return answers[-1], [i.op for i in call.entry.paths[0].executable.tape.instructions]


@pytest.mark.parametrize("text", WRITINGS)
def test_regular_indices_are_not_replayed(text):
    x = np.random.default_rng(0).normal(size=6000)
    answer, ops = asked(f"sum(exp({text})**2)", {"x": Leaf(x)})
    exact, _ = asked(f"sum(exp({text})**2)", {"x": Leaf(x)}, exact=True)
    assert_allclose(answer.gradients[0], exact.gradients[0], rtol=1e-13)
    assert not any(isinstance(op, GetItem | ScatterAdd) and ARRAY in op.pattern for op in ops)
    names = {op.name for op in ops}
    assert names & {WRITINGS[text], "getitem"}


@pytest.mark.parametrize(
    "index",
    ["arange(5990)[:, None] + arange(10)", "2 * arange(2900)[:, None] + arange(9, -1, -1)"],
)
def test_windows_are_selected_without_indices(index):
    x = np.random.default_rng(0).normal(size=6000)
    text = f"sum(exp(x[{index}])**2)"
    (answer, ops), (exact, _) = (asked(text, {"x": Leaf(x)}, exact=exact) for exact in (0, 1))
    assert_allclose(answer.gradients[0], exact.gradients[0], rtol=1e-13)
    assert not any(isinstance(op, GetItem) and ARRAY in op.pattern for op in ops)
    assert "windows" in {op.name for op in ops}


@pytest.mark.parametrize("text", WRITINGS)
def test_exact_answers_select_by_indices(text):
    _, ops = asked(f"sum({text}**2)", {"x": Leaf(np.ones(6000))}, exact=True)
    assert any(isinstance(op, GetItem) and ARRAY in op.pattern for op in ops)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "uint8"])
def test_short_integers_select_from_long_axes(dtype):
    index = np.array([3, 1, 120, 7, 1]) - (0 if dtype == "uint8" else 4)
    x, expected = np.arange(600.0).reshape(300, 2), np.zeros((300, 2))
    index = index.astype(dtype)
    _, found = both(lambda b, v: GetItem((ARRAY, FULL))(v, b.constant(index)), [x])
    assert_array_equal(found, x[index])
    np.add.at(expected, index, x[:5])
    _, found = both(lambda b, v: ScatterAdd((ARRAY, FULL), (300, 2))(v, b.constant(index)), [x[:5]])
    assert_array_equal(found, expected)


def test_the_derivative_of_a_permutation_is_its_inverse():
    order = np.random.default_rng(0).permutation(50)
    answer, _ = asked(f"sum(x[array({order.tolist()})] * arange(50))", {"x": Leaf(np.arange(50.0))})
    assert_array_equal(answer.gradients[0], np.argsort(order))


def test_not_a_number_stays_where_it_is():
    x = np.ones(6000)
    x[7] = np.nan
    answer, _ = asked(f"z = {ROLLED}\nsum(where(z != z, 0, z)) + sum(x[:3])", {"x": Leaf(x)})
    assert answer.value == 6002
    assert np.isnan(asked(f"sum({ROLLED} * x)", {"x": Leaf(x)})[0].gradients[0][[6, 8]]).all()


@pytest.mark.parametrize("index", ["arange(5)", "-arange(6)", "array([0, 4])", "4 - arange(9)"])
def test_indices_out_of_range_are_refused(index):
    with pytest.raises(BadArgument, match="out of range"):
        asked(f"sum(x[{index}])", {"x": Leaf(np.ones(4))})


@pytest.mark.parametrize("index", ["(arange(6) + 1) % 6", "arange(4)[:, None] + arange(3)"])
def test_derivatives_to_second_order(index):
    values = {"x": Leaf(np.linspace(0.3, 0.9, 6))}
    engine = Engine()
    program = engine.parse(f"sum(sin(x[{index}] * x[0])**2)")

    def answer(query):
        return engine.call(program, values, query).replay(lambda: None)

    checks = answer(Query("check", sources=["x"])).checks
    assert checks
    assert all(found.ok for found in checks.values())
    quick, exact = (
        answer(Query("hessian", sources=["x"], exact=exact)).derivatives["hessian"]
        for exact in (False, True)
    )
    assert_allclose(quick[0][0], exact[0][0], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("spread", [False, True])
def test_the_checker_finds_nothing(spread):
    index = np.arange(4)[:, None] + np.arange(2) if spread else np.array([3, 1, 0, 2])

    def recording(b, x):
        z = GetItem((ARRAY, FULL))(x, b.constant(index))
        return z * z

    assert check(recording, [np.linspace(0.2, 1, 15).reshape(5, 3)], order=2) == []


# What indices are


@given(st.integers(-4, 4), st.lists(st.tuples(NUMBERS, st.integers(1, 4)), min_size=1, max_size=3))
def test_steps_are_those_that_made_the_indices(start, axes):
    lengths = tuple([length for _, length in axes])
    grid = np.ix_(*map(np.arange, lengths))
    index = start + sum([step * at for (step, _), at in zip(axes, grid, strict=True)])
    steps = Steps.of(index)
    assert steps is not None
    assert steps.lengths == lengths
    for (step, length), found in zip(axes, steps.steps, strict=True):
        assert found == (step if length > 1 else 0)
    merged = steps.merged
    grid = np.ix_(*map(np.arange, merged.lengths))
    rows = merged.start + sum([s * at for s, at in zip(merged.steps, grid, strict=True)])
    assert_array_equal(np.ravel(rows), index.ravel())


def test_what_is_irregular():
    assert steps_of(np.array([0, 1, 3])) is None
    assert Steps.of(np.array([[0, 1], [2, 4]])) is None
