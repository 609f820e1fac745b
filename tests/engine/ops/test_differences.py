"""Differences and unwrapped phases are NumPy's."""

from typing import Any

import numpy as np
import pytest
from gradwire_engine.errors import DtypeMismatch
from numpy.testing import assert_allclose, assert_array_equal

from tests.engine.ops.calls import result

RNG = np.random.default_rng(61)
PHASES = RNG.normal(size=(4, 9)) * 6
HALVES = np.array([0.0, 0.5, 1.0, 0.5, 0.0, 1.5, 0.0, 2.0, -1.0, -2.5])


def test_differences_of_all_elements():
    arrays: tuple[Any, ...] = (PHASES, np.arange(5), PHASES[0, :1], PHASES[:0])
    for x in arrays:
        assert_array_equal(result("ediff1d", x), np.ediff1d(x))
    ends: Any = ([1.0, 2], [[3.0], [4]])
    assert_array_equal(result("ediff1d", PHASES, *ends), np.ediff1d(PHASES, *ends))


@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("discont", [None, 2.0, 5.0])
def test_phases(axis, discont):
    found = result("unwrap", PHASES, discont, axis)
    assert_allclose(found, np.unwrap(PHASES, discont, axis), atol=1e-12)


def test_steps_of_half_a_period_stay():
    found = result("unwrap", HALVES, period=1.0)
    assert_allclose(found, np.unwrap(HALVES, period=1.0))


def test_the_derivative_is_one_and_counts_periods(gradients):
    found = gradients(lambda f, x, p: f.unwrap(x, period=p), [0, 3, 0.5], 2.0)
    assert found == [[1, 1, 1], -1.0]


def test_complex_numbers_have_no_phase_order():
    with pytest.raises(DtypeMismatch, match="no order to unwrap"):
        result("unwrap", PHASES + 1j)
