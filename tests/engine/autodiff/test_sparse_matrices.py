"""Sparse matrices are the dense ones, for a handful of products."""

import numpy as np
import pytest
from gradwire_engine.answer import Limits
from gradwire_engine.autodiff.copies import copies_read
from gradwire_engine.autodiff.known import Values
from gradwire_engine.autodiff.matrices import jacobian
from gradwire_engine.autodiff.reverse import gradient
from gradwire_engine.autodiff.sparse_matrices import sparse_hessian, sparse_jacobian
from gradwire_engine.check import interpret, trace
from gradwire_engine.errors import OverBudget
from gradwire_engine.ops.base import FUNCTIONS
from gradwire_engine.ops.boundaries import CustomVjp
from gradwire_engine.ops.builder import Builder
from gradwire_engine.ops.constants import Item
from gradwire_engine.tape import ArrayType
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from tests.effort import examples
from tests.engine.autodiff.interpreted import Interpreted

RNG = np.random.default_rng(2)
FLOAT = np.dtype(float)


class Functions:
    """Functions by name, as attributes, recording on one builder."""

    def __init__(self, b):
        self.b = b

    def __getattr__(self, name):
        return lambda *args: FUNCTIONS[name].record(self.b, *args)


#: From functions and two arrays of one shape, 4 rows of 3, to another.
STEPS = {
    "product": lambda f, x, y: f.multiply(x, y),
    "sum": lambda f, x, y: f.add(f.sin(x), y),
    "next": lambda f, x, y: f.multiply(x, f.roll(y, 1)),
    "next row": lambda f, x, y: f.subtract(x, f.roll(y, 1, 0)),
    "taken": lambda f, x, y: f.add(x, f.take(y, [3, 0, 0, 1], 0)),
    "turned": lambda f, x, y: f.multiply(x, f.reshape(f.transpose(y), (4, 3))),
    "halves": lambda f, x, y: f.concatenate([f.split(x, 2)[0], f.split(y, 2)[0]]),
    "branches": lambda f, x, y: f.where(f.greater(x, 0.0), x, f.multiply(y, y)),
    "rows": lambda f, x, y: f.add(x, f.sum(f.multiply(y, y), 1, None, True)),
    "softmax": lambda f, x, y: f.multiply(x, f.softmax(y, 0)),
    "matmul": lambda f, x, y: f.matmul(f.multiply(x, y), f.add(f.eye(3), 0.5)),
    "running": lambda f, x, y: f.add(f.cumsum(x, 1), y),
    "rest": lambda f, x, y: f.pad(f.multiply(f.split(x, [1])[1], 2.0), ((0, 1), (0, 0))),
    "stopped": lambda f, x, y: f.multiply(x, f.stop_gradient(y)),
}


#: What the steps begin with, each of the same shape: the array itself, or copies of its elements.
BEGINNINGS = {
    "itself": lambda f, x: [x],
    "rows": lambda f, x: [f.take(x, [3, 0, 0, 1], 0), f.take(x, [2, 2, 1, 0], 0)],
    "shifted": lambda f, x: [f.roll(x, 1), f.pad(f.split(x, [1])[1], ((0, 1), (0, 0)))],
    "of copies": lambda f, x: [f.roll(f.take(x, [1, 1, 3, 0], 0), 2), f.reshape(x, (4, 3))],
}


@st.composite
def recordings(draw):
    """A program of one array of 4 rows of 3, in some steps."""
    begun = BEGINNINGS[draw(st.sampled_from(sorted(BEGINNINGS)))]
    count = draw(st.integers(1, 6))
    steps = [
        (draw(st.sampled_from(sorted(STEPS))), draw(st.integers(0, i)), draw(st.integers(0, i)))
        for i in range(count)
    ]

    def recording(b, x):
        made = begun(Functions(b), x)
        for name, one, other in steps:
            made.append(STEPS[name](Functions(b), made[one], made[other]))
        return made[-1]

    return recording


def evaluated(b, value, nonzeros, dense):
    """The sparse matrix with its zeros, and the dense one, zero without a path."""
    if nonzeros is None or dense is None:
        assert nonzeros is dense is None
        return 0, 0
    results = interpret(b.tape([nonzeros.values, dense]), [value])
    pattern = nonzeros.pattern
    filled = np.zeros(pattern.shape, dense.dtype)
    filled[pattern.rows, pattern.columns] = results[nonzeros.values.slot]
    return filled, results[dense.slot].reshape(pattern.shape)


