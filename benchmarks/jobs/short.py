"""A short optimisation, beside some single gradients, and beside a long one in one process."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import perf_counter, sleep

import gradwire
import numpy as np
from measure import Figures, Row, compared, interleave, shown, table
from peers.by_hand import Array
from peers.workloads import ROSENBROCK
from servers import GRADWIRE, running

GRADIENTS = 30

#: A run that is long, as the service finds out in its first seconds.
LONG_SECONDS, _FOUND_SECONDS = 20.0, 3.0

_BESIDE = "Short optimisations while one of {:g} s runs, with GRADWIRE_JOB_PROCESSES=1, ms"
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
    beside = beside_a_long_one(20)
    figures = [["20 short ones", shown(median(beside)), shown(max(beside))]]
    return [
        compared(_TITLE.format(GRADIENTS), f"{GRADIENTS} gradients", rows),
        table(_BESIDE.format(LONG_SECONDS), ["", "p50", "max"], figures),
    ]


def beside_a_long_one(count: int) -> Figures:
    """The milliseconds of some short runs on a service whose only place has a long one."""
    settings = {"GRADWIRE_JOB_PROCESSES": "1"}
    with running(GRADWIRE, environment=settings) as server, gradwire.Client(server.url) as client:
        optimise = optimising(client)
        optimise(0)
        long = client.minimize(
            "sum(x * x)",
            {"x": [1.0, 2.0]},
            method="sgd",
            options={"learning_rate": 1e-12, "maxiter": 10**9},
            max_seconds=LONG_SECONDS,
            background=True,
        )
        sleep(_FOUND_SECONDS)
        found = [optimise(number) for number in range(count)]
        long.delete()
        return found


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
