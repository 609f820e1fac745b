"""The requests whose cost is measured: each a family of programs that differ in a constant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from peers.workloads import ROSENBROCK
from programs import random_case
from servers import JSON, http_request
from wire.forms import MESSAGEPACK, to_json, to_messagepack


class Workload(NamedTuple):
    """Gradients of a family of programs, one for each seed; each request has ``examples``."""

    document: Callable[[int], Mapping[str, Any]]
    media_type: str
    examples: int = 1
    #: Programs whose stages are measured, and later requests to each.
    programs: int = 100
    later: int = 10

    def body(self, seed: int) -> bytes:
        """The body of the request for the program of this seed."""
        write = to_json if self.media_type == JSON else to_messagepack
        return write(self.document(seed))

    def request(self, seed: int) -> bytes:
        """The whole request."""
        return http_request("/v1/gradient", self.body(seed), media_type=self.media_type)


def rosenbrock(size: int, examples: int = 1) -> Callable[[int], Mapping[str, Any]]:
    """Rosenbrock's function of ``size`` numbers, for one point or a batch."""
    shape = (size,) if examples == 1 else (examples, size)
    x = np.random.default_rng(0).normal(size=shape)
    batch: Mapping[str, Any] = {} if examples == 1 else {"batch": ["x"]}

    def document(seed: int) -> Mapping[str, Any]:
        text = ROSENBROCK.replace("100.0", f"{100 + seed * 1e-9:.9f}")
        return {"program": text, "variables": {"x": x}, **batch}

    return document


def operations(count: int) -> Callable[[int], Mapping[str, Any]]:
    """Random programs of ``count`` operations on numbers and arrays of 20 numbers."""

    def document(seed: int) -> Mapping[str, Any]:
        text, variables = random_case(count)(seed)
        return {
            "program": text,
            "variables": {k: np.asarray(v.value).tolist() for k, v in variables.items()},
        }

    return document


#: Those whose programs the fleet of the simulation serves, and all whose cost is reported.
SMALL, MEDIUM = "10 numbers, JSON", "100 operations, JSON"
WORKLOADS: Mapping[str, Workload] = {
    SMALL: Workload(rosenbrock(10), JSON),
    "10 numbers, MessagePack": Workload(rosenbrock(10), MESSAGEPACK),
    "1,000 numbers, JSON": Workload(rosenbrock(1_000), JSON),
    "1,000 numbers, MessagePack": Workload(rosenbrock(1_000), MESSAGEPACK),
    "100,000 numbers, JSON": Workload(rosenbrock(100_000), JSON, 1, 8, 6),
    "100,000 numbers, MessagePack": Workload(rosenbrock(100_000), MESSAGEPACK, 1, 16, 6),
    "1,000 points of 10 numbers, JSON": Workload(rosenbrock(10, 1_000), JSON, 1_000, 20),
    "1,000 points of 10 numbers, MessagePack": Workload(
        rosenbrock(10, 1_000), MESSAGEPACK, 1_000, 20
    ),
    "100 points of 1,000 numbers, MessagePack": Workload(
        rosenbrock(1_000, 100), MESSAGEPACK, 100, 16, 6
    ),
    MEDIUM: Workload(operations(100), JSON),
}
