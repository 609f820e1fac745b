import inspect
from typing import Any, assert_type

import gradwire
import numpy as np
import pytest
from gradwire.call import Call

W = np.array([0.5, -2.0])


def test_on_the_class_a_method_is_the_function_that_builds_the_call():
    call = gradwire.Client.gradient(None, "x * y", {"x": 2, "y": 3}, sources=["x"])
    assert isinstance(call, Call)
    assert (call.method, call.path) == ("POST", "/v1/gradient")
    assert call.document == {
        "program": "x * y",
        "variables": {"x": 2.0, "y": 3.0},
        "sources": ["x"],
    }


def test_a_request_is_the_same_for_a_function_of_the_variables(client):
    f = client.value_and_grad("x * y", sources="x")
    assert f({"x": 2}, y=3) == f(x=2, y=3) == f({"x": 2, "y": 3}) == (6.0, 3.0)
    assert f({"x": 2}, x=4, y=3) == (12.0, 3.0)


def test_a_bound_method_has_the_signature_and_docstring_of_its_function():
    with gradwire.Client() as client:
        assert list(inspect.signature(client.evaluate).parameters)[:2] == ["program", "variables"]
        assert inspect.getdoc(client.gradient) == inspect.getdoc(gradwire.Client.gradient)
        f = client.value_and_grad("x")
        assert list(inspect.signature(f).parameters) == ["variables", "named"]


def cube(w):
    return np.sum(w**3)


def test_client_methods_accept_functions_and_programs(client):
    assert np.allclose(client.grad(cube)(W), 3 * W**2)
    assert np.allclose(client.value_and_grad(cube)(W)[1], 3 * W**2)
    assert np.allclose(client.value_and_grad("sum(w**3)", sources="w")(w=W)[1], 3 * W**2)
    assert np.allclose(
        client.jacobian(cube)(W), client.jacobian("sum(w**3)", {"w": W}).jacobian["w"]
    )
    assert np.allclose(client.hessian(cube)(W), np.diag(6 * W))
    assert client.jvp(cube, (W,), (W,))[1] == pytest.approx(3 * np.sum(W**3))
    assert np.allclose(client.hvp(cube, (W,), (W,))[1][0], 6 * W**2)
    assert np.allclose(client.vjp(cube, (W,), 2.0)[1][0], 6 * W**2)
    assert np.allclose(client.vmap(lambda w: w**2)(W), W**2)
    assert client.function(cube)(W) == pytest.approx(cube(W))


async def test_async_client_methods_accept_functions_and_programs(awaiting_client):
    assert np.allclose(await awaiting_client.grad(cube)(W), 3 * W**2)
    assert np.allclose(await awaiting_client.hessian(cube)(W), np.diag(6 * W))
    _, (product,) = await awaiting_client.hvp(cube, (W,), (W,))
    assert np.allclose(product, 6 * W**2)
    answer = await awaiting_client.jacobian("sum(w**3)", {"w": W})
    assert np.allclose(answer.jacobian["w"], 3 * W**2)


async def types_that_the_checker_sees(
    client: gradwire.Client, other: gradwire.AsyncClient
) -> None:  # never run
    assert_type(client.evaluate("x"), gradwire.Evaluation)
    assert_type(client.gradient("x", {"x": 1}), gradwire.Gradient)
    assert_type(client.jacobian("x", {"x": 1}, mode="forward"), gradwire.Jacobian)
    assert_type(client.hessian("x", {"x": 1}, target="x"), gradwire.Hessian)
    assert_type(client.jvp("x", {"x": 1}, {"x": 1}, outputs=["x"]), gradwire.Jvp)
    assert_type(client.hvp("x", {"x": 1}, {"x": 1}, timeout_ms=10), gradwire.Hvp)
    assert_type(client.explain("x", {"x": 1}, query="hessian"), gradwire.Explanation)
    assert_type(client.value_and_grad("x")({"x": 1}), tuple[Any, Any])
    assert_type(client.with_options(timeout=None), gradwire.Client)
    assert_type(await other.evaluate("x"), gradwire.Evaluation)
    assert_type(await other.explain("x"), gradwire.Explanation)
    assert_type(await other.gradient("x", {"x": 1}), gradwire.Gradient)
    assert_type(await other.hvp("x", {"x": 1}, {"x": 1}), gradwire.Hvp)
    assert_type(await other.value_and_grad("x")(x=1), tuple[Any, Any])
    client.gradient("x", sources=["x", {"y": None}], unconnected_gradients="zero")
    client.explain("x", query="check")  # type: ignore[arg-type]
    client.gradient("x", unconnected_gradients="zeros")  # type: ignore[arg-type]
    client.gradient("x", mode="forward")  # type: ignore[call-arg]
    client.gradient(3)  # type: ignore[arg-type]
