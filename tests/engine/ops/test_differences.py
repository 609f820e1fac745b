"""Differences and unwrapped phases are NumPy's."""

from typing import Any

import numpy as np
import pytest
from gradwire_engine.check import Call, evaluate
from gradwire_engine.errors import DtypeMismatch

RNG = np.random.default_rng(61)
PHASES = RNG.normal(size=(4, 9)) * 6
HALVES = np.array([0.0, 0.5, 1.0, 0.5, 0.0, 1.5, 0.0, 2.0, -1.0, -2.5])


def value(name, *args, **kwargs):
    call = Call.of(name, *args, **kwargs)
    return evaluate(call.record, call.values)[0]


def test_differences_of_all_elements():
    arrays: tuple[Any, ...] = (PHASES, np.arange(5), PHASES[0, :1], PHASES[:0])
    for x in arrays:
        np.testing.assert_array_equal(value("ediff1d", x), np.ediff1d(x))
    ends: Any = ([1.0, 2], [[3.0], [4]])
    np.testing.assert_array_equal(value("ediff1d", PHASES, *ends), np.ediff1d(PHASES, *ends))


@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("discont", [None, 2.0, 5.0])
def test_phases(axis, discont):
    found = value("unwrap", PHASES, discont, axis)
    np.testing.assert_allclose(found, np.unwrap(PHASES, discont, axis), atol=1e-12)


def test_steps_of_half_a_period_stay():
    found = value("unwrap", HALVES, period=1.0)
    np.testing.assert_allclose(found, np.unwrap(HALVES, period=1.0))


def test_the_derivative_is_one_and_counts_periods(gradients):
    found = gradients(lambda f, x, p: f.unwrap(x, period=p), [0, 3, 0.5], 2.0)
    assert found == [[1, 1, 1], -1.0]


def test_complex_numbers_have_no_phase_order():
    with pytest.raises(DtypeMismatch, match="no order to unwrap"):
        value("unwrap", PHASES + 1j)
