"""Refusals while recording, with a message that says what was got and what was expected."""

import numpy as np
import pytest
from gradwire_engine.answer import Limits
from gradwire_engine.backends.reference.namespace import NUMPY
from gradwire_engine.check import Call, evaluate, trace
from gradwire_engine.errors import BadArgument, DtypeMismatch, OverBudget, ShapeMismatch
from gradwire_engine.ops.base import FUNCTIONS
from gradwire_engine.ops.builder import Builder
from gradwire_engine.ops.linalg.determinants import Cofactors
from gradwire_engine.tape import ArrayType

X = np.ones((2, 3))
V = np.ones(3)
SQUARE = np.eye(2)

REFUSED = [
    (Call.of("sum", X, 2), ShapeMismatch, "sum has no axis 2 in an array of 2 axes"),
    (Call.of("sum", X, -3), ShapeMismatch, "sum has no axis -3"),
    (Call.of("sum", np.array(1.0), 0), ShapeMismatch, "sum has no axis 0 in an array of 0 axes"),
    (Call.of("sum", X, (0, -2)), ShapeMismatch, "an axis twice"),
    (Call.of("sum", X, 1.0), BadArgument, "axis must be an integer, got a number"),
    (Call.of("sum", X, True), BadArgument, "axis must be an integer, got True"),
    (Call.of("sum", X, keepdims=1), BadArgument, "keepdims must be true or false"),
    (Call.of("sum", X, dtype="real"), BadArgument, "not a dtype"),
    (Call.of("max", X[:0]), ShapeMismatch, "max of no elements does not exist"),
    (Call.of("argmin", X[:, :0], 1), ShapeMismatch, "argmin of no elements"),
    (Call.of("median", X[:0]), ShapeMismatch, "no elements"),
    (Call.of("median", X + 1j), DtypeMismatch, "complex"),
    (Call.of("quantile", X, 2), BadArgument, "from 0 to 1"),
    (Call.of("std", X, ddof="1"), BadArgument, "ddof must be a number, got a string"),
    (Call.of("var", X, ddof=1, correction=1), BadArgument, "same thing"),
    (Call.of("average", X, 1, np.ones(2)), ShapeMismatch, "cannot weigh (2, 3) by (2,)"),
    (Call.of("norm", X, "abc"), BadArgument, "ord"),
    (Call.of("norm", X, "fro", 1), BadArgument, "of matrices"),
    (Call.of("norm", X, 7), BadArgument, "matrices have no norm 7"),
    (Call.of("norm", X[None], 1), ShapeMismatch, "one axis or two, got 3"),
    (Call.of("reshape", X, (4, 2)), ShapeMismatch, "cannot reshape (2, 3), which has 6 elements"),
    (Call.of("reshape", X, (-1, 4)), ShapeMismatch, "to (-1, 4)"),
    (Call.of("reshape", X[:0], (-1, 0)), ShapeMismatch, "to (-1, 0)"),
    (Call.of("reshape", X, (-1, -1)), BadArgument, "at most one -1"),
    (Call.of("reshape", X, -1, "A"), BadArgument, "row-major"),
    (Call.of("reshape", X, (2.0, 3)), BadArgument, "shape must be an integer, got a number"),
    (Call.of("reshape", X[:1, :1], (1,) * 65), ShapeMismatch, "at most 64 axes"),
    (Call.of("broadcast_to", X, (1,) * 63 + (2, 3)), ShapeMismatch, "at most 64 axes"),
    (Call.of("stack", [np.ones((1,) * 64)]), ShapeMismatch, "at most 64 axes"),
    (Call.of("transpose", X, (0,)), ShapeMismatch, "all 2 axes"),
    (Call.of("transpose", X, (0, 0)), ShapeMismatch, "an axis twice"),
    (Call.of("matrix_transpose", V), ShapeMismatch, "at least 2 axes"),
    (Call.of("moveaxis", X, (0, 1), 0), BadArgument, "as many destinations as sources"),
    (Call.of("squeeze", X, 0), ShapeMismatch, "length 1 along axis 0, got shape (2, 3)"),
    (Call.of("broadcast_to", X, (3, 2)), ShapeMismatch, "do not broadcast"),
    (Call.of("broadcast_to", X, (3,)), ShapeMismatch, "(2, 3) does not broadcast to (3,)"),
    (Call.of("concatenate", []), BadArgument, "at least one array"),
    (Call.of("concatenate", [X, V]), ShapeMismatch, "got (2, 3) and (3,)"),
    (Call.of("concatenate", [X, X[:, :2]]), ShapeMismatch, "equal shapes but for axis 0"),
    (Call.of("concatenate", [np.array(1.0)] * 2), ShapeMismatch, "scalars"),
    (Call.of("stack", [X, V]), ShapeMismatch, "stack needs equal shapes"),
    (Call.of("split", X, 2, 1), ShapeMismatch, "cut length 3 into 2 equal parts"),
    (Call.of("split", X, 0), BadArgument, "into 0 parts"),
    (Call.of("pad", X, -1), BadArgument, "negative"),
    (Call.of("pad", X, ((1, 1), (1, 1), (1, 1))), BadArgument, "does not fit"),
    (Call.of("pad", X, 1, "mean"), BadArgument, "mode"),
    (Call.of("tile", X, -1), BadArgument, "negative"),
    (Call.of("repeat", X, [1, 2], 1), BadArgument, "2 repeats for an axis of length 3"),
    (Call.of("roll", X, (1, 2, 3), (0, 1)), BadArgument, "3 shifts for 2 axes"),
    (Call.of("diff", X, -1), BadArgument, "negative"),
    (Call.of("diff", np.array(1.0)), ShapeMismatch, "no axis -1"),
    (Call.of("top_k", V, 4), BadArgument, "4 of 3"),
    (Call.of("tril", V), ShapeMismatch, "at least 2 axes"),
    (Call.of("diag", X[None]), ShapeMismatch, "a vector or a matrix"),
    (Call.of("diagonal", X, 0, 1, 1), ShapeMismatch, "an axis twice"),
    (Call.of("zeros", (2, -1)), BadArgument, "negative lengths"),
    (Call.of("arange", np.array(3.0)), BadArgument, "known numbers, got float64[]"),
    (Call.of("arange", 0, 1, 0), BadArgument, "a step other than 0"),
    (Call.of("linspace", 0, 1, -1), BadArgument, "at least 0"),
    (Call.of("meshgrid", V, indexing="x"), BadArgument, "indexing"),
    (Call.of("matmul", X, X), ShapeMismatch, "equal inner sizes, got (2, 3) and (2, 3)"),
    (Call.of("matmul", X, np.array(2.0)), ShapeMismatch, "at least 1 axis"),
    (Call.of("matmul", np.ones((2, 2, 3)), np.ones((3, 3, 1))), ShapeMismatch, "broadcast"),
    (Call.of("tensordot", X, X, 1), ShapeMismatch, "tensordot needs equal lengths"),
    (Call.of("tensordot", X, X, 3), ShapeMismatch, "cannot sum 3 axes"),
    (Call.of("cross", X[:, :2], V), ShapeMismatch, "length 3"),
    (Call.of("vecdot", X, V[:2]), ShapeMismatch, "equal lengths"),
    (Call.of("multi_dot", [X]), BadArgument, "at least two"),
    (Call.of("einsum", X, X), BadArgument, "subscripts as a string"),
    (Call.of("einsum", "ij,jk", X), BadArgument, "2 subscripts for 1 operands"),
    (Call.of("einsum", "ij", V), ShapeMismatch, "do not fit 1 axes"),
    (Call.of("einsum", "ij,jk", X, X), ShapeMismatch, "lengths 3 and 2"),
    (Call.of("einsum", "ii", X), ShapeMismatch, "got lengths 2 and 3"),
    (Call.of("einsum", "i->j", V), BadArgument, "letters of the operands"),
    (Call.of("einsum", "i->ii", V), BadArgument, "each once"),
    (Call.of("einsum", "i$", X), BadArgument, "cannot read the subscripts 'i$'"),
    (Call.of("einsum", "...i->i", X), ShapeMismatch, "ellipsis"),
    (Call.of("inv", X), ShapeMismatch, "inv needs square matrices, got shape (2, 3)"),
    (Call.of("det", V), ShapeMismatch, "det needs square matrices"),
    (Call.of("cholesky", SQUARE.astype("float16")), DtypeMismatch, "does not take float16"),
    (Call.of("solve", SQUARE, V), ShapeMismatch, "right-hand sides of 2 rows"),
    (Call.of("solve_triangular", SQUARE, V[:2], 3), BadArgument, "trans must be 0, 1 or 2"),
    (Call.of("matrix_power", SQUARE, 0.5), BadArgument, "n must be an integer"),
    (Call.of("cho_solve", SQUARE, V[:2]), BadArgument, "a pair"),
    (Call.of("tri", []), BadArgument, "N must be an integer, got a list"),
    (Call.of("eye", 2, [2]), BadArgument, "M must be an integer, got a list"),
    (Call.of("arange", 0.0, 1e308, 1e-10), BadArgument, "infinitely many numbers"),
]


