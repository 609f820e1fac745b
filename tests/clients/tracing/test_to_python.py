"""Integers and booleans are Python's values where it asks for them, and are checked later."""

import collections
import collections.abc
import functools
import math
import numbers
import operator
import typing
from typing import Any

import gradwire
import numpy as np
import pytest
from numpy import float64
from numpy.polynomial import polynomial

X = np.array([0.3, 0.7, 1.1])
TABLE = np.array([10.0, 20.0, 30.0, 40.0])
GRID = np.arange(12.0).reshape(3, 4)

CASES = [
    ("float of a condition", lambda x: x * float(x[0] >= 0) + float(x[1] > 5)),
    ("int of a condition", lambda x: x * (int(x[0] > 0.5) + 2)),
    ("int of a number", lambda x: x * int(x[2] * 3)),
    ("numpy's integer", lambda x: x * np.int64(x[2] > 0) + np.int32(x[2])),
    ("numpy's number of a condition", lambda x: x * np.float64(x[0] > 0)),
    ("numpy's boolean", lambda x: x if np.bool_(x[0] > 0) else -x),
    ("complex of a condition", lambda x: x * complex(x[0] > 0).real),
    ("item", lambda x: x * (x > 0.5).sum().item() + (x > 0.5).item(1)),
    ("an array of integers", lambda x: x * TABLE[np.argsort(x)]),
    ("an array of conditions", lambda x: x.sum() * TABLE[:3][x > 0.5]),
    ("rows and columns", lambda x: x * GRID[np.argmax(x), np.argsort(-x)]),
    ("into a plain array of counts", lambda x: x * counted(x)),
    ("an index", lambda x: x * TABLE[operator.index(np.argmin(x))]),
    ("round", lambda x: x * round(x[2] * 3)),
    ("floor", lambda x: x * (math.floor(x[2]) + math.ceil(x[0]) + math.trunc(x[1]))),
]


@functools.singledispatch
def by_class(x):
    return np.sum(np.asarray(x))


@by_class.register
def _(x: np.ndarray):
    return np.prod(x)


@by_class.register
def _(x: float):
    return 7 * x


class ByClass:
    @functools.singledispatchmethod
    def area(self, x):
        return by_class(x)

    @area.register
    def _(self, x: np.floating):
        return x * x


def matched(x):
    match x[0], x:
        case int(), _:
            return x
        case float(), np.ndarray():
            return 2 * x


#: Python and libraries choose by an argument's class.
CLASSES: list[Any] = [
    ("a function of an array", by_class),
    ("a function of a number", lambda x: by_class(x[0]) * by_class(2.5)),
    ("a method", lambda x: ByClass().area(x[0]) + ByClass().area(x)),
    ("a pattern", matched),
    ("a number", lambda x: x * isinstance(x[0], numbers.Real) + isinstance(x, numbers.Number)),
    ("an array", lambda x: x * (2 if isinstance(x, np.ndarray) else 3)),
    ("NumPy's own function", lambda x: polynomial.polyvalfromroots(x, x[::-1] * 0.5)),
    ("at least two axes", lambda x: np.array(x, ndmin=2) + np.array(x[0], ndmin=3)),
]
CASES += CLASSES


def by_text(x):
    seen: dict[str, Any] = {}
    for value in x:
        seen.setdefault(f"{value:.1f}", value)
    return sum(seen.values()) * len(seen) * len(str(x))


def counted_by_value(x):
    counts = collections.Counter(x.tolist())
    return x * max(counts.values()) + len({*x}) + counts[x[0]]


def by_value(x):
    return {True: x, False: -x}[x[0] > 0.5] * {0: 2, 1: 3}.get(np.argmax(x), 5)  # type: ignore[call-overload]


#: Python looks values up by their text and their hash.
LOOKUPS = [("text", by_text), ("counts", counted_by_value), ("values", by_value)]


def counted(x):
    counts = np.zeros(3, int)
    for value in x:
        counts[int(value * 2)] += 1
    return counts


def test_values_and_derivatives_are_those_of_numpy(case, check):
    _, f = case
    check(f, X, order=1)


def test_another_decision_is_another_recording(client):
    def f(x):
        return x * TABLE[np.argsort(x)]

    function = gradwire.function(f, client)
    for x in (X, X[::-1].copy(), X * 2, X[::-1].copy() * 3):
        np.testing.assert_allclose(function(x), x * TABLE[np.argsort(x)])
    assert len(function.recordings) == 2


@pytest.mark.parametrize("f", [f for _, f in LOOKUPS])
def test_lookups_are_those_of_the_values(f, client):
    function = gradwire.function(f, client)
    for x in (X, X[::-1].copy(), np.array([0.3, 0.3, 1.1]), np.array([np.nan, 0.6, 1.0]), X):
        np.testing.assert_allclose(function(x), f(x))


