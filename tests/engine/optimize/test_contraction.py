"""Sums of products are products of vectors and matrices, with the values that they had."""

from typing import Any

import gradwire_engine.ops  # noqa: F401  (fills the registry)
import numpy as np
import pytest
from gradwire_engine import Engine, Leaf
from gradwire_engine.answer import Limits
from gradwire_engine.backends.reference.backend import REFERENCE
from gradwire_engine.backends.walk.backend import NUMPY_BACKEND
from gradwire_engine.backends.walk.executable import WalkExecutable
from gradwire_engine.check import interpret
from gradwire_engine.ops.arrays.indexing import GetItem, ScatterAdd
from gradwire_engine.ops.base import FUNCTIONS
from gradwire_engine.ops.builder import Builder
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.patterns import FULL
from gradwire_engine.optimize.simplify import optimize
from gradwire_engine.tape import ArrayType
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from tests.engine.conftest import called

SIZE = st.sampled_from([0, 1, 2, 3, 9])
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


def same(tape, better, dtype, seed=0):
    """True if two tapes give the same for small whole numbers, which are not rounded."""
    rng = np.random.default_rng(seed)
    kinds = [tape.instructions[slot].type for slot in tape.inputs]
    inputs = [rng.integers(-3, 4, size=kind.shape).astype(dtype) for kind in kinds]
    if np.dtype(dtype).kind == "c":
        inputs = [x + 1j * rng.integers(-3, 4, size=x.shape) for x in inputs]
    before = interpret(tape, inputs)
    for backend in (NUMPY_BACKEND, REFERENCE):
        after = interpret(better, inputs, backend)
        for old, new in zip(tape.outputs, better.outputs, strict=True):
            assert tape.instructions[old].type[:2] == better.instructions[new].type[:2]
            assert_array_equal(after[new], before[old], strict=True)


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


@given(
    broadcasts(),
    st.tuples(BETWEEN, BETWEEN, BETWEEN),
    st.sampled_from(["float64", "float32", "complex128", "int32"]),
    st.integers(0, 2**32 - 1),
)
def test_sums_of_products_keep_their_values(drawn, between, dtype, seed):
    ((first, second), axes), b = drawn, Builder(Limits())
    others: list[Any] = []
    x, y = (b.input(ArrayType(np.dtype(dtype), shape)) for shape in (first, second))
    x, y = changed(b, x, between[0], others), changed(b, y, between[1], others)
    product = changed(b, x * y, between[2], others)
    tape = b.tape([of("sum")(b, product, axes), *others])
    same(tape, optimize(tape, NUMPY_BACKEND), dtype, seed)


def made(recording, *shapes):
    """Operations that are left of what is recorded, beside what is given and constants."""
    b = Builder(Limits())
    tape = b.tape([recording(b, *[b.input(ArrayType(np.dtype(float), s)) for s in shapes])])
    better = optimize(tape, NUMPY_BACKEND)
    rng = np.random.default_rng(0)
    inputs = [rng.normal(size=shape) for shape in shapes]
    before, after = interpret(tape, inputs), interpret(better, inputs)
    assert_allclose(after[better.outputs[0]], before[tape.outputs[0]], rtol=1e-12)
    executable = WalkExecutable(better)
    for _ in range(2):
        (found,) = executable.replay(inputs, lambda: None).outputs
        assert_allclose(found, before[tape.outputs[0]], rtol=1e-12)
    return [i.op.name for i in better.instructions if i.args]


def total(b, x, *axes):
    return of("sum")(b, x, axes or None)


