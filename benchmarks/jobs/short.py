"""A short optimisation, beside some single gradients: of a new service, and later."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import gradwire
import numpy as np
from measure import Figures, Row, compared, interleave
from peers.by_hand import Array
from peers.workloads import ROSENBROCK
from servers import GRADWIRE, running

GRADIENTS = 30

_TITLE = "The minimum of Rosenbrock's function of 10 numbers, beside {} single gradients"


def report(*, quick: bool) -> list[str]:
    """The first of a service, which starts a process for it, and later ones."""
    with running(GRADWIRE) as server, gradwire.Client(server.url) as client:
        interleave(4, optimising(client), differentiating(client))
        later, beside = interleave(20 if quick else 50, optimising(client), differentiating(client))
    first, first_beside = _first(2 if quick else 7)
    rows = [
        Row.of("the first of a service", first, first_beside, "ms"),
        Row.of("a later one", later, beside, "ms"),
    ]
    return [compared(_TITLE.format(GRADIENTS), f"{GRADIENTS} gradients", rows)]


def optimising(client: gradwire.Client) -> Callable[[int], float]:
    """The milliseconds of an optimisation from a point of the round, after checking its end."""

    def optimise(number: int) -> float:
        start = _start(number)
        begin = perf_counter()
        found = client.minimize(ROSENBROCK, {"x": start}, progress=False)
        ms = 1e3 * (perf_counter() - begin)
        np.testing.assert_allclose(found.x["x"], 1.0, atol=1e-3)
        return ms

    return optimise


def differentiating(client: gradwire.Client) -> Callable[[int], float]:
    """The milliseconds of gradients one after the other, at points of the round."""

    def differentiate(number: int) -> float:
        start = _start(number)
        begin = perf_counter()
        for step in range(GRADIENTS):
            client.gradient(ROSENBROCK, {"x": start + 1e-3 * step}, sources="x")
        return 1e3 * (perf_counter() - begin)

    return differentiate


def _first(services: int) -> list[Figures]:
    """The first optimisation of each service, and its first gradients."""
    optimised: Figures = []
    differentiated: Figures = []
    for number in range(services):
        with running(GRADWIRE) as server, gradwire.Client(server.url) as client:
            client.programs.list()  # connects
            optimised.append(optimising(client)(number))
            differentiated.append(differentiating(client)(number))
    return [optimised, differentiated]


def _start(number: int) -> Array:
    """Near the place from which Rosenbrock's function is usually minimised."""
    return np.tile([-1.2, 1.0], 5) + 1e-3 * number
