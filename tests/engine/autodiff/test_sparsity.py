"""Patterns hold all that dense Jacobians have, and no more where elements only move."""

import numpy as np
import pytest
from gradwire_engine.answer import Limits
from gradwire_engine.autodiff.matrices import jacobian
from gradwire_engine.autodiff.reverse import gradient
from gradwire_engine.autodiff.sparsity import sparsity
from gradwire_engine.check import interpret, trace
from gradwire_engine.errors import OverBudget
from gradwire_engine.ops.arrays.indexing import GetItem, ScatterAdd, SetItem
from gradwire_engine.ops.base import FUNCTIONS
from gradwire_engine.ops.builder import Builder
from gradwire_engine.ops.patterns import ARRAY, FULL
from gradwire_engine.tape import ArrayType
from numpy.testing import assert_array_equal

from tests.engine.autodiff.interpreted import Interpreted
from tests.engine.ops.sampled import FAMILIES, some_of_each

RNG = np.random.default_rng(5)


def marked(pattern):
    found = np.zeros(pattern.shape, bool)
    found[pattern.rows, pattern.columns] = True
    assert found.sum() == len(pattern.rows)
    return found


def pattern_and_matrix(recording, value):
    """The pattern of what ``recording`` gives in its one argument, and the dense nonzeros."""
    b, (x,), (y,) = trace(recording, [value])
    pattern = sparsity(b, y, x, Interpreted(b, [value]))
    (dense,) = jacobian(b, y, [x])
    assert dense is not None
    values = interpret(b.tape([dense]), [value])[dense.slot]
    return marked(pattern), values.reshape(pattern.shape) != 0


@pytest.mark.thorough
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("order", [1, 2])
def test_no_nonzero_of_any_operation_is_missed(family, order):
    calls = FAMILIES[family] if order == 1 else some_of_each(FAMILIES[family])
    for call in calls:
        b, inputs, outputs = trace(lambda b, *xs, call=call: call.record(b, *xs), call.values)
        sources = [x for x in inputs if x.type.differentiable and x.type.size]
        targets = [y for y in outputs if y.type.differentiable]
        if order == 2:
            bars = gradient(b, targets, sources)
            targets = [bar for bar in bars if bar is not None and bar.type.size < 10]
        for target in targets:
            known = Interpreted(b, call.values)
            patterns = [sparsity(b, target, source, known) for source in sources]
            dense = jacobian(b, target, sources)
            results = interpret(b.tape([j for j in dense if j is not None]), call.values)
            for pattern, matrix in zip(patterns, dense, strict=True):
                if matrix is not None:
                    values = np.asarray(results[matrix.slot]).reshape(pattern.shape)
                    assert not (values[~marked(pattern)] != 0).any(), str(call)


def band(rows, columns):
    return (np.eye(rows, columns) - 2 * np.eye(rows, columns, k=1)).tolist()


def halves(f, x):
    return f("reshape", x, (3, 2, 2))


