"""Fourier transforms are NumPy's, for every dtype that both take."""

from operator import attrgetter
from typing import Any

import numpy as np
import pytest
from gradwire_engine.check import Call, evaluate
from gradwire_engine.errors import DtypeMismatch
from gradwire_engine.ops.promotion import DTYPES
from numpy.testing import assert_allclose

from tests.engine.conftest import named
from tests.engine.ops.sampled import checked

RNG = np.random.default_rng(17)
X = RNG.integers(0, 9, size=(2, 5, 4))
LINES: list[tuple[Any, ...]] = [(), (3,), (7,), (None, 0, "ortho"), (None, 1, "forward"), (1, 1)]
PLANES: list[tuple[Any, ...]] = [(), (None, (1, 0), "ortho"), ((5, 6), (0, 1), "forward")]
CASES = [
    *[(f"{name}fft", *args) for name in ("", "i", "r", "ir", "h", "ih") for args in LINES],
    *[
        (f"{name}{tail}", *args)
        for name in ("fft", "ifft", "rfft", "irfft")
        for tail in "2n"
        for args in PLANES
    ],
]


def compared(call):
    (ours,) = checked(call)
    # NumPy takes bfloat16 for float64.
    given = [np.asarray(x, "f2") if getattr(x, "dtype", 0) == "bfloat16" else x for x in call.args]
    theirs = attrgetter(call.function)(np)(*given, **call.kwargs)
    assert ours.shape == theirs.shape
    # Of half precision NumPy's irfft alone gives half precision.
    assert ours.dtype == ("float32" if theirs.dtype == "float16" else theirs.dtype)
    tolerance = 1e-3 if ours.dtype.itemsize <= 4 or ours.dtype == "complex64" else 1e-9
    assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("case", CASES, ids=[f"{n}-{case[0]}" for n, case in enumerate(CASES)])
def test_transforms_are_numpys(case):
    name, *args = case
    for dtype in DTYPES:
        call = Call.of(f"fft.{name}", X.astype(dtype), *args)
        with named(dtype):
            if name.startswith(("rfft", "ihfft")) and np.dtype(dtype).kind == "c":
                with pytest.raises(DtypeMismatch):
                    evaluate(call.record, call.values)
            else:
                compared(call)


@pytest.mark.parametrize("name", ["fftshift", "ifftshift"])
@pytest.mark.parametrize("axes", [None, 1, (0, -1)])
def test_shifts_are_numpys(name, axes):
    compared(Call.of(f"fft.{name}", X, axes))


@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_frequencies_are_numpys(name, n):
    compared(Call.of(f"fft.{name}", n))
    compared(Call.of(f"fft.{name}", n, 0.25))


@pytest.mark.parametrize("n", [4, 5])
def test_the_gradient_of_a_power_spectrum(gradients, n):
    """``L = sum |F x|²`` is ``n ‖x‖²``, of gradient ``2 n x`` (Parseval)."""
    z = RNG.normal(size=n) + 1j * RNG.normal(size=n)
    (found,) = gradients(lambda f, x: f.sum(f.square(f.abs(getattr(f, "fft.fft")(x)))), z)
    assert_allclose(found, 2 * n * z)
    (found,) = gradients(lambda f, x: f.sum(f.square(f.abs(getattr(f, "fft.ifft")(x)))), z)
    assert_allclose(found, 2 * z / n)


def test_a_branch_not_taken_hides_no_element(gradients):
    """The mask of ``where`` is not transformed: all elements reach the frequencies taken."""

    def loss(f, x):
        spectrum = f.real(getattr(f, "fft.fft")(x))
        return f.sum(f.where([True, False, True, False], spectrum, 0.0))

    (found,) = gradients(loss, [1.0, 2.0, 3.0, 4.0])
    matrix = np.cos(np.pi / 2 * np.outer(np.arange(4), np.arange(4)))
    assert_allclose(found, matrix[0] + matrix[2], atol=1e-12)
