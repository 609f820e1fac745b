"""Values, shapes and dtypes of whole-array functions are NumPy's, for every dtype."""

import warnings
from math import inf
from operator import attrgetter
from typing import Any

import numpy as np
import pytest
from gradwire_engine.check import Call, trace
from gradwire_engine.errors import DtypeMismatch
from gradwire_engine.ops.constants import Constant
from gradwire_engine.ops.promotion import DTYPES
from numpy.testing import assert_allclose, assert_array_equal

from tests.engine.conftest import named
from tests.engine.ops.calls import results
from tests.engine.ops.sampled import checked

X = np.array(
    [[[3, 0, 1, 2], [1, 1, 0, 5], [2, 7, 1, 4]], [[0, 6, 3, 1], [2, 2, 4, 0], [9, 1, 1, 3]]]
)
SQUARE = np.array([[[4, 1, 2], [1, 5, 0], [2, 0, 6]], [[3, 0, 1], [0, 2, 1], [1, 1, 4]]])
AXES = (None, 0, -1, (0, 2), (-1, 0))

#: Functions of one array of any dtype: name, then NumPy's arguments.
UNARY: list[tuple[Any, ...]] = [
    *[(name, axis) for name in ("sum", "prod", "mean", "max", "min", "any") for axis in AXES],
    *[(name, axis) for name in ("var", "std", "all", "ptp", "count_nonzero") for axis in AXES],
    *[(name, axis) for name in ("argmax", "argmin", "cumsum", "cumprod") for axis in (None, 0, -1)],
    *[("sort", axis) for axis in (None, 0, -1)],
    *[(name, axis) for name in ("median", "average") for axis in AXES],
    *[("quantile", q, axis) for q in (0.0, 0.3, 1.0) for axis in AXES],
    *[("diff", n, axis) for n in (1, 2, 4) for axis in (0, -1)],
    *[("linalg.norm", order, -1) for order in (None, 1, 2, 3, 0, inf, -inf)],
    *[("linalg.norm", order, (2, 0)) for order in (None, 1, -1, inf, -inf, "fro")],
    *[(name,) for name in ("linalg.norm", "ravel", "transpose", "flip", "rot90", "squeeze")],
    ("reshape", (4, -1)),
    ("swapaxes", 0, -1),
    ("moveaxis", (0, 1), (-1, 0)),
    ("expand_dims", (0, -1)),
    ("roll", (1, 2), (0, -1)),
    ("tile", (2, 1)),
    ("repeat", [1, 0, 2], 1),
    ("pad", ((1, 0), (0, 2), (1, 1))),
    ("tril", 1),
    ("triu", -1),
    ("diagonal", 1, 2, 0),
    ("trace", 1),
    ("zeros_like",),
    ("ones_like",),
    ("full_like", 3),
]

#: Functions of two arrays of one dtype, or of its square.
BINARY = [
    ("matmul", X, X.swapaxes(1, 2)),
    ("matmul", X, X[0, 0]),
    ("dot", X, X.swapaxes(1, 2)),
    ("inner", X, X[0]),
    ("outer", X, X[0, 0]),
    ("kron", X, X[0, 0]),
    ("vdot", X, X),
    ("tensordot", X.swapaxes(0, 2), X.swapaxes(0, 1)),
    ("cross", SQUARE, SQUARE[0]),
    ("concatenate", [X, X], 1),
    ("stack", [X, X], -1),
    ("hstack", [X, X]),
    ("vstack", [X, X]),
    ("einsum", "bij,bkj->ik", X, X),
    ("einsum", "bii,bij", SQUARE, X),
    ("einsum", "bij,bik,bil->jkl", X, X, X),
    ("linalg.solve", SQUARE, SQUARE[0]),
]

MATRIX: list[tuple[Any, ...]] = [(f"linalg.{name}",) for name in ("inv", "det", "slogdet")]
MATRIX += [("linalg.matrix_power", n) for n in (0, 3, -1)]


def converted(x, dtype):
    if isinstance(x, list) and isinstance(x[0], np.ndarray):
        return [item.astype(dtype) for item in x]
    return x.astype(dtype) if isinstance(x, np.ndarray) else x


def reference(name, args):
    """NumPy's results, None where it refuses."""
    function = attrgetter(name)(np)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = function(*args)
        except TypeError:
            return None
    return list(found) if isinstance(found, tuple) else [found]


