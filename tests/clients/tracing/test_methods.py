import numpy as np
import pytest

W = np.array([0.5, -2.0])


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
