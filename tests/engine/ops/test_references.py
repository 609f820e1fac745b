"""Values and dtypes of further functions are NumPy's; where it has none, those of a formula."""

import warnings
from math import inf, nan
from operator import attrgetter
from typing import Any

import numpy as np
import pytest
from gradwire_engine.check import Call
from gradwire_engine.ops.promotion import DTYPES
from numpy.testing import assert_allclose, assert_array_equal

from tests.engine.conftest import named
from tests.engine.ops.calls import results
from tests.engine.ops.sampled import checked

REAL = [name for name, dtype in DTYPES.items() if dtype.kind in "iuf"]
X = np.array([[3, 0, 1, 2], [1, 1, 0, 5], [2, 7, 1, 4]])
GAPS = np.array([[nan, 0.5, -1.5], [2.5, nan, 0.0], [nan, nan, -0.0]])
TOLERANCES = {"float16": 1e-2, "float32": 1e-4, "complex64": 1e-4}

#: Functions of NumPy's with arguments; arrays are tried in all real dtypes.
CASES: list[tuple[Any, ...]] = [
    *[(name, X, X[::-1] + 1) for name in ("fmax", "fmin", "copysign", "fmod", "divmod")],
    *[(name, X, X[0]) for name in ("heaviside", "float_power")],
    *[
        (name, X, axis)
        for name in ("nansum", "nanprod", "nanmax", "nanmin", "nanmean")
        for axis in (None, 0, -1, (0, 1))
    ],
    *[(f"{name}.accumulate", X, axis) for name in ("maximum", "minimum") for axis in (0, -1)],
    ("trapezoid", X, X[0].cumsum()),
    ("trapezoid", X, None, 2, 0),
    ("gradient", X),
    ("gradient", X, 2.0, np.arange(4) ** 2),
    *[("searchsorted", np.array([1, 2, 2, 5]), X, side) for side in ("left", "right")],
    *[("digitize", X, np.array([1, 2, 4]), right) for right in (False, True)],
    *[("histogram", X, bins) for bins in (3, np.array([0, 1, 2, 4]))],
    ("histogram", X, 4, (1.0, 4.0)),
    ("histogram", X, 4, None, True),
    ("histogram", X, np.array([0, 1, 4]), None, True, X + 1),
    *[(name, X) for name in ("cov", "corrcoef")],
    ("cov", X[0], X[1], True, True),
    *[
        (name, X[0, :n], X[1, :m], mode)
        for name in ("convolve", "correlate")
        for n, m in ((4, 3), (2, 4), (3, 4), (1, 1), (4, 2))
        for mode in ("full", "same", "valid")
    ],
]
#: Functions of floating numbers alone.
FLOATING: list[tuple[Any, ...]] = [
    *[(name, GAPS, -GAPS[1]) for name in ("fmax", "fmin", "copysign", "heaviside")],
    *[
        (name, GAPS, axis)
        for name in ("nansum", "nanprod", "nanmax", "nanmin", "nanmean")
        for axis in (None, 0, 1)
    ],
    *[(f"{name}.accumulate", GAPS, axis) for name in ("maximum", "minimum") for axis in (0, 1)],
    ("logaddexp.accumulate", X, 1),
]


def label(case):
    return "-".join(str(part) for part in case if not isinstance(part, np.ndarray | list))


def labels(cases):
    return [f"{n}-{label(case)}" for n, case in enumerate(cases)]


def converted(x, dtype):
    if isinstance(x, list):
        return [converted(item, dtype) for item in x]
    return x.astype(dtype) if isinstance(x, np.ndarray) else x


