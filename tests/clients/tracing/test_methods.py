"""Recorded functions as methods, decorators with arguments, and cached functions."""

import functools
from typing import Any

import gradwire
import numpy as np
import pytest

X = np.array([1.0, 2.0])


@pytest.fixture
def kind(client):
    """A class with methods of all kinds."""

    class Model:
        scale = 2.0

        def __init__(self, weights: Any) -> None:
            self.weights = np.array(weights)

        @client.function
        def value(self, x):
            return np.sum(self.weights * x**2)

        @gradwire.grad(client=client)
        def slope(self, x):
            return np.sum(self.weights * x**2)

        both = client.value_and_grad(value)
        second = client.hessian(value)

        @staticmethod
        @client.grad
        def cube(x):
            return x**3

        @client.grad
        @staticmethod
        def inside_static(x):
            return x**3

        @client.grad
        @classmethod
        def scaled(cls, x):
            return cls.scale * x**3

        @client.grad
        @functools.lru_cache  # noqa: B019
        def cached(self, x):
            return self.scale * x**3

    return Model


def test_methods_are_bound_to_their_objects(kind):
    for weights in ([1.0, 2.0], [3.0, 4.0]):
        model = kind(weights)
        assert model.value(X) == np.sum(model.weights * X**2)
        np.testing.assert_allclose(model.slope(X), 2 * model.weights * X)
        np.testing.assert_allclose(model.both(X)[1], 2 * model.weights * X)
        np.testing.assert_allclose(model.second(X), np.diag(2 * model.weights))
        assert model.value is model.value


def test_changes_of_an_object_are_seen(kind):
    model = kind([1.0, 2.0])
    assert model.value(X) == 9.0
    model.weights[0] = 10.0
    assert model.value(X) == 18.0
    model.weights = np.zeros(2)
    assert model.value(X) == 0.0


def test_methods_of_classes(kind):
    Other = type("Other", (kind,), {"scale": 5.0})

    owners: list[Any] = [kind, Other]
    for owner in owners:
        holders: list[Any] = [owner, owner(X)]
        for holder in holders:
            assert holder.cube(2.0) == holder.inside_static(2.0) == 12.0
            assert holder.scaled(2.0) == 12.0 * owner.scale
    assert Other(X).cached(2.0) == 60.0


def test_programs_of_text_are_no_methods(client):
    class Model:
        double = gradwire.program("2 * x", "x", client=client)

    assert Model().double(3.0) == 6.0


@functools.lru_cache
def power(x, n):
    return x**n


def test_cached_functions_take_recorded_values(client):
    slope = client.grad(lambda x: power(x, 3) * power(2.0, 2))
    assert slope(2.0) == 48.0
    assert client.grad(functools.lru_cache(lambda x: x * x))(2.0) == 4.0
    assert functools.lru_cache(client.function(lambda x: 2 * x))(3.0) == 6.0
    assert power(2.0, 3) == 8.0


def test_partial_functions_inside_and_around(client):
    def f(a, x):
        return a * x**2

    assert client.grad(functools.partial(f, 3.0))(2.0) == 12.0
    assert functools.partial(client.grad(f), 3.0)(2.0) == 4.0
    assert client.grad(functools.partial(f, x=2.0))(3.0) == 4.0


def test_decorators_take_arguments(client):
    @gradwire.grad(argnums=1, client=client)
    def slope(a, b):
        return a * b**2

    @gradwire.function(client=client)
    def plain(a):
        return 2 * a

    assert plain(2.0) == 4.0

    @gradwire.vmap(in_axes=(None, 0), client=client)
    def rows(a, b):
        return a * b

    assert slope(2.0, 3.0) == 12.0
    np.testing.assert_allclose(rows(2.0, X), 2 * X)


def test_matrices_by_coordinates(client):
    def f(x):
        return x[1:] * x[:-1] ** 2

    def total(x):
        return f(x).sum()

    x = np.arange(1.0, 5.0)
    for sparse, dense, of in (
        (client.jacobian(f, format="coo"), client.jacobian(f), x),
        (client.hessian(total, format="coo"), client.hessian(total), x),
    ):
        found = sparse(of)
        assert isinstance(found, gradwire.SparseArray)
        assert len(found.values) < found.shape[0] * found.shape[1]
        np.testing.assert_allclose(found.toarray(), dense(of))
    nested = gradwire.jacobian(lambda p: p["a"] * p["b"], format="coo", client=client)(
        {"a": x, "b": x}
    )
    np.testing.assert_allclose(nested["b"].toarray(), np.diag(x))


@pytest.mark.parametrize("transform", ["grad", "jacobian", "hessian", "vmap"])
def test_other_arguments_are_refused(transform):
    with pytest.raises(gradwire.UsageError, match="argnum"):
        getattr(gradwire, transform)(np.sin, argnum=1)
    with pytest.raises(gradwire.UsageError, match="format"):
        gradwire.jacobian(np.sin, format="csr")  # type: ignore[call-overload]