@pytest.mark.parametrize(
    ("recording", "shapes", "left"),
    [
        (lambda b, x, y: total(b, x * y), [(5,), (5,)], ["contract"]),
        (lambda b, x: total(b, x * x), [(5, 4)], ["contract"]),
        (lambda b, x: total(b, 3.0 * x), [(5,)], ["sum", "multiply"]),
        (lambda b, x: total(b, -(0.5 * x) * x), [(5,)], ["contract", "multiply"]),
        (lambda b, x, y: total(b, x * y, 1), [(50, 7), (50, 7)], ["contract"]),
        (lambda b, x, y: total(b, x * y, 1), [(50, 7), (7,)], ["contract"]),
        (
            lambda b, x, y: total(b, x * y, 0),
            [(50, 7), (50, 1)],
            ["reshape", "contract"],
        ),
        (
            lambda b, x, y: total(b, x * y, 2),
            [(9, 1, 7), (1, 8, 7)],
            ["reshape", "reshape", "contract"],
        ),
        (
            lambda b, x, y: total(b, x * y, 0, 1),
            [(50, 1), (1, 7)],
            ["reshape", "sum"] * 2 + ["multiply"],
        ),
        (
            lambda b, x, y: total(b, of("matmul")(b, x, y), 0),
            [(50, 7), (7, 60)],
            ["sum", "contract"],
        ),
        (
            lambda b, x, y: total(b, of("matmul")(b, x, y)),
            [(50, 7), (7, 60)],
            ["sum", "sum", "contract"],
        ),
        (lambda b, x: total(b, of("transpose")(b, x, (2, 0, 1)), 0), [(2, 3, 4)], ["sum"]),
        (lambda b, x: total(b, of("reshape")(b, x, (2, 1, 3)), 2), [(2, 3)], ["sum", "reshape"]),
        (
            lambda b, x, y: total(b, x * x + y * y),
            [(5,), (5,)],
            ["contract", "contract", "add"],
        ),
        (lambda b, x, y: total(b, x * y, 0), [(100, 50), (100, 50)], ["contract"]),
        (lambda b, x, y: total(b, x * y, 0), [(10, 5), (10, 5)], ["contract"]),
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
    call = called(engine, text, values, "evaluate")
    for _ in range(2):
        found = call.replay(lambda: None).value
    expected = np.einsum(subscripts, values["x"], values["y"], values[matrix])
    assert_allclose(found, expected, rtol=1e-11, atol=1e-11 * np.abs(expected).max())
    made = call.entry.paths[0].executable.tape.instructions
    largest = max(i.type.nbytes for i in made if i.args and not i.op.views)
    assert largest < values[matrix].nbytes


DIAGONALS = {
    "of a product": ("trace(a @ b)", lambda a, b: np.trace(a @ b)),
    "of a row": ("sum(diagonal(a * b[0]))", lambda a, b: np.diag(a * b[0]).sum()),
}


@pytest.mark.parametrize(("text", "by_hand"), DIAGONALS.values(), ids=DIAGONALS)
def test_a_diagonal_is_computed_alone(text, by_hand):
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=(2, 30, 30))
    engine = Engine()
    given = {"a": Leaf(a), "b": Leaf(b)}
    call = called(engine, text, given, "evaluate")
    assert_allclose(call.replay(lambda: None).value, by_hand(a, b), rtol=1e-11)
    made = call.entry.paths[0].executable.tape.instructions
    assert not [i for i in made if i.type.nbytes >= a.nbytes and i.args and not i.op.views]
    seeds = called(engine, text, given, "gradient").replay(lambda: None)
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
    call = called(engine, "sum((x @ y)**2)", given, "gradient")
    answer = call.replay(lambda: None)
    z = x @ y
    assert_allclose(answer.value, (z**2).sum())
    assert_allclose(answer.gradients["x"], 2 * z * y.swapaxes(1, 2))
    assert_allclose(answer.gradients["y"], (2 * z * x.swapaxes(2, 3)).sum(axis=0))
    made = call.entry.paths[0].executable.tape.instructions
    assert "abc,bc->ab" in [i.op.subscripts for i in made if isinstance(i.op, Contract)]


def swapped(b, x):
    return of("swapaxes")(b, x, -1, -2)


def times(x, y):
    return MatMul()(x, y)


@given(
    st.tuples(SIZE, SIZE, SIZE, SIZE),
    st.lists(st.booleans(), min_size=8, max_size=8),
    st.sampled_from(["float64", "float32", "complex128", "int32"]),
    st.integers(0, 2**32 - 1),
)
def test_products_with_sums_of_repeated_arrays_keep_their_values(sizes, choices, dtype, seed):
    batch, rows, inner, columns = sizes
    kind = np.dtype(dtype)
    first, second, flat, turned, right, adds, shared, vector = choices
    b = Builder(Limits())
    full = (batch, rows, inner)
    x = b.input(ArrayType(kind, full[1:] if first else (batch, 1, inner)))
    y = b.input(
        ArrayType(kind, (batch, rows, 1) if second else (inner,) if flat else (1, 1, inner))
    )
    terms = x + y if adds else x - y
    length = terms.shape[-1]
    if turned:  # as derivatives have them
        other = b.input(ArrayType(kind, (terms.shape[0], terms.shape[-2], columns)))
        left, right_one = swapped(b, terms), other
    else:
        shape = (length,) if vector else (length, columns) if shared else (batch, length, columns)
        left, right_one = terms, b.input(ArrayType(kind, shape))
    if right and right_one.ndim > 1:
        left, right_one = swapped(b, right_one), swapped(b, left)
    tape = b.tape([of("matmul")(b, left, right_one)])
    same(tape, optimize(tape, NUMPY_BACKEND), dtype, seed)


@given(
    st.lists(SIZE, min_size=5, max_size=5),
    st.lists(st.booleans(), min_size=8, max_size=8),
    st.sampled_from(["float64", "float32", "complex128", "int32"]),
    st.integers(0, 2**32 - 1),
)
def test_chains_keep_their_values(sizes, choices, dtype, seed):
    starts, ends, leftward, turned, outer, shared, *_ = choices
    b, kind = Builder(Limits()), np.dtype(dtype)
    sizes = [1 if outer and i == 1 else n for i, n in enumerate(sizes)]
    shapes = [[sizes[i], sizes[i + 1]] for i in range(4)]
    if starts:
        shapes[0] = shapes[0][1:]
    if ends:
        shapes[-1] = shapes[-1][:1]
    arrays = [b.input(ArrayType(kind, tuple(shape))) for shape in shapes]
    if turned and not starts and not ends:
        arrays = [swapped(b, x) for x in reversed(arrays)]
    parts = []
    while len(arrays) > 1:
        at = 0 if leftward else len(arrays) - 2
        x, y = arrays[at : at + 2]
        product = x * y if outer and x.ndim == 2 == y.ndim and x.shape[1] == 1 else None
        product = of("matmul")(b, x, y) if product is None else product
        parts.append(product)
        arrays[at : at + 2] = [product]
    tape = b.tape([parts[-1], *(parts[:1] if shared else [])])
    same(tape, optimize(tape, NUMPY_BACKEND), dtype, seed)


def left(recording, *shapes):
    """Operations that are left of what is recorded, and the sizes of what they make."""
    b = Builder(Limits())
    tape = b.tape([recording(b, *[b.input(ArrayType(np.dtype(float), s)) for s in shapes])])
    better = optimize(tape, NUMPY_BACKEND)
    same(tape, better, float)
    made = [i for i in better.instructions if i.args]
    views = ("reshape", "transpose", "getitem")
    return [(i.op.name, *i.type.shape) for i in made if i.op.name not in views]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("recording", "shapes", "expected"),
    [
        (  # what differs from each of several centres, scaled by a matrix of each
            lambda b, x, m, f: times(x - m, f),
            [(100, 4), (5, 1, 4), (5, 4, 3)],
            [("contract", 5, 100, 3), ("contract", 5, 3), ("subtract", 5, 100, 3)],
        ),
        (
            lambda b, x, m, w: times(swapped(b, x - m), w),
            [(100, 12), (5, 1, 12), (5, 100, 3)],
            [("contract", 5, 12, 3), ("sum", 5, 3), ("multiply", 5, 12, 3), ("subtract", 5, 12, 3)],
        ),
        (
            lambda b, x, y, w: times(x - y, w),
            [(30, 1, 4), (20, 4), (4, 3)],
            [("contract", 30, 3), ("contract", 20, 3), ("subtract", 30, 20, 3)],
        ),
        (lambda b, x, y: times(x, y), [(100, 4), (5, 4, 3)], [("contract", 5, 100, 3)]),
        (lambda b, x, y: times(x, y), [(50, 2, 4), (4, 3)], [("contract", 50, 2, 3)]),
        (
            lambda b, x, y, v: times(times(x, y), v),
            [(9, 9), (9, 9), (9,)],
            [("contract", 9), ("contract", 9)],
        ),
        (
            lambda b, v, x, y: times(v, times(x, y)),
            [(9,), (9, 9), (9, 9)],
            [("contract", 9), ("contract", 9)],
        ),
        (
            lambda b, u, v, w: times(u * v, w),
            [(9, 1), (1, 8), (8, 7)],
            [("contract", 7), ("multiply", 9, 7)],
        ),
        (
            lambda b, x, y, v: times(swapped(b, times(x, y)), v),
            [(9, 9), (9, 9), (9,)],
            [("contract", 9), ("contract", 9)],
        ),
        (  # of as many rows as the points themselves, a difference saves nothing
            lambda b, x, m, f: times(x - m, f),
            [(100, 4), (4,), (4, 3)],
            [("subtract", 100, 4), ("contract", 100, 3)],
        ),
    ],
)
def test_what_is_multiplied(recording, shapes, expected):
    assert left(recording, *shapes) == expected


