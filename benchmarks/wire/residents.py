"""Logistic regression with stored observations, so that requests contain only the weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import orjson
from gradwire_engine import Engine, Leaf, Query
from measure import Row, compared, interleave
from peers import by_hand
from peers.by_hand import Array
from peers.workloads import LOGISTIC, ROSENBROCK, WORKLOADS
from servers import GRADWIRE, Server, http_request, running
from threadpoolctl import threadpool_limits

from wire.forms import in_json, registered, stored, to_json
from wire.loads import Form, load
from wire.sizes import points

_TITLE = "Gradient in the 100 weights of logistic regression on 10,000 observations, JSON"
_REPLAYS = 20


def report(*, quick: bool) -> list[str]:
    """Compared with sending everything, and with the minimum: a replay plus a small request."""
    values = WORKLOADS["logistic, 10,000 x 100"].problem().values
    weights = [np.random.default_rng(seed).normal(size=100) for seed in range(4)]
    with running(GRADWIRE) as server, threadpool_limits(1):
        return [compared(_TITLE, "beside", rows(server, values, weights, 6 if quick else 21))]


def rows(
    server: Server, values: Mapping[str, Array], weights: Sequence[Array], rounds: int
) -> list[Row]:
    """Median latencies with these observations and weights."""
    data = {name: values[name] for name in ("x", "y")}
    refs = {name: stored(server, array) for name, array in data.items()}

    def logistic(w: Array) -> tuple[Any, Any]:
        return by_hand.logistic(**data, w=w)

    resident = load(server, _with(refs), weights, 20, by_hand=logistic)
    sent = load(server, _with(data), weights, 1, by_hand=logistic)
    small = load(server, in_json(registered(server, ROSENBROCK)), points(10, 64), 50)
    held = {name: Leaf(array, resident=refs[name]["ref"]) for name, array in data.items()}
    ours, all_sent, request, replay = interleave(
        rounds, resident.round, sent.round, small.round, _replay_us(held, weights)
    )
    least = [sum(both) for both in zip(request, replay, strict=True)]
    what = "observations resident, beside"
    return [
        Row.of(f"{what} sent", ours, all_sent, "us", ratio_bar=0.05),
        Row.of(f"{what} a replay and a request of 10 numbers", ours, least, "us", ratio_bar=1.3),
    ]


def _with(observations: Mapping[str, Any]) -> Form:
    """Requests with the observations, or with references to them."""

    def write(w: Array) -> list[bytes]:
        variables = {**observations, "w": w}
        document = {"program": LOGISTIC, "variables": variables, "sources": "w"}
        return [http_request("/v1/gradient", to_json(document))]

    def read(bodies: Sequence[bytes]) -> tuple[Any, Any]:
        document = orjson.loads(bodies[0])
        return document["value"], document["gradients"]

    return Form(write, read)


def _replay_us(held: Mapping[str, Leaf], weights: Sequence[Array]) -> Callable[[int], float]:
    """The median replay in this process, in microseconds."""
    engine, query = Engine(), Query("gradient", sources="w")
    program = engine.parse(LOGISTIC)
    points = cycle(weights)

    def round(_: int) -> float:
        spent = []
        for _ in range(_REPLAYS):
            call = engine.call(program, {**held, "w": Leaf(next(points))}, query)
            start = perf_counter()
            call.replay(_go_on)
            spent.append(perf_counter() - start)
        return 1e6 * median(spent)

    round(0)
    return round


def _go_on() -> None:
    """A deadline that never passes."""
