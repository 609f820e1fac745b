"""Sums of products are products of vectors and matrices, with the values that they had."""

from typing import Any

import gradwire_engine.ops  # noqa: F401  (fills the registry)
import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Query
from gradwire_engine.answer import Limits
from gradwire_engine.backends.numpy.backend import NUMPY_BACKEND
from gradwire_engine.backends.numpy.emit import INLINED
from gradwire_engine.backends.numpy.executable import NumpyExecutable
from gradwire_engine.backends.reference.namespace import NUMPY
from gradwire_engine.check import check, interpret
from gradwire_engine.ops.base import FUNCTIONS
from gradwire_engine.ops.builder import Builder
from gradwire_engine.ops.linalg import inner_products
from gradwire_engine.ops.linalg.inner_products import InnerProducts
from gradwire_engine.optimize import sums
from gradwire_engine.optimize.simplify import optimize
from gradwire_engine.tape import ArrayType
from hypothesis import given
from hypothesis import strategies as st

LENGTHS = st.sampled_from([0, 1, 1, 2, 3, 4])
#: What stands between an array and the product or the sum.
BETWEEN = st.sampled_from(["", "negative", "scaled", "transposed", "reshaped", "squared", "shared"])


def of(name):
    return FUNCTIONS[name].record


@st.composite
def broadcasts(draw):
    """Two shapes that broadcast, and axes of the result."""
    whole = draw(st.lists(LENGTHS, min_size=1, max_size=4))
    shapes = []
    for _ in range(2):
        own = [1 if draw(st.booleans()) and draw(st.booleans()) else n for n in whole]
        shapes.append(tuple(own[draw(st.sampled_from([0, 0, len(own) // 2])) :]))
    ndim = len(np.broadcast_shapes(*shapes))
    axes = draw(st.sets(st.integers(0, ndim - 1), min_size=1)) if ndim else set()
    return shapes, tuple(sorted(axes))


def changed(b, x, how, others):
    if how == "negative":
        return -x
    if how == "scaled":
        return b.constant(np.asarray(3, x.dtype)) * x
    if how == "transposed":
        return of("transpose")(b, -of("transpose")(b, x))
    if how == "reshaped":
        return of("reshape")(b, of("reshape")(b, x, (1, *x.shape)), x.shape)
    if how == "squared":
        return x * x
    if how == "shared":
        others.append(x)
    return x


@pytest.mark.parametrize("fewest", [1, 10**9])
@given(
    broadcasts(),
    st.tuples(BETWEEN, BETWEEN, BETWEEN),
    st.sampled_from(["float64", "float32", "complex128", "int32"]),
    st.integers(0, 2**32 - 1),
)
def test_values_stay_what_they_are(fewest, drawn, between, dtype, seed):
    ((first, second), axes), b = drawn, Builder(Limits())
    others: list[Any] = []
    x, y = (b.input(ArrayType(np.dtype(dtype), shape)) for shape in (first, second))
    x, y = changed(b, x, between[0], others), changed(b, y, between[1], others)
    product = changed(b, x * y, between[2], others)
    tape = b.tape([of("sum")(b, product, axes), *others])
    rng = np.random.default_rng(seed)
    inputs = [rng.integers(-3, 4, size=shape).astype(dtype) for shape in (first, second)]
    if dtype == "complex128":
        inputs = [x + 1j * rng.integers(-3, 4, size=x.shape) for x in inputs]
    with pytest.MonkeyPatch.context() as patch:  # arrays count as large, or as small
        patch.setattr(sums, "_FEWEST_SUMMED", fewest)
        patch.setattr(sums, "_FEWEST_TURNED", fewest)
        patch.setattr(inner_products, "_MANY", fewest)
        better = optimize(tape, NUMPY_BACKEND)
        before, after = interpret(tape, inputs), interpret(better, inputs)
    for old, new in zip(tape.outputs, better.outputs, strict=True):
        assert tape.instructions[old].type[:2] == better.instructions[new].type[:2]
        # Integers, and sums of few of their products, have no rounding at all.
        np.testing.assert_array_equal(after[new], before[old], strict=True)


def made(recording, *shapes):
    """Operations that are left of what is recorded, beside what is given and constants."""
    b = Builder(Limits())
    tape = b.tape([recording(b, *[b.input(ArrayType(np.dtype(float), s)) for s in shapes])])
    better = optimize(tape, NUMPY_BACKEND)
    rng = np.random.default_rng(0)
    inputs = [rng.normal(size=shape) for shape in shapes]
    before, after = interpret(tape, inputs), interpret(better, inputs)
    np.testing.assert_allclose(after[better.outputs[0]], before[tape.outputs[0]], rtol=1e-12)
    executable = NumpyExecutable(better)
    for _ in range(2):
        (found,) = executable.replay(inputs, lambda: None).outputs
        np.testing.assert_allclose(found, before[tape.outputs[0]], rtol=1e-12)
    return [i.op.name for i in better.instructions if i.args]


def total(b, x, *axes):
    return of("sum")(b, x, axes or None)


@pytest.mark.parametrize(
    ("recording", "shapes", "left"),
    [
        (lambda b, x, y: total(b, x * y), [(5,), (5,)], ["inner_products"]),
        (lambda b, x: total(b, x * x), [(5, 4)], ["inner_products"]),
        (lambda b, x: total(b, 3.0 * x), [(5,)], ["sum", "multiply"]),
        (lambda b, x: total(b, -(0.5 * x) * x), [(5,)], ["inner_products", "multiply"]),
        (lambda b, x, y: total(b, x * y, 1), [(50, 7), (50, 7)], ["inner_products"]),
        (lambda b, x, y: total(b, x * y, 1), [(50, 7), (7,)], ["matmul"]),
        (
            lambda b, x, y: total(b, x * y, 0),
            [(50, 7), (50, 1)],
            ["reshape", "matmul"],
        ),
        (
            lambda b, x, y: total(b, x * y, 2),
            [(9, 1, 7), (1, 8, 7)],
            ["reshape", "reshape", "transpose", "matmul"],
        ),
        (lambda b, x, y: total(b, x * y, 0, 1), [(50, 1), (1, 7)], ["sum"] * 2 + ["multiply"]),
        (
            lambda b, x, y: total(b, of("matmul")(b, x, y), 0),
            [(50, 7), (7, 60)],
            ["sum", "matmul"],
        ),
        (
            lambda b, x, y: total(b, of("matmul")(b, x, y)),
            [(50, 7), (7, 60)],
            ["sum", "sum", "matmul"],
        ),
        (lambda b, x: total(b, of("transpose")(b, x, (2, 0, 1)), 0), [(2, 3, 4)], ["sum"]),
        (lambda b, x: total(b, of("reshape")(b, x, (2, 1, 3)), 2), [(2, 3)], ["sum", "reshape"]),
        (
            lambda b, x, y: total(b, x * x + y * y),
            [(5,), (5,)],
            ["inner_products", "inner_products", "add"],
        ),
        (lambda b, x, y: total(b, x * y, 0), [(100, 50), (100, 50)], ["inner_products"]),
        (lambda b, x, y: total(b, x * y, 0), [(10, 5), (10, 5)], ["multiply", "sum"]),
    ],
)
def test_how_sums_are_made(recording, shapes, left):
    assert made(recording, *shapes) == left


def test_a_product_that_is_there_is_summed():
    b = Builder(Limits())
    x, y = (b.input(ArrayType(np.dtype(float), (60, 70))) for _ in range(2))
    product = x * y
    tape = optimize(b.tape([total(b, product, 0), product]), NUMPY_BACKEND)
    assert [i.op.name for i in tape.instructions if i.args] == ["multiply", "sum"]


@pytest.mark.parametrize(("dtype", "left"), [("float64", 1), ("float32", 2)])
def test_in_single_precision_many_are_added_in_pairs(dtype, left):
    b = Builder(Limits())
    x, y = (b.input(ArrayType(np.dtype(dtype), (1 << 21,))) for _ in range(2))
    tape = optimize(b.tape([total(b, x * y)]), NUMPY_BACKEND)
    assert sum(bool(i.args) for i in tape.instructions) == left


def test_nothing_is_made_otherwise_where_bits_must_be_the_same():
    b = Builder(Limits())
    x = b.input(ArrayType(np.dtype(float), (5,)))
    tape = optimize(b.tape([total(b, x * x)]), NUMPY_BACKEND, exact=True)
    assert [i.op.name for i in tape.instructions if i.args] == ["multiply", "sum"]


@pytest.mark.parametrize(
    ("axes", "shapes"),
    [
        ((0,), [(4,), (4,)]),
        ((0, 1), [(2, 3), (2, 3)]),
        ((1,), [(2, 3), (2, 3)]),
        ((0,), [(2, 3), (2, 1)]),
        ((1,), [(2, 3, 2), (3, 1)]),
    ],
)
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_derivatives_of_inner_products(axes, shapes, dtype):
    rng = np.random.default_rng(0)
    values = [rng.normal(size=shape) for shape in shapes]
    if dtype == "complex128":
        values = [x + 1j * rng.normal(size=x.shape) for x in values]
    assert check(lambda b, x, y: InnerProducts(axes)(x, y), values) == []


@pytest.mark.parametrize("shape", [(3, 40), (3000, 3), (3, 3)])
@pytest.mark.parametrize("axes", [(0,), (1,), (0, 1)])
def test_inner_products_are_sums_of_products(shape, axes):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, *shape))
    op, kind = InnerProducts(axes), ArrayType(np.dtype(float), shape)
    expected = (x * y).sum(axes)
    np.testing.assert_allclose(op.kernel(NUMPY, x, y), expected, rtol=1e-11)
    bound: dict[str, Any] = {}

    def bind(value: Any, name: str) -> str:
        bound[name] = value
        return name

    code = INLINED[type(op)](op, bind, kind, kind)
    if code:
        found = eval(code.format("x", "y"), bound | {"x": x, "y": y})
        np.testing.assert_allclose(found, expected, rtol=1e-11)


THREE = {
    "outer": ("sum(outer(x, y) * a)", "i,j,ij->"),
    "columns": ("sum(x[:, None] * a * y[None, :])", "i,j,ij->"),
    "rows": ("sum(a * y * x[:, None], axis=1)", "i,j,ij->i"),
    "batch": ("sum(c * (x[None, :, None] * y), axis=(1, 2))", "i,j,kij->k"),
    "kept axis": ("sum(c * (x[:, None] * y), axis=2)", "i,j,kij->ki"),
}


@pytest.mark.parametrize(("text", "subscripts"), THREE.values(), ids=THREE)
def test_a_sum_of_three_factors_makes_no_product_of_all(text, subscripts):
    rng = np.random.default_rng(3)
    values = {"x": rng.normal(size=40), "y": rng.normal(size=50)}
    values |= {"a": rng.normal(size=(40, 50)), "c": rng.normal(size=(6, 40, 50))}
    matrix = "c" if "kij" in subscripts else "a"
    engine = Engine()
    leaves = {name: Leaf(value) for name, value in values.items()}
    call = engine.call(engine.parse(text), leaves, Query("evaluate"))
    for _ in range(2):
        found = call.replay(lambda: None).value
    expected = np.einsum(subscripts, values["x"], values["y"], values[matrix])
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11 * np.abs(expected).max())
    made = call.entry.paths[0].executable.tape.instructions
    largest = max(i.type.nbytes for i in made if i.args and not i.op.views)
    assert largest < values[matrix].nbytes


DIAGONALS = {
    "of a product": ("trace(a @ b)", lambda a, b: np.trace(a @ b)),
    "of a sum": ("sum(diagonal(exp(a) + b)**2)", lambda a, b: (np.diag(np.exp(a) + b) ** 2).sum()),
    "of a row": ("sum(diagonal(a * b[0]))", lambda a, b: np.diag(a * b[0]).sum()),
    "of a column": ("trace(b[:, :1] - a)", lambda a, b: np.trace(b[:, :1] - a)),
}


@pytest.mark.parametrize(("text", "by_hand"), DIAGONALS.values(), ids=DIAGONALS)
def test_a_diagonal_is_computed_alone(text, by_hand):
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=(2, 30, 30))
    engine = Engine()
    given = {"a": Leaf(a), "b": Leaf(b)}
    call = engine.call(engine.parse(text), given, Query("evaluate"))
    np.testing.assert_allclose(call.replay(lambda: None).value, by_hand(a, b), rtol=1e-11)
    made = call.entry.paths[0].executable.tape.instructions
    squares = {i.op.name for i in made if i.type.nbytes >= a.nbytes and i.args and not i.op.views}
    assert squares <= {"multiply"}  # of a matrix with another transposed: no product of matrices
    assert "matmul" not in {i.op.name for i in made}
    seeds = engine.call(engine.parse(text), given, Query("gradient")).replay(lambda: None)
    step = 1e-6
    for name in given:
        moved = {"a": a.copy(), "b": b.copy()}
        moved[name][3, 0] += step
        slope = (by_hand(**moved) - by_hand(a, b)) / step
        assert seeds.gradients[name][3, 0] == pytest.approx(slope, rel=1e-4, abs=1e-4)


def test_rows_by_columns_are_sums():
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(30, 20, 1, 3)), rng.normal(size=(20, 3, 1))
    engine = Engine()
    given = {"x": Leaf(x), "y": Leaf(y)}
    call = engine.call(engine.parse("sum((x @ y)**2)"), given, Query("gradient"))
    answer = call.replay(lambda: None)
    z = x @ y
    np.testing.assert_allclose(answer.value, (z**2).sum())
    np.testing.assert_allclose(answer.gradients["x"], 2 * z * y.swapaxes(1, 2))
    np.testing.assert_allclose(answer.gradients["y"], (2 * z * x.swapaxes(2, 3)).sum(axis=0))
    assert "matmul" not in {i.op.name for i in call.entry.paths[0].executable.tape.instructions}