def test_orders_of_axes_cancel_around_elementwise_operations():
    def recording(b, x, y):
        turned = of("transpose")(b, x, (1, 0, 2)) * of("sin")(b, y)
        return of("exp")(b, of("transpose")(b, turned, (1, 0, 2)))

    b = Builder(Limits())
    x, y = (b.input(ArrayType(np.dtype(float), s)) for s in [(3, 4, 5), (4, 1, 5)])
    tape = optimize(b.tape([recording(b, x, y)]), NUMPY_BACKEND)
    assert "transpose" not in {i.op.name for i in tape.instructions}
    turned = [i.type for i in tape.instructions if i.op.name == "reshape"]
    assert [kind.shape for kind in turned if isinstance(kind, ArrayType)] == [(1, 4, 5)]


def test_products_of_elements_are_no_products_of_matrices():
    b = Builder(Limits())
    x, y, v = (b.input(ArrayType(np.dtype("float64"), shape)) for shape in [(9, 9), (9, 9), (9,)])
    product = x * y
    tape = b.tape([times(product, v), times(v, swapped(b, product))])
    same(tape, optimize(tape, NUMPY_BACKEND), "float64")


def test_a_product_that_is_there_is_used():
    b = Builder(Limits())
    x, y, v = (b.input(ArrayType(np.dtype(float), s)) for s in [(9, 9), (9, 9), (9,)])
    product = times(x, y)
    tape = optimize(b.tape([times(product, v), product]), NUMPY_BACKEND)
    assert [i.op.name for i in tape.instructions if i.args] == ["contract", "contract"]


