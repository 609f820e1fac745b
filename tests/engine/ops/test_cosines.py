"""Cosine transforms are SciPy's, and refuse what has none."""

import numpy as np
import pytest
from gradwire_engine.check import Call, evaluate
from gradwire_engine.errors import ArgumentError
from scipy import fft

X = np.random.default_rng(32).normal(size=(4, 6))


@pytest.mark.parametrize("name", ["dct", "idct"])
@pytest.mark.parametrize("kind", [1, 2, 3, 4])
@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
@pytest.mark.parametrize(("n", "axis"), [(None, -1), (3, 0), (9, 1), (2, -2)])
def test_value(name, kind, norm, n, axis):
    call = Call.of(f"fft.{name}", X, kind, n, axis, norm)
    (found,) = evaluate(call.record, call.values)
    expected = getattr(fft, name)(X, kind, n, axis, norm)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (Call.of("fft.dct", X + 0j), "real numbers"),
        (Call.of("fft.dct", X, 5), "the types 1 to 4"),
        (Call.of("fft.idct", X, "two"), "type must be an integer"),
        (Call.of("fft.dct", X, 1, 1), "more than 1 elements"),
        (Call.of("fft.dct", X[:, :0]), "more than 0 elements"),
        (Call.of("fft.dct", X, norm="most"), "norm is"),
        (Call.of("fft.dct", np.array(1.0)), "no axis -1"),
    ],
)
def test_refused(call, message):
    with pytest.raises(ArgumentError) as caught:
        evaluate(call.record, call.values)
    assert message in str(caught.value)
