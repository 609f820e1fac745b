"""Many concurrent clients with and without batching: where waiting for a batch pays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import cycle, islice
from statistics import median
from typing import Any

import numpy as np
from measure import Figures, interleave, median_ratio, shown, table
from peers.by_hand import Array
from peers.workloads import ROSENBROCK
from programs import chain, random_case, runge_kutta
from servers import GRADWIRE, Server, http_request, running
from wire.forms import to_json
from wire.loads import at_once

WINDOW_MICROSECONDS = 1000
CONNECTIONS = (16, 64)

_TITLE = "POST /v1/gradient on {} connections, batched within {} us, beside not batched"
_FIGURES = ("req/s", "p50, ms", "p99, ms", "CPU, ms")
_PERCEPTRON = "sum((tanh(tanh(x @ w1 + b1) @ w2 + b2) @ w3 + b3 - y)**2)"
#: Predators and prey, integrated by the classical Runge-Kutta method, and the misfit to data.
_SPECIES = """
def grown(y):
    return r * y * (1.0 - a @ y)

y = start
for step in range(20):
    k1 = grown(y)
    k2 = grown(y + 0.05 * k1)
    k3 = grown(y + 0.05 * k2)
    k4 = grown(y + 0.1 * k3)
    y = y + 0.1 / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
sum((y - seen)**2)
"""


class Clients:
    """A number of clients of a server, each with one request at a time."""

    def __init__(self, server: Server, asked: Sequence[bytes], connections: int) -> None:
        self._server = server
        self._requests = cycle(asked)
        self._connections = connections
        self.figures: dict[str, Figures] = {name: [] for name in _FIGURES}

    def round(self, _: int = 0) -> float:
        """Send the requests; returns the throughput in requests a second."""
        count = 20 * self._connections
        before = self._server.cpu_seconds()
        requests = islice(self._requests, count)
        seconds, latencies = at_once(self._server, requests, self._connections)
        latencies.sort()
        cpu_seconds = (self._server.cpu_seconds() - before) / count
        ms = [1e3 * x for x in (median(latencies), latencies[int(0.99 * count)], cpu_seconds)]
        found = count / seconds, *ms
        for figures, figure in zip(self.figures.values(), found, strict=True):
            figures.append(figure)
        return found[0]


def report(*, quick: bool) -> list[str]:
    """One table per number of connections."""
    window = {"GRADWIRE_BATCH_WINDOW_MICROSECONDS": str(WINDOW_MICROSECONDS)}
    head = ["", *[name for figure in _FIGURES for name in (figure, "ratio")]]
    rounds = 3 if quick else 9
    with running(GRADWIRE, environment=window) as batched, running(GRADWIRE) as plain:
        return [
            table(
                _TITLE.format(connections, WINDOW_MICROSECONDS),
                head,
                [
                    [what, *_row(batched, plain, requests(*made), connections, rounds)]
                    for what, made in problems().items()
                ],
            )
            for connections in CONNECTIONS
        ]


def problems() -> dict[str, tuple[str, Mapping[str, Array]]]:
    """Programs and values of their variables."""
    draw = np.random.default_rng(0).normal
    layers = {"w1": (10, 32), "b1": (32,), "w2": (32, 32), "b2": (32,), "w3": (32, 1), "b3": (1,)}
    weights = {name: 0.2 * draw(size=shape) for name, shape in layers.items()}
    rates = {"r": np.array([1.0, 0.7, 1.5, 1.3]), "a": np.eye(4) + 0.1 * abs(draw(size=(4, 4)))}
    seen = {"start": np.full(4, 0.3), "seen": np.full(4, 0.5)}
    return {
        "Rosenbrock, n = 10": (ROSENBROCK, {"x": draw(size=10)}),
        "perceptron 10-32-32-1": (_PERCEPTRON, {"x": draw(size=10), "y": draw(size=1), **weights}),
        "1,000 operations on numbers": _case(random_case(1000, scalar=True)),
        "Runge-Kutta, 2 numbers": _case(runge_kutta),
        "Runge-Kutta, arrays of 4": (_SPECIES, rates | seen),
        "200 operations on arrays of 10": _case(chain(200)),
    }


def _case(make: Callable[[int], Any]) -> tuple[str, Mapping[str, Array]]:
    text, variables = make(0)
    return text, {name: leaf.value for name, leaf in variables.items()}


def requests(text: str, values: Mapping[str, Array], distinct: int = 64) -> list[bytes]:
    """Requests for a program at points near these values."""
    draw = np.random.default_rng(1).normal

    def document() -> dict[str, Any]:
        near = {name: x + 0.01 * draw(size=np.shape(x)) for name, x in values.items()}
        return {"program": text, "variables": {name: near[name].tolist() for name in near}}

    return [http_request("/v1/gradient", to_json(document())) for _ in range(distinct)]


def _row(
    batched: Server, plain: Server, asked: Sequence[bytes], connections: int, rounds: int
) -> list[str]:
    """The medians of the figures over the rounds, and of the ratios of each round."""
    for _ in range(2):  # the first round compiles, the second one is measured
        ours, theirs = (Clients(server, asked, connections) for server in (batched, plain))
        interleave(rounds, ours.round, theirs.round)
    return [
        cell
        for figures, references in zip(ours.figures.values(), theirs.figures.values(), strict=True)
        for cell in (shown(median(figures)), f"{median_ratio(figures, references):.2f}")
    ]
