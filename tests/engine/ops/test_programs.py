"""Whole-array functions called from programs, where what is static is told by parameters' names."""

import numpy as np
import pytest
from gradwire_engine.errors import DomainError, ShapeMismatch
from numpy.testing import assert_allclose

from tests.tables import cases

A = np.array([[4.0, 1.0], [2.0, 3.0]])


@cases("program, expected")
def test_value(program, expected, ask):
    assert_allclose(ask.value(program, {"A": A}), expected)


def test_gradient_through_linspace(ask):
    found = ask.gradients("sum(linspace(a, b, 3) * [1, 10, 100])", {"a": 0.0, "b": 4.0})
    assert found == {"a": 6.0, "b": 105.0}


def test_singular(ask):
    with pytest.raises(DomainError):
        ask.value("inv(A)", {"A": A * 0})


def test_axes_without_end(ask):
    program = "for i in range(70):\n    A = expand_dims(A, 0)\nA"
    with pytest.raises(ShapeMismatch, match="at most 64 axes"):
        ask.value(program, {"A": A})
