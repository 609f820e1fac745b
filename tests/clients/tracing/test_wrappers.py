"""Wrappers that override NumPy's protocols compute with recorded arrays as with NumPy's."""

import logging
import operator
from collections.abc import Callable
from typing import Any

import gradwire
import numpy as np
import pytest
from numpy.lib.mixins import NDArrayOperatorsMixin

logger = logging.getLogger(__name__)

X = np.array([0.3, 0.7, 1.1])
#: Without NumPy's annotations, which do not know what takes over.
untyped: Any = np


class Length(NDArrayOperatorsMixin):
    """Numbers with a unit: ufuncs of them scale by it, as NumPy's guide shows."""

    __array_priority__ = 100.0

    def __init__(self, value, unit=1.0):
        self.value, self.unit = value, unit

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.value, dtype)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        metres = [each.value * each.unit if isinstance(each, Length) else each for each in inputs]
        return Length(getattr(ufunc, method)(*metres, **kwargs))

    def __array_function__(self, function, types, args, kwargs):
        plain = [each.value * each.unit if isinstance(each, Length) else each for each in args]
        return Length(function(*plain, **kwargs))


class Older:
    """Overrides operators by priority alone."""

    __array_priority__ = 100.0

    def __init__(self, value):
        self.value = value

    def __radd__(self, other):
        return Older(10 * other + self.value)

    def __rmul__(self, other):
        return Older(other * self.value * 2.0)


class Refusing:
    __array_ufunc__ = None

    def __rsub__(self, other):
        return other * 5.0


class Reversed(np.ndarray):
    """An array whose product is another."""

    def __mul__(self, other: Any) -> Any:
        return np.asarray(self)[::-1] * other


TAKING_OVER: list[Callable[[Any], Any]] = [
    lambda x: (x + Length(2.0, 1000.0)).value,
    lambda x: (Length(2.0, 1000.0) * x).value,
    lambda x: untyped.multiply(x, Length(x, 0.5)).value,
    lambda x: untyped.exp(Length(x, 2.0)).value,
    lambda x: untyped.sum(Length(x, 2.0)).value,
    lambda x: untyped.dot(x, Length(x, 2.0)).value,
    lambda x: untyped.add.reduce(Length(x, 2.0)).value,
    lambda x: (x + Older(1.0)).value,
    lambda x: (x * Older(x)).value,
    lambda x: x - Refusing(),
    lambda x: operator.iadd(x.copy(), np.ones(3)),
    lambda x: (untyped.zeros(3) + Length(x, 3.0)).value,
]


@pytest.mark.parametrize("f", TAKING_OVER, ids=range(len(TAKING_OVER)))
def test_wrappers_take_over_as_with_numpys_arrays(f, client):
    value = gradwire.function(f, client)(X)
    np.testing.assert_allclose(value, f(X), rtol=1e-14)


def test_arrays_whose_operators_mean_something_else_are_refused(client):
    masked = np.ma.masked_array(X, X > 0.5)
    with pytest.raises(gradwire.NotTraceable, match="MaskedArray"):
        gradwire.function(lambda x: x * masked, client)(X)
    with pytest.warns(PendingDeprecationWarning):
        matrix = np.asmatrix(X)
    with pytest.raises(gradwire.NotTraceable, match="matrix"):
        gradwire.function(lambda x: x * matrix, client)(X)
    for argument in (matrix, X.view(Reversed)):
        with pytest.raises(gradwire.NotTraceable, match="has its own __mul__"):
            gradwire.function(lambda x: x * 2.0, client)(argument)


def test_arguments_of_subclasses_with_numpy_s_operators_are_arrays(client, tmp_path):
    mapped = np.memmap(tmp_path / "data", X.dtype, "w+", shape=X.shape)
    mapped[:] = X
    views: list[Any] = [X.view(np.recarray), X.view(type("Named", (np.ndarray,), {}))]
    for argument in (mapped, *views):
        np.testing.assert_array_equal(gradwire.function(lambda x: x * 2, client)(argument), X * 2)


@pytest.mark.parametrize(
    "value",
    [X, 0.3, np.float64(0.3), np.float32(0.3), 1j, np.array([True])],
    ids=range(6),
)
def test_instances_are_those_of_numpy(value, client, caplog):
    caplog.set_level("INFO")
    kinds = (np.ndarray, np.generic, np.float64, np.float32, float, complex, list, tuple, object)

    def f(x):
        logger.info([isinstance(y, kind) for y in (x, x * x) for kind in kinds])
        return x

    gradwire.function(f, client)(value)
    f(value)
    found = [each.getMessage() for each in caplog.records if each.name == __name__]
    assert len(found) == 3
    assert len({*found}) == 1