@examples(60)
@given(recordings(), st.sampled_from(["auto", "forward", "reverse"]))
def test_the_sparse_jacobian_is_the_dense_one(recording, mode):
    value = RNG.normal(size=(4, 3))
    b, (x,), (y,) = trace(recording, [value])
    (dense,) = jacobian(b, y, [x])
    nonzeros = sparse_jacobian(b, y, x, mode, Interpreted(b, [value]))
    found, expected = evaluated(b, value, nonzeros, dense)
    assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * (1 + np.max(np.abs(found))))


@examples(60)
@given(recordings())
def test_the_sparse_hessian_is_the_dense_one(recording):
    value = RNG.normal(size=(4, 3))
    b, (x,), (y,) = trace(recording, [value])
    (bar,) = gradient(b, [y], [x])
    dense = None if bar is None else jacobian(b, bar, [x])[0]
    found, expected = evaluated(b, value, sparse_hessian(b, y, x), dense)
    assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * (1 + np.max(np.abs(found))))


def coupled(b, x):
    """Products of neighbours: a band of two diagonals."""
    before, after = FUNCTIONS["split"].record(b, x, [1])[1], x
    after = FUNCTIONS["split"].record(b, after, [x.shape[0] - 1])[0]
    return FUNCTIONS["multiply"].record(b, before, after)


def largest(b, first):
    return max(i.type.size for i in b.instructions[first:])


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
def test_a_band_of_ten_thousand_takes_as_many_products_as_it_is_wide(mode):
    """By columns; by rows it takes one, as each row reads copies of its own of two elements."""
    value = RNG.normal(size=10_000)
    b, (x,), (y,) = trace(coupled, [value])
    found = sparse_jacobian(b, y, x, mode)
    assert found is not None
    pattern, values = found
    assert largest(b, x.slot) == 2 * (value.size if mode == "forward" else y.type.size)
    assert_array_equal(pattern.rows, np.repeat(np.arange(9_999), 2))
    assert_array_equal(pattern.columns, np.repeat(np.arange(10_000), 2)[1:-1])
    expected = np.stack([value[1:], value[:-1]], axis=1).ravel()
    assert_array_equal(interpret(b.tape([values]), [value])[values.slot], expected)


def test_a_banded_hessian_of_ten_thousand():
    value = RNG.normal(size=10_000)
    b, (x,), (y,) = trace(lambda b, x: FUNCTIONS["sin"].record(b, coupled(b, x)), [value])
    nonzeros = sparse_hessian(b, y, x)
    assert nonzeros is not None
    pattern, values = nonzeros
    assert largest(b, x.slot) <= 3 * value.size
    found = interpret(b.tape([values]), [value])[values.slot]
    product = value[1:] * value[:-1]
    beside = np.cos(product) - product * np.sin(product)
    assert_allclose(found[pattern.columns == pattern.rows + 1], beside)
    assert_allclose(found[pattern.columns == pattern.rows - 1], beside)
    squares = np.sin(product) * np.stack([value[1:], value[:-1]]) ** 2
    diagonal = -np.append(squares[0], 0) - np.append(0, squares[1])
    assert_allclose(found[pattern.columns == pattern.rows], diagonal)


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
@pytest.mark.parametrize("function", ["sin", "cumsum", "abs"])
def test_complex_numbers_have_rows(function, mode):
    value = RNG.normal(size=3) + 1j * RNG.normal(size=3)
    b, (x,), (y,) = trace(FUNCTIONS[function].record, [value])
    (dense,) = jacobian(b, y, [x])
    assert_allclose(*evaluated(b, value, sparse_jacobian(b, y, x, mode), dense))
    (bar,) = gradient(b, [y], [x])
    assert bar is not None
    (dense,) = jacobian(b, bar, [x])
    found, expected = evaluated(b, value, sparse_hessian(b, y, x), dense)
    assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_nonzeros_have_their_sources_dtype(mode):
    b = Builder(Limits())
    x = b.input(ArrayType(np.dtype("float32"), (5,)))
    found = sparse_jacobian(b, coupled(b, b.cast(x, FLOAT)), x, mode)
    assert found is not None
    assert found.values.dtype == "float32"


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_rule_of_the_programs_own_may_give_any_derivative(mode):
    def recording(b, x):
        f = Functions(b)
        return Item(0)(CustomVjp(1, lambda bars: [f.cumsum(bars[0])])(f.sin(x), x))

    value = RNG.normal(size=4)
    b, (x,), (y,) = trace(recording, [value])
    (dense,) = jacobian(b, y, [x])
    found, expected = evaluated(b, value, sparse_jacobian(b, y, x, mode), dense)
    assert_array_equal(found, expected)
    assert_array_equal(found, np.triu(np.ones((4, 4))))


