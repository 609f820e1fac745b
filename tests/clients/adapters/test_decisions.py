"""Functions that decide by values, or read what changes, through each adapter."""

from collections.abc import Callable
from typing import Any

import gradwire.adapters.jax
import gradwire.adapters.pytensor
import gradwire.adapters.scipy
import gradwire.adapters.torch
import jax
import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
import torch

#: Of one type; how many are positive, and which is the largest, differs. None is at a jump.
POINTS = [
    np.array(point) + 0.013
    for point in ([1.0, 0.5, 2.0, -1.0], [1, 2, 3, -1.0], [4, 5, 6, 7.0], [-1, -2, 3, 0.5])
]
STATE = {"scale": 1.0, "weights": np.ones(4)}

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "a length": lambda x: np.sum(x[x > 0] ** 2) / len(x[x > 0]),
    "a loop": lambda x: sum((v * i for i, v in enumerate(x[x > 0.7])), np.prod(x)),
    "a condition": lambda x: np.sum(x**2) if x[0] > x[1] else np.prod(x),
    "an integer": lambda x: x[int(np.argmax(x))] ** 2 * int(x[2]),
    "an order": lambda x: np.sum(np.sort(x)[len(x[x > 1]) :] * x[np.argsort(x)[0]]),
    "state": lambda x: np.sum(x * STATE["weights"]) ** 2 * STATE["scale"],
}


def of_torch(f: Any, client: Any) -> Callable[[Any], tuple[Any, Any]]:
    adapted = gradwire.adapters.torch.function(f, client=client)

    def both(x: Any) -> tuple[Any, Any]:
        tensor = torch.tensor(x, requires_grad=True)
        value = adapted(tensor)
        value.backward()
        return value.detach().numpy(), tensor.grad.numpy()

    return both


def of_jax(f: Any, client: Any) -> Callable[[Any], tuple[Any, Any]]:
    return jax.value_and_grad(gradwire.adapters.jax.function(f, client=client))


def of_jit(f: Any, client: Any) -> Callable[[Any], tuple[Any, Any]]:
    return jax.jit(of_jax(f, client))


def of_pytensor(f: Any, client: Any) -> Callable[[Any], tuple[Any, Any]]:
    x = pt.dvector("x")
    value = gradwire.adapters.pytensor.function(f, client=client)(x)
    return pytensor.function([x], [value, pytensor.grad(value, x)], mode="FAST_COMPILE")


def of_scipy(f: Any, client: Any) -> Callable[[Any], tuple[Any, Any]]:
    return gradwire.adapters.scipy.Objective(f, POINTS[0], client=client).fun


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("adapted", [of_torch, of_jax, of_jit, of_pytensor, of_scipy])
def test_answers_are_those_of_these_values(adapted, name, client):
    f = FUNCTIONS[name]
    with jax.enable_x64(True):
        both = adapted(f, client)
        for i, x in enumerate([*POINTS, *POINTS]):
            STATE.update(scale=1.0 + i, weights=np.arange(4.0) + i)
            value, slope = both(x.copy())
            np.testing.assert_allclose(value, f(x), rtol=1e-12, err_msg=str(x))
            expected = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(4)]
            np.testing.assert_allclose(slope, expected, rtol=1e-6, atol=1e-6, err_msg=str(x))
