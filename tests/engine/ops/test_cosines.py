"""Cosine transforms are SciPy's, and refuse what has none."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import fft

from tests.engine.ops.calls import results

X = np.random.default_rng(32).normal(size=(4, 6))


@pytest.mark.parametrize("name", ["dct", "idct"])
@pytest.mark.parametrize("kind", [1, 2, 3, 4])
@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
@pytest.mark.parametrize(("n", "axis"), [(None, -1), (3, 0), (9, 1), (2, -2)])
def test_value(name, kind, norm, n, axis):
    (found,) = results(f"fft.{name}", X, kind, n, axis, norm)
    expected = getattr(fft, name)(X, kind, n, axis, norm)
    assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