NUMBERS: dict[str, Any] = {
    "float": lambda x: float(x[0]) ** 2 * x,
    "float of a sum": lambda x: float(np.sum(x**2)),
    "float of text": lambda x: x[0] * float("2") * float(3) * float.fromhex("0x1p1"),
    "complex": lambda x: abs(complex(x[0], 2 * x[1])) + complex(x[2]).real,
    "of NumPy's": lambda x: np.float64(x[0]) * np.float64(x) + np.float32(x[1]),
    "complex of NumPy's": lambda x: np.complex128(x[0]).conj() * (1 + 2j),
    "by name": lambda x: float64(x[1]) * x.astype(float64),
    "item": lambda x: x[0].item() * x[1:].item(1) * x.reshape(3, 1).item((1, 0)),
    "as dtypes": lambda x: x.astype(float) * np.zeros(3, dtype=float) + float(x[0]),
    "asked for": lambda x: float(x[0]) if isinstance(float(x[1]), float) else x,
    "compared": lambda x: float(x[1]) * x if {kind: 1}.get(float) and kind in (int, float) else x,
    "mapped": lambda x: sum(map(float, x[:2])) + math.sin(float(x[0])) + max(map(float, x)),
    "called elsewhere": lambda x: as_float(x[1]) * 2.0,
}  # fmt: skip


class_of: Any = type
is_a: Any = isinstance


class Box:
    def __init__(self, value):
        self.value = value

    def twice(self):
        return type(self)(2 * self.value)


def filled(x):
    made, number = np.zeros(3), float(x[1])
    made[0] = number
    return made * x if type(made) in (list, np.ndarray) else x


BY_CLASSES: dict[str, Any] = {
    "by is": lambda x: 2 * x if type(x) is np.ndarray else x,
    "not by is": lambda x: 2 * x if type(x) is not list else x,
    "by equality": lambda x: 2 * x if type(x) == np.ndarray else x,  # noqa: E721
    "in a tuple": lambda x: 2 * x if type(x[0]) in (int, np.float64) else x,
    "of numbers": lambda x: 2 * x if type(x[0].item()) in (int, float) else x,
    "of Python's": lambda x: sum(2 * v for v in x.tolist() if type(v) is float),
    "of a comparison": lambda x: 2 * x if type(x[0] > 0) is np.bool_ else x,
    "by name": lambda x: 2 * x if type(x).__name__ == "ndarray" else x,
    "as a key": lambda x: {np.ndarray: 2.0}.get(type(x), 1.0) * x,
    "in a set": lambda x: 2 * x if {type(v) for v in x} == {np.float64} else x,
    "as a subclass": lambda x: 2 * x if issubclass(type(x), np.ndarray) else x,
    "mapped": lambda x: 2 * x if [*map(type, [x, 1])] == [np.ndarray, int] else x,
    "by another name": lambda x: 2 * x if class_of(x) is np.ndarray else x,
    "of an attribute": lambda x: Box(x).twice().value if type(Box(x).value) is np.ndarray else x,
    "of classes": lambda x: 2 * x if type(type("T", (), {})) is type(type) is type else x,
    "of an array that is filled": filled,
    "as an instance": lambda x: 2 * x if isinstance(x[0], np.floating | list) else x,
    "as text": lambda x: {repr(v): v for v in (x, x**2, x[0])}[repr(x**2)],
    "by another name, as an instance": lambda x: x if is_a(x[0], collections.abc.Sized) else 2 * x,
}  # fmt: skip


@pytest.mark.parametrize("name", BY_CLASSES)
def test_values_have_the_class_that_they_have_without_a_recording(name, check):
    check(BY_CLASSES[name], X, order=1)
    assert not {"type", "isinstance"} & {*globals()}


VALUES: dict[str, Any] = {
    "an array": lambda x: x,
    "a number of NumPy's": lambda x: x[0],
    "a number of Python's": lambda x: x[0].item(),
    "a comparison": lambda x: x > 0,
    "an integer": np.argmax,
}
KINDS = [
    # ByteString warns of itself, and is no more in Python 3.14.
    *[getattr(collections.abc, name) for name in {*collections.abc.__all__} - {"ByteString"}],
    *[getattr(numbers, name) for name in numbers.__all__],
    *[getattr(typing, name) for name in typing.__all__ if name.startswith("Supports")],
]
MEMBERS = sorted({*dir(np.ndarray), *dir(float), *dir(int), "aval", "_trace"} - {"mT"})