@pytest.mark.parametrize(("call", "error", "message"), REFUSED)
def test_refused(call, error, message):
    with pytest.raises(error) as caught:
        trace(call.record, call.values)
    assert type(caught.value) is error
    assert message in caught.value.message


@pytest.mark.parametrize(
    "call",
    [
        Call.of("zeros", (1 << 20, 1 << 20)),
        Call.of("zeros", (0, 1 << 62, 4)),
        Call.of("tile", X, (0, 1 << 62)),
        Call.of("reshape", X[:0], (1 << 40, 0, 1 << 40)),
        Call.of("arange", 1 << 40),
        Call.of("eye", 1 << 20),
    ],
)
def test_too_large_to_allocate(call):
    with pytest.raises(OverBudget):
        trace(call.record, call.values)


def test_the_budget_counts_a_broadcast_product():
    b = Builder(Limits(array_bytes=1000))
    column = b.input(ArrayType(np.dtype("float64"), (100, 1)))
    with pytest.raises(OverBudget):
        FUNCTIONS["outer"].record(b, column, column)


SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])


@pytest.mark.parametrize("name", ["inv", "linalg.inv"])
def test_a_singular_matrix_has_no_inverse(name):
    with pytest.raises(np.linalg.LinAlgError):
        evaluate(Call.of(name, SINGULAR).record, [SINGULAR])