def test_none_without_a_path():
    b = Builder(Limits())
    x, y, n = (b.input(ArrayType(np.dtype(t), (3,))) for t in (float, float, int))
    assert sparse_jacobian(b, y, x) is sparse_jacobian(b, n, x) is None
    assert sparse_hessian(b, y, x) is sparse_hessian(b, FUNCTIONS["sum"].record(b, x), x) is None


def arrow(b, x):
    f = Functions(b)
    first, rest = f.split(x, [1])
    return f.concatenate([f.sum(x, 0, None, True), f.multiply(first, rest)])


def test_what_takes_too_many_products_is_refused_with_their_number():
    b = Builder(Limits(array_bytes=10**6))
    x = b.input(ArrayType(FLOAT, (1000,)))
    with pytest.raises(OverBudget, match="1000 products: 8,000,000 bytes, more than"):
        sparse_jacobian(b, arrow(b, x), x)


def test_the_deadline_is_looked_at_while_coloring():
    looks: list[int] = []
    b = Builder(Limits(), poll=lambda: looks.append(0))
    x = b.input(ArrayType(FLOAT, (1000,)))
    sparse_jacobian(b, coupled(b, x), x, "forward")
    assert len(looks) > 1000
    sparse_hessian(b, coupled(b, x), x)
    assert len(looks) > 2000


def observed(b, x):
    """Products of three of the first numbers and one of the others, for 1000 pairs of these."""
    f, places = Functions(b), np.arange(1000)
    cameras, points = f.split(x, [30])
    camera = f.take(f.reshape(cameras, (10, 3)), (places % 10).tolist(), 0)
    return f.multiply(f.prod(camera, 1), f.sin(f.take(points, (places % 70).tolist())))


@pytest.mark.parametrize(("mode", "products"), [("auto", 1), ("reverse", 1), ("forward", 4)])
def test_rows_that_gather_what_they_read_take_one_product(mode, products):
    """An element that a hundred rows read has a copy for each of them."""
    value = RNG.normal(size=100)
    b, (x,), (y,) = trace(observed, [value])
    (dense,) = jacobian(b, y, [x])
    first = len(b.instructions)
    found = sparse_jacobian(b, y, x, mode, Interpreted(b, [value]))
    assert found is not None
    assert found.pattern.rows.size == 4 * y.type.size
    shapes = {b.vars[slot].shape for slot in range(first, len(b.instructions))}
    assert {shape[0] for shape in shapes if shape[1:] == y.shape} == {products}
    matrix, expected = evaluated(b, value, found, dense)
    assert_allclose(matrix, expected, rtol=1e-12)


def test_many_copies_for_the_same_row_are_not_told_apart():
    """Each row adds up a thousand functions of copies of one element: one nonzero."""

    def recording(b, x):
        f = Functions(b)
        many = f.broadcast_to(f.reshape(x, (1000, 1)), (1000, 1000))
        return f.sum(f.sin(many), 1)

    value = RNG.normal(size=1000)
    b, (x,), (y,) = trace(recording, [value])
    copies = copies_read(b, y, x, Values(b, y, None))
    assert [part.shape for part in copies.parts] == [(1000, 1)]
    found = sparse_jacobian(b, y, x)
    assert found is not None
    values = interpret(b.tape([found.values]), [value])[found.values.slot]
    assert_allclose(values, 1000 * np.cos(value))


def test_an_element_that_a_row_copies_twice_has_one_nonzero():
    value = np.array([2.0, 3.0])

    def recording(b, x):
        f = Functions(b)
        return f.multiply(f.take(x, [0, 0, 1]), f.take(x, [0, 1, 1]))

    b, (x,), (y,) = trace(recording, [value])
    found = sparse_jacobian(b, y, x, "reverse", Interpreted(b, [value]))
    assert found is not None
    assert_array_equal(found.pattern.rows, [0, 1, 1, 2])
    assert_array_equal(found.pattern.columns, [0, 0, 1, 1])
    values = interpret(b.tape([found.values]), [value])[found.values.slot]
    assert_array_equal(values, [4, 3, 2, 6])


def test_a_row_of_a_million_takes_no_colors_for_its_columns():
    b = Builder(Limits())
    x = b.input(ArrayType(FLOAT, (1_000_000,)))
    assert sparse_jacobian(b, FUNCTIONS["sum"].record(b, x), x) is not None
    assert largest(b, x.slot) == 1_000_000
