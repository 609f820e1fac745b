"""Rosenbrock's function as a Tesseract: ``tesseract-runtime serve`` finds it by names."""

from __future__ import annotations

from typing import Any

from pydantic import create_model
from tesseract_core.runtime import Array, Differentiable, Float64

from peers.by_hand import rosenbrock

InputSchema = create_model("InputSchema", x=(Differentiable[Array[(None,), Float64]], ...))
OutputSchema = create_model("OutputSchema", value=(Differentiable[Float64], ...))


def apply(inputs: Any) -> Any:
    """The value."""
    value, _ = rosenbrock(inputs.x)
    return OutputSchema(value=value)


def vector_jacobian_product(
    inputs: Any, vjp_inputs: set[str], vjp_outputs: set[str], cotangent_vector: dict[str, Any]
) -> dict[str, Any]:
    """The gradient; together with the value it takes two requests."""
    _, gradient = rosenbrock(inputs.x)
    return {"x": cotangent_vector["value"] * gradient}