def test_new_axes_of_all_elements_are_a_shape():
    b = Builder(Limits())
    x = b.input(ArrayType(np.dtype(float), (3, 4)))
    spread = GetItem((FULL, None, FULL))(x)
    tape = b.tape([ScatterAdd((FULL, None, FULL), (3, 4))(spread + spread)])
    better = optimize(tape, NUMPY_BACKEND)
    assert {i.op.name for i in better.instructions if i.args} == {"add", "reshape"}
    same(tape, better, float)


def test_no_array_is_larger_than_what_is_multiplied():
    """The order of least arithmetic would make an array of 300 by 300."""
    rng = np.random.default_rng(6)
    values = {"x": rng.normal(size=(300, 2)), "y": rng.normal(size=(2, 300))}
    values["z"] = rng.normal(size=(300, 2))
    engine = Engine()
    call = called(engine, "sum((x @ y) * (x @ z.T))", values, "evaluate")
    x, y, z = values.values()
    expected = ((x @ y) * (x @ z.T)).sum()
    assert_allclose(call.replay(lambda: None).value, expected, rtol=1e-10)
    made = call.entry.paths[0].executable.tape.instructions
    assert max(i.type.size for i in made if i.args) <= 600  # type: ignore[union-attr]


def test_the_square_of_a_difference_stays_one():
    """Expanded it would lose what is 10 digits smaller than the numbers themselves."""
    rng = np.random.default_rng(7)
    x, z = 1e5 + 1e-5 * rng.normal(size=(2, 40, 3))
    text = "d = x[:, None] - z\n-sum(d * (z - x[:, None]))"
    engine = Engine()
    leaves = {"x": Leaf(x), "z": Leaf(z)}
    call = called(engine, text, leaves, "evaluate")
    d = x[:, None] - z
    assert_allclose(call.replay(lambda: None).value, (d * d).sum(), rtol=1e-10)
