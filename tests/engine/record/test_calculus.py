"""Jacobians and Hessians inside programs, against closed forms and gradients of gradients."""

from __future__ import annotations

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Limits, Query
from gradwire_engine.errors import BadArgument, OverBudget

from tests.engine.conftest import called

X = np.array([0.3, -1.2, 2.0])
A = np.arange(6.0).reshape(2, 3) - 2.5


def evaluate(text: str, **variables: object) -> object:
    engine = Engine()
    leaves = {name: Leaf(np.asarray(value)) for name, value in variables.items()}
    answer = called(engine, text, leaves, "evaluate").replay(lambda: None)
    assert not answer.warnings
    return answer.value


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("y = sin(x)\njacobian(y, x)", np.diag(np.cos(X))),
        ("y = A @ x\njacobian(y, x)", A),
        ("y = A.T @ x[:2]\njacobian(y, x)", np.pad(A.T, ((0, 0), (0, 1)))),
        ("y = x[0] * x\njacobian(y, x)", np.array([[0.6, 0, 0], [-1.2, 0.3, 0], [2.0, 0, 0.3]])),
        ("y = outer(x, x)\njacobian(y, x)[1, 2]", np.array([0.0, 2.0, -1.2])),
        ("y = sum(x * x)\njacobian(y, x)", 2 * X),
        ("s = x[0] * 1\ny = exp(s * x)\njacobian(y, s)", np.exp(0.3 * X) * X),
    ],
)
def test_jacobians_of_closed_form(text, want):
    assert np.asarray(evaluate(text, x=X, A=A)) == pytest.approx(want)


def test_by_rows_and_by_columns_are_the_same():
    wide = evaluate("y = tanh(A @ x)\njacobian(y, x)", x=X, A=A)
    tall = evaluate("y = tanh(A @ x)\njacobian(concatenate([y, y, y]), x)[:2]", x=X, A=A)
    assert np.asarray(tall) == pytest.approx(np.asarray(wide))


def test_nested_sources_give_their_structure():
    value = evaluate("y = x * k\njacobian(y, {'a': x, 'b': [k]})", x=X, k=2.0)
    assert isinstance(value, dict)
    assert value["a"] == pytest.approx(2 * np.eye(3))
    assert value["b"][0] == pytest.approx(X)


def test_a_hessian_is_the_jacobian_of_the_gradient_and_symmetric():
    text = "y = sum(exp(x) * x[0]) + prod(x)\n"
    second = evaluate(text + "hessian(y, x)", x=X)
    assert np.asarray(second) == pytest.approx(np.asarray(second).T)
    by_gradient = evaluate(text + "g = grad(y, x)\njacobian(g, x)", x=X)
    assert np.asarray(second) == pytest.approx(np.asarray(by_gradient))


def test_a_hessian_nests_its_sources_twice():
    value = evaluate("y = k * sum(x * x)\nhessian(y, [x, k])", x=X, k=2.0)
    assert isinstance(value, list)
    (xx, xk), (kx, kk) = value
    assert xx == pytest.approx(4 * np.eye(3))
    assert xk == pytest.approx(2 * X)
    assert kx == pytest.approx(2 * X)
    assert kk == 0.0


def test_of_functions_they_are_functions():
    assert np.asarray(evaluate("jacobian(lambda z: z * z)(x)", x=X)) == pytest.approx(
        np.diag(2 * X)
    )
    cubes = evaluate("def f(z): return sum(z**3)\nhessian(f)(x)", x=X)
    assert np.asarray(cubes) == pytest.approx(np.diag(6 * X))


def test_third_order_by_nesting():
    value = evaluate("y = sum(x**4)\nh = hessian(y, x)\njacobian(h, x)", x=X)
    want = np.zeros((3, 3, 3))
    want[range(3), range(3), range(3)] = 24 * X
    assert np.asarray(value) == pytest.approx(want)


def test_rule_18_too_large_is_refused_with_its_size_before_anything_is_computed():
    engine = Engine(Limits(array_bytes=1 << 20))
    program = engine.parse("y = sin(x)\njacobian(y, x)")
    call = engine.call(program, {"x": Leaf(np.zeros(1000))}, Query("evaluate"))
    with pytest.raises(OverBudget, match="1000 by 1000: 8,000,000 bytes, more than") as caught:
        call.replay(lambda: None)
    assert caught.value.hint


def test_the_source_must_have_a_name():
    with pytest.raises(BadArgument, match="nothing depends on it"):
        evaluate("y = sin(x)\njacobian(y, x[0])", x=X)


def test_products_with_vectors_are_those_with_the_matrices():
    text = "y = tanh(A @ x) * sum(x)\n"
    v = np.array([0.5, -2.0])
    want = evaluate(text + "v @ jacobian(y, x)", x=X, A=A, v=v)
    assert evaluate(text + "vjp(y, x, v)", x=X, A=A, v=v) == pytest.approx(want)
    want = evaluate(text + "hessian(y, x) @ w", x=X, A=A, w=X[::-1])
    assert evaluate(text + "hvp(y, x, w)", x=X, A=A, w=X[::-1]) == pytest.approx(want)
    nested = "y = k * sum(x**3)\nhvp(y, {'x': x, 'k': k}, {'x': w, 'k': 2})"
    got = evaluate(nested, x=X, k=3.0, w=X[::-1])
    assert isinstance(got, dict)
    assert got["x"] == pytest.approx(18 * X * X[::-1] + 6 * X**2)
    assert got["k"] == pytest.approx(3 * np.sum(X**2 * X[::-1]))


def test_as_many_vectors_as_values():
    with pytest.raises(BadArgument, match="1 values, but 2 vectors"):
        evaluate("y = x * x\nvjp(y, x, [x, x])", x=X)
