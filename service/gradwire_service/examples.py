"""Requests that work, shown in the published schema."""

from __future__ import annotations

from typing import Any

from gradwire_engine.answer import Kind


def _example(summary: str, **request: Any) -> dict[str, Any]:
    return {"summary": summary, "value": request}


REQUESTS: dict[Kind, dict[str, Any]] = {
    "evaluate": {
        "text": _example("Source text", program="y = sin(x) + x**2", variables={"x": 1.5}),
        "outputs": _example(
            "Several outputs, nested",
            program="mean = x.mean()\nspread = sqrt(((x - mean)**2).mean())",
            variables={"x": [1, 2, 4, 8]},
            outputs={"moments": ["mean", "spread"]},
        ),
        "graph": _example(
            "A graph",
            program={
                "format": "gradwire/1",
                "nodes": [
                    {"id": "y", "op": "multiply", "args": ["x", {"op": "sin", "args": ["x"]}]}
                ],
                "outputs": "y",
            },
            variables={"x": [0.5, 1.0]},
        ),
    },
    "gradient": {
        "rosenbrock": _example(
            "The gradient of Rosenbrock's function",
            program="(1 - x)**2 + 100 * (y - x**2)**2",
            variables={"x": -1.2, "y": 1.0},
        ),
        "layer": _example(
            "Nested variables: a layer of a network",
            program=("h = tanh(x @ layer.w + layer.b)\nloss = mean((h - y)**2)"),
            variables={
                "layer": {"w": [[0.1, -0.2], [0.3, 0.4]], "b": [0.0, 0.0]},
                "x": {"value": [[1.0, 2.0], [3.0, 4.0]], "trainable": False},
                "y": {"value": [[0.0, 1.0], [1.0, 0.0]], "trainable": False},
            },
            target="loss",
            sources={"layer": {"w": "layer.w", "b": "layer.b"}},
        ),
        "seeded": _example(
            "A vector-Jacobian product, arrays as bytes",
            program="y = exp(x)",
            variables={"x": {"dtype": "float32", "shape": [2], "base64": "AAAAAAAAgD8="}},
            output_gradients=[1, 2],
            encoding="base64",
        ),
    },
    "jacobian": {
        "circle": _example(
            "A vector in a vector",
            program="stack([r * cos(a), r * sin(a)])",
            variables={"r": 2.0, "a": 0.5},
        ),
    },
    "hessian": {
        "rosenbrock": _example(
            "Rosenbrock's function",
            program="(1 - x)**2 + 100 * (y - x**2)**2",
            variables={"x": -1.2, "y": 1.0},
        ),
    },
    "jvp": {
        "path": _example(
            "Along a direction",
            program="sin(x) * y",
            variables={"x": [0.5, 1.0], "y": 2.0},
            tangents={"x": [1.0, -1.0]},
        ),
    },
    "hvp": {
        "newton": _example(
            "The Hessian times a vector",
            program="sum(x**4)",
            variables={"x": [1.0, 2.0]},
            vectors={"x": [1.0, 0.0]},
        ),
    },
    "check": {
        "volume": _example(
            "Is the gradient what differences say?",
            program="log(det(a))",
            variables={"a": [[2.0, 1.0], [0.5, 3.0]]},
        ),
    },
}