def compare(name, *args, half=None, **kwargs):
    """Beside NumPy; in bfloat16, which it has not, beside float32 that is rounded."""
    given = args
    if half == "bfloat16":
        args = tuple([converted(x, half) for x in args])
        given = tuple([converted(x, "float32") for x in args])
    call = Call.of(name, *args, **kwargs)
    ours = checked(call)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = attrgetter(name)(np)(*given, **kwargs)
    theirs = list(theirs) if isinstance(theirs, tuple | list) else [theirs]
    assert len(ours) == len(theirs)
    for one, other in zip(ours, map(np.asarray, theirs), strict=True):
        if half == "bfloat16" and other.dtype == "float32":
            assert np.asarray(one).dtype == half
            assert_array_equal(np.asarray(one, "f4"), other.astype(half).astype("f4"))
            continue
        assert np.asarray(one).dtype == other.dtype
        assert np.shape(one) == other.shape
        tolerance = TOLERANCES.get(str(other.dtype), 1e-9)
        assert_allclose(one, other, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("case", CASES, ids=labels(CASES))
def test_values_are_numpys(case):
    name, *args = case
    for dtype in REAL:
        with named(dtype):
            compare(name, *[converted(x, dtype) for x in args])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("case", FLOATING, ids=labels(FLOATING))
def test_nan_is_treated_as_in_numpy(case, dtype):
    name, *args = case
    compare(name, *[converted(x, dtype) for x in args], half=dtype)


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("fmax", [2, 2], [1, 0]),
        ("fmin", [2, 2], [1, 0]),
        ("fmax", [nan, 2], [0, 1]),
        ("fmin", [2, nan], [1, 0]),
        ("copysign", [0, -1], [0, 0]),
        ("heaviside", [0, 0.5], [None, 1]),
        ("heaviside", [1, 0.5], [None, 0]),
        ("fmod", [-7, 3], [1, 2]),
        ("fmod", [6, 3], [1, -2]),
        ("divide_no_nan", [1, 0], [0, 0]),
        ("l1_loss", [1, 1], [0, 0]),
        ("huber_loss", [2, 1], [1, -1]),
        ("nanmax", [[nan, 3, 3]], [[0, 0.5, 0.5]]),
        ("nansum", [[nan, 3]], [[0, 1]]),
        ("nanmean", [[nan, 3, 1]], [[0, 0.5, 0.5]]),
        ("cummax", [[1, 3, 3, 2]], [[1, 3, 0, 0]]),
        ("cummin", [[2, 1, 1]], [[1, 2, 0]]),
        ("cumlogsumexp", [[-inf, -inf]], [[0, 0]]),
        ("cumlogsumexp", [[-inf, 1000]], [[0, 1]]),
        ("interp", [1, [0, 1, 2], [0, 1, 5]], [4, [0, -4, 0], [0, 1, 0]]),
    ],
)
def test_conventions(gradients, name, values, expected):
    found = gradients(lambda f, *xs: getattr(f, name)(*xs), *values)
    zeros = [0 if bar is None else bar for bar in found]
    assert zeros == [0 if bar is None else bar for bar in expected]


def test_cross_entropies_agree():
    logits = np.array([[1.0, -2.0, 0.5], [0.1, 1000.0, 3.0]])
    labels = np.array([2, 1])
    hot = np.eye(3)[labels]
    shifted = logits - logits.max(1, keepdims=True)
    expected = -np.sum(hot * (shifted - np.log(np.exp(shifted).sum(1, keepdims=True))), axis=1)
    (one,) = results("sparse_softmax_cross_entropy_with_logits", labels, logits)
    (other,) = results("softmax_cross_entropy_with_logits", hot, logits)
    assert_allclose(one, expected, atol=1e-12)
    assert_allclose(other, expected, atol=1e-12)


@pytest.mark.parametrize("ends", [{}, {"left": -3.0, "right": 7.0}])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_interpolation_is_numpys(count, ends):
    points = np.array([-1.0, 0.0, 0.5, 1.0, 2.5, 3.0, 9.0, nan])
    knots, table = np.array([0.0, 1.0, 3.0, 4.0])[:count], np.array([2.0, -1.0, 5.0, 6.0])[:count]
    compare("interp", points, knots, table, **ends)


def test_one_hot_leaves_out_what_is_out_of_range():
    index = np.array([1, -1, 3])
    (z,) = results("one_hot", index, 3)
    assert z.tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 0]]