def test_one_singular_matrix_of_a_stack_is_enough():
    stack = np.stack([np.eye(2), SINGULAR])
    with pytest.raises(np.linalg.LinAlgError):
        evaluate(Call.of("solve", stack, [1.0, 2.0]).record, [stack])


def test_cholesky_of_what_is_not_positive_definite_is_nan():
    stack = np.stack([np.diag([4.0, 9.0]), SINGULAR - 2])
    (z,) = evaluate(Call.of("cholesky", stack).record, [stack])
    np.testing.assert_array_equal(z[0], np.diag([2.0, 3.0]))
    assert np.isnan(z[1]).all()


@pytest.mark.parametrize("size", [1, 2, 3, 5])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_cofactors_of_singular_matrices_are_those_of_minors(size, dtype):
    rng = np.random.default_rng(size)
    a = rng.integers(-3, 4, size=(4, size, size)).astype(dtype)
    a = a + 1j * rng.integers(-3, 4, size=a.shape) if dtype == "complex128" else a
    a[0, 0] = a[0, -1] * 2  # rank deficient, for size 1 zero
    a[0, 0] = 0 if size == 1 else a[0, 0]
    a[1] = 0
    found = Cofactors().kernel(NUMPY, a)
    for matrix, cofactors in zip(a, found, strict=True):
        for i, j in np.ndindex(size, size):
            minor = np.delete(np.delete(matrix, i, 0), j, 1)
            assert cofactors[i, j] == pytest.approx((-1) ** (i + j) * np.linalg.det(minor))
