"""The documentation of computations."""

from __future__ import annotations

from typing import Any

from gradwire_engine.answer import Kind

from gradwire_service.openapi.operations import computation
from gradwire_service.openapi.requests import REQUESTS, ExplainRequest
from gradwire_service.openapi.responses import RESPONSES, ExplainResponse


def _of_kind(kind: Kind, summary: str, description: str) -> dict[str, Any]:
    return computation(kind, summary, description, REQUESTS[kind], RESPONSES[kind])


OPERATIONS: dict[Kind, dict[str, Any]] = {
    "evaluate": _of_kind("evaluate", "Evaluate a program", "Run a program and return outputs."),
    "gradient": _of_kind(
        "gradient",
        "Differentiate a program",
        "Run a program and return its value and its gradients with respect to the sources, "
        "in exactly their structure.",
    ),
    "jacobian": _of_kind(
        "jacobian",
        "Jacobians",
        "Derivatives of each element of the target, which is one array, with respect to each "
        "element of the sources, in one replay, by rows or by columns.",
    ),
    "hessian": _of_kind(
        "hessian",
        "Hessian",
        "Second derivatives of the target (of the sum of its elements) with respect to each "
        "pair of sources, and its gradients.",
    ),
    "jvp": _of_kind(
        "jvp",
        "Derivative along tangents",
        "The product of the target's Jacobians with tangents, in forward mode.",
    ),
    "hvp": _of_kind(
        "hvp",
        "Derivative of the gradient along vectors",
        "The product of the Hessian with vectors, without the Hessian.",
    ),
    "check": _of_kind(
        "check",
        "Check a gradient",
        "The gradient beside central differences of the target, of fourth order.",
    ),
}
EXPLAIN_OPERATION = computation(
    "explain",
    "Explain a query",
    "The instructions that answer it, with their costs, and the program as a graph: each node with "
    "its value and with the derivative of the target with respect to it.",
    ExplainRequest,
    ExplainResponse,
)
