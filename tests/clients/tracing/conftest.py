"""Checks of recorded NumPy functions: values agree with NumPy, derivatives with differences."""

import functools
import operator
from collections.abc import Callable
from typing import Any

import gradwire
import numpy as np
import pytest
from gradwire.tracing.structures import flatten, is_array_like, unflatten

#: The step of the finite differences, whose error is of fourth order.
STEP = 1e-3
#: Weights of five points for the first and for the second derivative.
FIRST = {-2: 1 / 12, -1: -2 / 3, 1: 2 / 3, 2: -1 / 12}
SECOND = {-2: -1 / 12, -1: 4 / 3, 0: -5 / 2, 1: 4 / 3, 2: -1 / 12}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that takes a ``case`` for each of its module's ``CASES``, (name, function, …)."""
    if "case" in metafunc.fixturenames:
        cases = metafunc.module.CASES
        ids = [f"{case[0].replace(' ', '_')}-{i}" for i, case in enumerate(cases)]
        metafunc.parametrize("case", cases, ids=ids)


@pytest.fixture(scope="session")
def check(client) -> Callable[..., None]:
    """Compare a recorded function with NumPy: value, gradient and a second derivative.

    The gradient is taken in all arguments that are float64 or complex128, along a direction. Each
    comparison is one request.
    """
    return functools.partial(_check, client)


def _check(
    client: gradwire.Client, f: Callable[..., Any], *args: Any, rtol: float = 1e-6, order: int = 2
) -> None:
    rng = np.random.default_rng(7)
    chosen = [i for i, arg in enumerate(args) if _is_differentiable(arg)]
    parts, structure = flatten(f(*args), is_array_like)
    weights = [_direction(rng, part) for part in parts]
    directions = [_mapped(functools.partial(_direction, rng), args[i]) for i in chosen]

    def weighed(*args: Any) -> Any:
        found, _ = flatten(f(*args), _is_array)
        terms = [
            np.sum(np.real(np.conj(weight) * part))
            for weight, part in zip(weights, found, strict=True)
            if weight is not None
        ]
        return functools.reduce(operator.add, terms)

    def slope(*args: Any) -> Any:
        return _along(gradwire.grad(weighed, chosen)(*args), directions)

    differentiated = chosen and any(weight is not None for weight in weights)

    known: list[Any] = []

    def everything(*args: Any) -> Any:
        found = [f(*args)]
        known[:] = [(part.shape, part.dtype) for part in flatten(found, _is_array)[0]]
        if differentiated and order > 0:
            found.append(slope(*args))
        if differentiated and order > 1:
            found.append(_along(gradwire.grad(slope, chosen)(*args), directions))
        return found

    def along(t: float) -> float:
        moved = list(args)
        for i, direction in zip(chosen, directions, strict=True):
            moved[i] = _moved(args[i], direction, t)
        return float(weighed(*moved))

    there, *derivatives = gradwire.function(everything, client)(*args)
    given, same = flatten(there, is_array_like)
    assert same == structure
    assert known == [(np.shape(part), np.asarray(part).dtype) for part in parts]
    for one, other in zip(given, parts, strict=True):
        assert (np.shape(one), np.asarray(one).dtype) == (np.shape(other), np.asarray(other).dtype)
        np.testing.assert_allclose(one, other, rtol=_tolerance(other), atol=_tolerance(other))
    for derivative, stencil, power in zip(derivatives, (FIRST, SECOND), (1, 2), strict=False):
        expected = sum(w * along(STEP * k) for k, w in stencil.items()) / STEP**power
        np.testing.assert_allclose(derivative, expected, rtol=rtol, atol=rtol)


def _is_array(part: Any) -> bool:
    return hasattr(part, "__array_ufunc__") or is_array_like(part)


def _is_differentiable(arg: Any) -> bool:
    leaves, _ = flatten(arg, is_array_like)
    return bool(leaves) and all(np.asarray(leaf).dtype.char in "dD" for leaf in leaves)


def _direction(rng: np.random.Generator, like: Any) -> Any:
    array = np.asarray(like)
    if array.dtype.kind not in "fc":
        return None
    drawn = rng.uniform(0.5, 1.0, array.shape) * rng.choice([-1.0, 1.0], array.shape)
    if array.dtype.kind == "c":
        drawn = drawn + 1j * rng.uniform(0.5, 1.0, array.shape)
    return np.asarray(drawn)[()]


def _mapped(function: Callable[[Any], Any], nested: Any) -> Any:
    leaves, structure = flatten(nested, is_array_like)
    return unflatten(structure, iter([function(leaf) for leaf in leaves]))


def _moved(arg: Any, direction: Any, t: float) -> Any:
    leaves, structure = flatten(arg, is_array_like)
    ways, _ = flatten(direction, is_array_like)
    moved = [leaf + t * way for leaf, way in zip(leaves, ways, strict=True)]
    return unflatten(structure, iter(moved))


def _along(gradients: Any, directions: Any) -> Any:
    found, _ = flatten(gradients, _is_array)
    ways, _ = flatten(directions, is_array_like)
    terms = [np.sum(np.real(np.conj(g) * way)) for g, way in zip(found, ways, strict=True)]
    return functools.reduce(operator.add, terms)


def _tolerance(value: Any) -> float:
    dtype = np.asarray(value).dtype
    return 1e-9 if dtype.kind not in "fc" else 1e6 * float(np.finfo(dtype).eps)
