"""What a user of the SDK does, with closed forms: ``python sdk_session.py URL``.

It runs with the SDK of any version, and imports nothing else of this repository.
"""

import sys

import gradwire
import numpy as np
import pytest
from numpy.testing import assert_allclose

X = np.array([0.5, -1.0, 2.0])


def of_programs(client: gradwire.Client) -> None:
    """Text, stored programs, structures, matrices, tapes."""
    found = client.gradient("y = sum(sin(x) * a)", {"x": X, "a": 2.0}, sources={"of": ["x", "a"]})
    assert_allclose(found.value, 2 * np.sin(X).sum())
    assert_allclose(found.gradients["of"][0], 2 * np.cos(X))
    assert_allclose(found.gradients["of"][1], np.sin(X).sum())
    assert_allclose(client.hessian("sum(x ** 3)", {"x": X}, sources="x").hessian, np.diag(6 * X))
    program = client.programs.register("sum(x ** 3)", name="cubes")
    assert_allclose(client.gradient(program, {"x": X}).gradients["x"], 3 * X**2)
    with client.tape("y = sum(x ** 2)", {"x": X}, persistent=True) as tape:
        assert_allclose(tape.gradient(target="y", sources="x").gradients, 2 * X)


def of_functions(client: gradwire.Client) -> None:
    """Recorded functions with structures and control flow."""

    def loss(parameters, x):
        y = np.tanh(x * parameters["w"]) + parameters["b"]
        return np.sum(y**2) if x[0] > 0 else np.sum(y)

    parameters = {"w": 0.3, "b": np.ones(3)}
    value, gradient = client.value_and_grad(loss)(parameters, X)
    y = np.tanh(0.3 * X) + 1
    assert_allclose(value, (y**2).sum())
    assert_allclose(gradient["b"], 2 * y)
    assert_allclose(gradient["w"], (2 * y * X / np.cosh(0.3 * X) ** 2).sum())


def of_resources(client: gradwire.Client) -> None:
    """Tensors, optimisations, jobs, errors."""
    stored = client.tensors.put(X)
    assert_allclose(client.gradient("sum(x ** 2)", {"x": stored}).gradients["x"], 2 * X)
    found = client.minimize("sum((x - 1) ** 2)", {"x": X})
    assert_allclose(found.x["x"], 1.0, atol=1e-5)
    job = client.minimize("sum((x - 1) ** 2)", {"x": X}, background=True)
    assert_allclose(job.result().x["x"], 1.0, atol=1e-5)
    with pytest.raises(gradwire.GradwireError, match="never closed"):
        client.gradient("sum(x", {"x": X})


def main(url: str) -> None:
    """Ask the service at ``url``."""
    with gradwire.Client(url) as client:
        for ask in of_programs, of_functions, of_resources:
            ask(client)


if __name__ == "__main__":
    main(*sys.argv[1:])
