"""Refusals while recording, with a message that says what was got and what was expected."""

import json
import re
from typing import Any

import numpy as np
import pytest
from gradwire_engine.answer import Limits
from gradwire_engine.backends.reference.namespace import NUMPY
from gradwire_engine.check import Call, trace
from gradwire_engine.errors import BadArgument, OverBudget
from gradwire_engine.ops.base import FUNCTIONS
from gradwire_engine.ops.builder import Builder
from gradwire_engine.ops.linalg.determinants import Cofactors
from gradwire_engine.tape import ArrayType
from numpy.testing import assert_array_equal

from tests.engine.ops.calls import results
from tests.tables import cases

X = np.ones((2, 3))
V = np.ones(3)

#: An array of ones, as it is written in messages.
ARRAY = re.compile(r"\b(bool|u?int\d+|b?float\d+|complex\d+)(\[[\d, ]*\])")


@cases("text, error, message")
def test_refused(ask, text, error, message):
    given: dict[str, Any] = {}

    def named(match):
        given[name := f"v{len(given)}"] = np.ones(json.loads(match[2]), match[1])
        return name

    text = ARRAY.sub(named, text)
    with pytest.raises(error) as caught:
        ask.value(text, given)
    assert type(caught.value) is error
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (Call.of("arange", np.array(3.0)), "known numbers, got float64[]"),
        (Call.of("einsum", X, X), "subscripts as a string"),
        (Call.of("percentile", X, 10**400), "percentile needs q from 0 to 100"),
        (Call.of("pinv", X, V), "rcond must be a known number"),
    ],
)
def test_what_no_program_says_is_refused_by_operations(call, message):
    with pytest.raises(BadArgument) as caught:
        trace(call.record, call.values)
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
        results(name, SINGULAR)


def test_one_singular_matrix_of_a_stack_is_enough():
    stack = np.stack([np.eye(2), SINGULAR])
    with pytest.raises(np.linalg.LinAlgError):
        results("solve", stack, [1.0, 2.0])


def test_cholesky_of_what_is_not_positive_definite_is_nan():
    stack = np.stack([np.diag([4.0, 9.0]), SINGULAR - 2])
    (z,) = results("cholesky", stack)
    assert_array_equal(z[0], np.diag([2.0, 3.0]))
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
