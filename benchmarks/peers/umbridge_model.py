"""Rosenbrock's function as a UM-Bridge model: ``python -m peers.umbridge_model 4242`` serves it.

The configuration sets the number of inputs: ``{"size": 10}``.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import umbridge

from peers.by_hand import rosenbrock


class Rosenbrock(umbridge.Model):  # type: ignore[misc]  # the package has no types
    """The protocol needs separate requests for value and gradient."""

    def __init__(self) -> None:
        super().__init__("rosenbrock")

    def get_input_sizes(self, config: dict[str, Any]) -> list[int]:
        return [config["size"]]

    def get_output_sizes(self, config: dict[str, Any]) -> list[int]:
        return [1]

    def supports_evaluate(self) -> bool:
        return True

    def supports_gradient(self) -> bool:
        return True

    def __call__(self, parameters: list[list[float]], config: dict[str, Any]) -> list[list[float]]:
        value, _ = rosenbrock(np.array(parameters[0]))
        return [[float(value)]]

    def gradient(
        self,
        out_wrt: int,
        in_wrt: int,
        parameters: list[list[float]],
        sens: list[float],
        config: dict[str, Any],
    ) -> list[float]:
        _, gradient = rosenbrock(np.array(parameters[0]))
        found: list[float] = (sens[0] * gradient).tolist()
        return found


if __name__ == "__main__":
    umbridge.serve_models([Rosenbrock()], int(sys.argv[1]))