MOVES = {
    "reshape": lambda f, x: f("reshape", x, (4, 3)),
    "transpose": lambda f, x: f("transpose", x),
    "broadcast_to": lambda f, x: f("broadcast_to", x, (2, 3, 4)),
    "flip": lambda f, x: f("flip", x, 1),
    "roll": lambda f, x: f("roll", x, 2),
    "pad": lambda f, x: f("pad", x, 2),
    "tril": lambda f, x: f("tril", x),
    "diagonal": lambda f, x: f("diagonal", x, 1),
    "diagflat": lambda f, x: f("diagflat", x),
    "concatenate": lambda f, x: f("concatenate", [x, f("sin", x), f("zeros", (3, 4))], 1),
    "stack": lambda f, x: f("stack", [x, f("flip", x)]),
    "unfold": lambda f, x: f("sliding_window_view", x, (2, 2)),
    "take": lambda f, x: f("take", x, [2, 0, 0, 2], 0),
    "take an arange": lambda f, x: f("take", x, f("arange", 2), 1),
    "take along": lambda f, x: f("take_along_axis", x, f("array", [[3], [0], [0]]), 1),
    "sum": lambda f, x: f("sum", x, 1),
    "sum of squares": lambda f, x: f("sum", f("multiply", x, x), 0, None, True),
    "cumulative": lambda f, x: f("sum", f("cumsum", x, 1), 1),
    "softmax": lambda f, x: f("softmax", x, 1),
    "matmul": lambda f, x: f("matmul", x, f("ones", (4, 2))),
    "matmul from the left": lambda f, x: f("matmul", f("ones", (2, 3)), x),
    "row times matrix": lambda f, x: f("matmul", f("ones", 3), x),
    "matrix times column": lambda f, x: f("matmul", x, f("ones", 4)),
    "inverses": lambda f, x: f("inv", f("add", f("reshape", x, (3, 2, 2)), f("eye", 2))),
    "constant matrix": lambda f, x: f("matmul", band(5, 12), f("ravel", x)),
    "constant matrix on the right": lambda f, x: f("matmul", x, band(4, 6)),
    "constant matrix and a stack": lambda f, x: f("matmul", band(2, 3), f("stack", [x, x])),
    "constant vector": lambda f, x: f("matmul", [0.0, 1.0, 2.0], x),
    "masked": lambda f, x: f("multiply", x, [0.0, 1.0, 0.0, 2.0]),
    "chosen": lambda f, x: f("where", [True, False, True, False], x, f("flip", x)),
    "sparse matrix": lambda f, x: f(
        "sparse.coo_matmul", [1.0, 2.0, 3.0], [0, 4, 4], [2, 0, 1], (5, 3), x
    ),
    "values of a sparse matrix": lambda f, x: f(
        "sparse.coo_matmul", f("ravel", x), [*range(5), *range(7)], [*range(12)], (8, 12), [1] * 12
    ),
    "columns solved for": lambda f, x: f("solve", [[3.0, 1, 1], [1, 4, 1], [1, 1, 5]], x),
    "columns solved for by stacks": lambda f, x: f("solve", [[[3.0, 1], [1, 4]]] * 3, halves(f, x)),
    "columns solved for, of a sparse matrix": lambda f, x: f(
        "sparse.coo_solve", [4.0, 4, 4, 1, 1, 1], [0, 1, 2, 0, 1, 2], [0, 1, 2, 1, 2, 0], x
    ),
    "sampled product": lambda f, x: f("sparse.sddmm", [0, 2, 2], [1, 1, 0], x, [[1.0] * 4] * 2),
    "filtered": lambda f, x: f("convolve", f("ravel", x), [1.0, 0.0, -2.0]),
    "filtered in two axes": lambda f, x: f("signal.convolve", x, [[1.0, 0.0], [2.0, 3.0]]),
    "resized": lambda f, x: f("resize_image", f("reshape", x, (3, 4, 1)), (5, 7, 1), "linear"),
    "normalized along no axis": lambda f, x: f("add", x, f("softmax", x, ())),
    "outer": lambda f, x: f("multiply", f("reshape", x, (12, 1)), f("sin", f("ravel", x))),
}


@pytest.mark.parametrize("name", MOVES)
def test_patterns_are_exact_where_an_operation_says_what_it_mixes(name):
    def recording(b, x):
        return MOVES[name](lambda function, *args: FUNCTIONS[function].record(b, *args), x)

    pattern, nonzeros = pattern_and_matrix(recording, RNG.normal(size=(3, 4)))
    assert_array_equal(pattern, nonzeros)


def test_additions_at_constant_places():
    def recording(b, x):
        rows = b.constant(np.array([1, 0, 1, 1]))
        added = ScatterAdd((FULL, ARRAY), (3, 2))(x, rows)
        return SetItem((0, FULL))(added, GetItem((1, FULL))(added))

    pattern, nonzeros = pattern_and_matrix(recording, RNG.normal(size=(3, 4)))
    assert_array_equal(pattern, nonzeros)


def test_a_constant_place_out_of_range_is_left_to_the_replay():
    b = Builder(Limits())
    x = b.input(ArrayType(np.dtype(float), (2,)))
    y = FUNCTIONS["take"].record(b, x, [7, 0])
    assert marked(sparsity(b, y, x, Interpreted(b, [np.ones(2)]))).all()


def test_of_places_that_come_with_the_request_everything_depends_on_everything():
    b = Builder(Limits())
    x, places = b.input(ArrayType(np.dtype(float), (5,))), b.input(ArrayType(np.dtype(int), (2,)))
    assert marked(sparsity(b, GetItem((ARRAY,))(x, places), x)).all()


def test_decisions_carry_no_dependence():
    def recording(b, x):
        f = {name: FUNCTIONS[name].record for name in ("where", "greater", "flip")}
        return f["where"](b, f["greater"](b, f["flip"](b, x), 0.0), x, 2.0)

    b, (x,), (y,) = trace(recording, [np.ones(4)])
    assert_array_equal(marked(sparsity(b, y, x)), np.eye(4, dtype=bool))


def test_the_source_itself_and_what_is_before_it():
    b = Builder(Limits())
    x, y = (b.input(ArrayType(np.dtype(float), (3,))) for _ in range(2))
    assert_array_equal(marked(sparsity(b, y, y)), np.eye(3, dtype=bool))
    assert sparsity(b, x, y).rows.size == 0


def test_a_pattern_that_is_too_large_is_refused():
    b = Builder(Limits(array_bytes=10**6))
    x = b.input(ArrayType(np.dtype(float), (1000,)))
    with pytest.raises(OverBudget, match="would make int64\\[1000000\\]"):
        sparsity(b, FUNCTIONS["softmax"].record(b, x), x)
