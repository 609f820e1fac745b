"""Example requests and their answers, for the published schema."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from gradwire_engine.answer import Kind
from gradwire_solvers import SolveKind


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
            program="y = x**3",
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

EXPLAIN = {
    "product": _example(
        "The instructions of a gradient, and the graph of its values and adjoints",
        program="s = sin(x)\ny = w * s",
        variables={"x": 0.5, "w": 2.0},
        sources=["x"],
    ),
}
SOLVE: dict[SolveKind, dict[str, Any]] = {
    "minimize": {
        "rosenbrock": _example(
            "The minimum of Rosenbrock's function",
            program="(1 - x)**2 + 100 * (y - x**2)**2",
            variables={"x": -1.2, "y": 1.0},
        ),
    },
    "least_squares": {
        "decay": _example(
            "A decay fitted to measurements",
            program="a * exp(-b * t) - y",
            variables={"a": 1.0, "b": 1.0, "t": [0, 1, 2, 3], "y": [2.0, 1.21, 0.74, 0.45]},
            sources=["a", "b"],
        ),
    },
    "root": {
        "circle": _example(
            "Where a circle and a parabola meet",
            program="stack([x**2 + y**2 - 1, y - x**2])",
            variables={"x": 1.0, "y": 1.0},
        ),
    },
}
_PROGRAM = "h = tanh(x @ w)\nloss = mean((h - y)**2)"
_TENSOR = {"dtype": "float32", "shape": [2], "base64": "AAAAAAAAgD8="}
#: Queries of a tape that records ``TAPE``.
TAPE_REQUESTS: dict[Kind, dict[str, Any]] = {
    "gradient": {"loss": _example("The gradient", target="loss", sources=["w"])},
    "jacobian": {"hidden": _example("Of an intermediate", target="h", sources={"w": "w"})},
    "hessian": {"loss": _example("Second derivatives", target="loss", sources=["w"])},
    "jvp": {"loss": _example("Along a direction", target="loss", tangents={"w": [1.0, 0.0]})},
    "hvp": {"loss": _example("The Hessian times a vector", target="loss", vectors={"w": [1, 0]})},
    "check": {"loss": _example("Is it right?", target="loss", sources=["w"])},
}
TAPE = {
    "layer": _example(
        "A layer, to be asked again and again",
        program=_PROGRAM,
        variables={"x": [[1.0, 2.0], [3.0, 4.0]], "w": [0.1, -0.2], "y": [0.0, 1.0]},
        watch=["w"],
        persistent=True,
    ),
}
PROGRAM = {"named": _example("Under a name", program=_PROGRAM, name="layer")}
TENSOR = {"vector": {"summary": "Two numbers", "value": _TENSOR}}
#: Examples of parameters, by name.
PARAMETERS: dict[str, Any] = {
    "program": "layer",
    "ref": "sha256:e1312eb12ba4ec0a1068af6b4bba7b06b7d43c3c523c5f19b8a188380abdcf35",
    "job": "SPeCCuPZv10H9Uce2Gj5Ls6UlG1dv6fY",
    "Last-Event-ID": 12,
    "tape": "q3vQpGvVx1rJrkn5mYB0hKCPo6xIuTQZ",
    "limit": 100,
    "after": "sha256:" + "0" * 64,
    "type": ["x:float64[2,2]", "w:float64[2]", "y:float64[2]"],
    "target": ["loss"],
    "source": ["w"],
    "X-Request-ID": "training-7.step-120",
    "Content-Encoding": "identity",
    "If-None-Match": 'W/"an-older-tag"',
    "Idempotency-Key": "step-120",
    "Prefer": "respond-async",
    "Gradwire-Timeout-Ms": 5000,
}


def answers() -> dict[str, dict[str, Any]]:
    """The recorded answers of operations, by the names of their examples.

    ``tools/example_answers.py`` records the file from a service.
    """
    file = files(__name__) / "answers.json"
    answered: dict[str, dict[str, Any]] = json.loads(file.read_text("utf-8"))
    return answered