def computed(name, args):
    """Our results, None where we refuse; predicted types are checked on the way."""
    call = Call.of(name, *args)
    try:
        return checked(call)
    except DtypeMismatch:
        return None


def _cases():
    for name, *args in UNARY:
        yield name, X, *args
    yield from BINARY
    yield "linalg.cholesky", np.diag([4, 9])
    for name, *args in MATRIX:
        yield name, SQUARE, *args


def label(case):
    return "-".join(str(part) for part in case if not isinstance(part, np.ndarray | list))


CASES = list(_cases())
#: Where only one refuses, which: quantiles of booleans are 0 or 1, complex ones have no meaning.
REFUSALS = {("quantile", "bool"): (False, True)}
REFUSALS |= {("median", name): (True, False) for name in ("complex64", "complex128")}

LABELS = [f"{n}-{label(case)}" for n, case in enumerate(CASES)]


TOLERANCES = {"float16": 1e-2, "bfloat16": 5e-2, "float32": 1e-4, "complex64": 1e-4}


@pytest.mark.parametrize("case", CASES, ids=LABELS)
def test_values_are_numpys(case):
    name, *args = case
    for dtype in DTYPES:
        with named(dtype):
            compare(name, [converted(x, dtype) for x in args], dtype)


def compare(name, args, dtype):
    ours, theirs = computed(name, args), reference(name, args)
    if dtype == "bfloat16":  # NumPy has float32, which is rounded
        theirs = reference(name, [converted(x, "float32") for x in args])
        if reference(name, [converted(x, "float16") for x in args]) is None:
            theirs = None
        single = None if theirs is None else map(np.asarray, theirs)
        theirs = single and [x.astype(dtype) if x.dtype == "float32" else x for x in single]
    if ours is None or theirs is None:
        assert (ours is None, theirs is None) == REFUSALS.get((name, dtype), (True, True))
        return
    assert len(ours) == len(theirs)
    for one, other in zip(ours, map(np.asarray, theirs), strict=True):
        assert np.asarray(one).dtype == other.dtype
        assert np.shape(one) == other.shape
        tolerance = TOLERANCES.get(dtype, 1e-9)
        if dtype == "bfloat16":  # NumPy's test of equality does not know it
            assert_allclose(one.astype("f4"), other.astype("f4"), rtol=tolerance, atol=tolerance)
            continue
        assert_allclose(one, other, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("axis", [None, 0, -1])
def test_sorting_is_stable(axis, descending):
    (ours,) = results("argsort", X, axis, descending)
    expected = np.argsort(-X if descending else X, axis=axis, kind="stable")
    assert_array_equal(ours, expected)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("zeros", ((2, 3),)),
        ("ones", (3, "float32")),
        ("full", ((2,), 3)),
        ("full", (2, True)),
        ("full", ((2, 2), 2.5, "float32")),
        ("eye", (3,)),
        ("eye", (3, 4, -1)),
        ("eye", (2, 2, 5, "int32")),
        ("identity", (3,)),
        ("tri", (3, 4, 1)),
        ("diag", ([1, 2, 3], -1)),
        ("arange", (5,)),
        ("arange", (2, 9)),
        ("arange", (10, 0, -3)),
        ("arange", (0.0, 1.0, 0.1)),
        ("arange", (5, 2)),
        ("arange", (5, None, 1, "float32")),
        ("linspace", (2, 5)),
        ("linspace", (2, 5, 1)),
        ("linspace", (2, 5, 0)),
        ("linspace", (2, 5, 4, False)),
    ],
)
def test_creation_is_numpys(name, args):
    call = Call.of(name, *args)
    (ours,) = checked(call)
    theirs = getattr(np, name)(*args)
    assert ours.dtype == theirs.dtype or name == "diag"  # a literal stays weak
    assert_allclose(ours, theirs, rtol=1e-6)


def test_a_large_array_of_zeros_is_no_constant():
    call = Call.of("zeros", (1000, 1000))
    b, _, _ = trace(call.record, [])
    constants = [i.op.value for i in b.instructions if isinstance(i.op, Constant)]
    assert [value.nbytes for value in constants] == [8]


def test_sums_of_half_precision_do_not_overflow_in_means():
    x = np.full(100, 60000, "float16")
    assert results("mean", x)[0] == 60000
