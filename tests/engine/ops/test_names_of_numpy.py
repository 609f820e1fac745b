"""Further functions have NumPy's values, shapes and dtypes."""

from math import inf, nan

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.engine.ops.calls import results

RNG = np.random.default_rng(79)
X = RNG.normal(size=(2, 3, 4)) * 3
EDGES = np.array([0.0, -0.0, 1.0, -2.5, inf, -inf, nan])
K = np.array([[12, -18, 0], [7, 5, 30]])
CASES = [
    *[(name, EDGES) for name in ("modf", "fabs", "signbit", "isposinf", "isneginf")],
    ("frexp", EDGES[:4]),
    ("frexp", np.array([5e-324, 8.0, 1 - 2.0**-53])),
    ("nextafter", EDGES, EDGES[::-1]),
    ("nextafter", EDGES, 1),
    ("histogram", X[0, 0, 0], 3),
    ("histogram", EDGES[:2], 2),
    ("histogram", X[:0], 4),
    ("diff", X, 0, -1, X[..., :1]),
    *[(name, K, K[::-1]) for name in ("gcd", "lcm")],
    ("isclose", EDGES, EDGES),
    ("isclose", EDGES, EDGES, 1e-5, 1e-8, True),
    ("isclose", EDGES[:, None], EDGES + 1e-7),
    ("allclose", X, X + 1e-9),
    ("allclose", X, X + 1e-3),
    ("array_equal", EDGES, EDGES),
    ("array_equal", EDGES, EDGES, True),
    ("array_equal", X, X[0]),
    *[(f"atleast_{n}d", x) for n in (1, 2, 3) for x in (X, X[0], X[0, 0], 2.5)],
    *[("dstack", [x, x]) for x in (X, X[0], X[0, 0])],
    ("append", X, K),
    ("append", K, K, 1),
    ("delete", X, 5),
    ("delete", X, [0, -1], 2),
    ("hsplit", X, 3),
    ("vsplit", X, 2),
    ("dsplit", X, (1, 3)),
    ("logspace", 0, 2, 5),
    ("logspace", 0, [1.0, 2], 4, False, 2.0),
    ("geomspace", 1, 256, 9),
    ("geomspace", -1.0, -1000.0, 4),
    *[(name, n) for name in ("hanning", "hamming", "blackman", "bartlett") for n in (0, 1, 2, 7)],
    ("lexsort", [K[0] % 5, K[1] % 2]),
    ("lexsort", K[:, ::-1]),
    ("lexsort", [X > 1, X > 0], 0),
    ("cov", K, None, True, False, None, [1, 2, 3], [0.5, 1.0, 2.0]),
    ("cov", K, None, True, False, None, [1, 2, 3]),
    ("cov", K, None, False, True, None, None, [0.5, 2.0]),
    *[(f"tri{half}_indices", 3, k, m) for half in "lu" for k in (-1, 0, 2) for m in (None, 4)],
    ("diag_indices", 3, 2),
    ("indices", (2, 3)),
    ("ix_", [0, 2], [1, 3, 0]),
    ("unravel_index", np.arange(24)[::5], (2, 3, 4)),
    ("ravel_multi_index", [[0, 1], [2, 0], [3, 1]], (2, 3, 4)),
    *[("kaiser", n, 8.6) for n in (0, 1, 2, 7)],
]


@pytest.mark.parametrize("case", CASES, ids=[f"{n}-{case[0]}" for n, case in enumerate(CASES)])
def test_value(case):
    name, *args = case
    found = results(name, *args)
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(*args)
    expected = expected if isinstance(expected, tuple | list) else [expected]
    for ours, theirs in zip(found, expected, strict=True):
        assert (np.asarray(ours).dtype, np.shape(ours)) == (
            np.asarray(theirs).dtype,
            np.shape(theirs),
        )
        assert_allclose(ours, theirs, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("mode", ["raise", "wrap", "clip"])
def test_modes_of_take(mode):
    index = np.array([0, 2, 1] if mode == "raise" else [0, 3, -2, 7])
    (found,) = results("take", X, index, 1, mode)
    assert_array_equal(found, np.take(X, index, 1, mode=mode))