@pytest.mark.parametrize("value", VALUES)
def test_values_are_what_they_are_without_a_recording(value, client):
    """By all abstract classes of Python, and by all names of members."""

    def asked(x):
        found = VALUES[value](x)
        return (
            [float(isinstance(found, kind)) for kind in KINDS],
            [float(hasattr(found, name)) for name in MEMBERS],
            [float(getattr(found, name, None) is None) for name in ("__len__", "aval", "columns")],
        )

    kinds, members, missing = gradwire.function(asked, client)(X)
    plain_kinds, plain_members, plain_missing = asked(X)
    wrong = [kind for kind, a, b in zip(KINDS, kinds, plain_kinds, strict=True) if a != b]
    wrong += [name for name, a, b in zip(MEMBERS, members, plain_members, strict=True) if a != b]
    assert (wrong, missing) == ([], plain_missing)


def test_an_argument_without_axes_is_an_array_and_no_number(client):
    def f(x):
        return x * 2 if isinstance(x, float) else x * 3 if isinstance(x, np.ndarray) else x * 5

    function = gradwire.function(f, client)
    numbers: list[Any] = [1.5, np.float64(1.5), np.array(1.5), np.float32(1.5), np.float16(1.5)]
    for number in (*numbers, *numbers[::-1]):
        assert function(number) == f(number)


TRUTHS: dict[str, Any] = {
    "all": lambda x: np.all(x > 0) is np.True_,
    "any": lambda x: (x > 0.5).any() is np.True_ and (x > 0).any() is not True,
    "not": lambda x: np.logical_not(x[0] > 0.5) is np.False_,
    "allclose": lambda x: np.allclose(x, X) is True,
    "array_equal": lambda x: np.array_equal(x, X) is False,
    "array_equiv": lambda x: np.array_equiv(x, X) is True,
    "isnan": lambda x: np.isnan(x[0]) is np.False_ and math.isnan(x[1]) is False,
    "a comparison": lambda x: (x[0] > 0.5) is np.True_ and (x[0] > 0.5) is not True,
    "an index": lambda x: [2.0, 5.0][x[0].item() > 0.5] > 2,
    "named": lambda x: (found := x[0].item() > 0.5) is True or found is not False,
}  # fmt: skip


@pytest.mark.parametrize("name", TRUTHS)
def test_truths_are_the_objects_that_they_are_without_a_recording(name, client):
    def f(x):
        return x * (2.0 if TRUTHS[name](x) else 3.0)

    function = gradwire.function(f, client)
    for x in (X, X * 3, -X, X * np.nan, X):
        np.testing.assert_array_equal(function(x), f(x))


@pytest.mark.parametrize("truth", [True, False])
@pytest.mark.parametrize("compare", [operator.lt, operator.ge, operator.eq, operator.ne])
def test_comparisons_of_python_s_numbers_are_true_or_false(compare, truth, client):
    def f(x):
        is_true, is_not = compare(x, 1.0) is True, compare(x * 2, 2) is not False
        return x * (2 + is_true + 5 * is_not) if compare(x, 1.0) is truth else -x

    function = gradwire.function(f, client)
    for x in (0.5, 1.0, 2.0, 0.25):
        assert function(x) == f(x)


kind = float


def as_float(value):
    return float(value)


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_with_derivatives_stay_in_the_program(name, check, client):
    check(NUMBERS[name], X, order=1, rtol=1e-5)
    function = gradwire.function(NUMBERS[name], client)
    for x in (X, X * 0.9):
        np.testing.assert_allclose(function(x), NUMBERS[name](x), rtol=1e-6)
    assert len(function.recordings) == 1


def test_a_number_that_is_needed_as_text_is_decided(client):
    def f(x):
        return float(f"{float(x[0]):.1f}") * x

    function = gradwire.function(f, client)
    for x in (X, X * 2, X * 1.01):
        np.testing.assert_allclose(function(x), f(x))
    assert len(function.recordings) == 2


def test_python_rounds_its_own_numbers(client):
    f = client.function(lambda x, y: (round(x, 2), round(float(y[0]), 2), round(y[0], 2)))
    for x in (2.675, 1.005, 2.665):
        y = np.array([x])
        assert f(x, y) == (round(x, 2), round(x, 2), round(y[0], 2))


def test_classes_that_are_compared_by_identity_stay(client):
    for f in (
        lambda x: float(x) if kind is float else x,
        lambda x: kind(x) if float is kind else x,
    ):
        with pytest.raises(gradwire.NotTraceable):
            gradwire.function(f, client)(2.0)


def test_only_one_element_is_a_number(client):
    for f in (float, np.ndarray.item, lambda x: float(x * 1j)):
        with pytest.raises((TypeError, ValueError)):
            gradwire.function(f, client)(X)
