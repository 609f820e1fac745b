"""Products of matrices take less, and give what they gave."""

import gradwire_engine.ops  # noqa: F401  (fills the registry)
import numpy as np
import pytest
from gradwire_engine.answer import Limits
from gradwire_engine.backends.numpy.backend import NUMPY_BACKEND
from gradwire_engine.check import interpret
from gradwire_engine.ops.arrays.indexing import GetItem, ScatterAdd
from gradwire_engine.ops.base import FUNCTIONS
from gradwire_engine.ops.builder import Builder
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.patterns import FULL
from gradwire_engine.optimize.simplify import optimize
from gradwire_engine.tape import ArrayType
from hypothesis import given
from hypothesis import strategies as st

SIZE = st.sampled_from([0, 1, 2, 3, 9])


def of(name):
    return FUNCTIONS[name].record


def swapped(b, x):
    return of("swapaxes")(b, x, -1, -2)


def times(x, y):
    return MatMul()(x, y)


def same(tape, better, dtype, seed=0):
    """Whether two tapes give the same for whole numbers, which are not rounded."""
    rng = np.random.default_rng(seed)
    kinds = [tape.instructions[slot].type for slot in tape.inputs]
    inputs = [rng.integers(-9, 9, size=kind.shape).astype(dtype) for kind in kinds]
    if np.dtype(dtype).kind == "c":
        inputs = [x + 1j * rng.integers(-9, 9, size=x.shape) for x in inputs]
    before, after = interpret(tape, inputs), interpret(better, inputs)
    for old, new in zip(tape.outputs, better.outputs, strict=True):
        assert tape.instructions[old].type[:2] == better.instructions[new].type[:2]
        np.testing.assert_array_equal(after[new], before[old], strict=True)


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
            [("matmul", 100, 15), ("matmul", 5, 1, 3), ("subtract", 5, 100, 3)],
        ),
        (
            lambda b, x, m, w: times(swapped(b, x - m), w),
            [(100, 12), (5, 1, 12), (5, 100, 3)],
            [("matmul", 12, 15), ("sum", 5, 3), ("multiply", 5, 12, 3), ("subtract", 5, 12, 3)],
        ),
        (
            lambda b, x, y, w: times(x - y, w),
            [(30, 1, 4), (20, 4), (4, 3)],
            [("matmul", 30, 3), ("matmul", 20, 3), ("subtract", 30, 20, 3)],
        ),
        (lambda b, x, y: times(x, y), [(100, 4), (5, 4, 3)], [("matmul", 100, 15)]),
        (lambda b, x, y: times(x, y), [(50, 2, 4), (4, 3)], [("matmul", 100, 3)]),
        (
            lambda b, x, y, v: times(times(x, y), v),
            [(9, 9), (9, 9), (9,)],
            [("matmul", 9), ("matmul", 9)],
        ),
        (
            lambda b, v, x, y: times(v, times(x, y)),
            [(9,), (9, 9), (9, 9)],
            [("matmul", 9), ("matmul", 9)],
        ),
        (
            lambda b, u, v, w: times(u * v, w),
            [(9, 1), (1, 8), (8, 7)],
            [("matmul", 1, 7), ("multiply", 9, 7)],
        ),
        (
            lambda b, x, y, v: times(swapped(b, times(x, y)), v),
            [(9, 9), (9, 9), (9,)],
            [("matmul", 9), ("matmul", 9)],
        ),
        (  # of as many rows as the points themselves, a difference saves nothing
            lambda b, x, m, f: times(x - m, f),
            [(100, 4), (4,), (4, 3)],
            [("subtract", 100, 4), ("matmul", 100, 3)],
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
    assert [i.op.name for i in tape.instructions if i.args] == ["matmul", "matmul"]


def test_new_axes_of_all_elements_are_a_shape():
    b = Builder(Limits())
    x = b.input(ArrayType(np.dtype(float), (3, 4)))
    spread = GetItem((FULL, None, FULL))(x)
    tape = b.tape([ScatterAdd((FULL, None, FULL), (3, 4))(spread + spread)])
    better = optimize(tape, NUMPY_BACKEND)
    assert {i.op.name for i in better.instructions if i.args} == {"add", "reshape"}
    same(tape, better, float)
