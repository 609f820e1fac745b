"""Hessians beside NumPy by hand, batches beside one point, networks beside their value."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from time import thread_time
from typing import Any

import numpy as np
from gradwire_engine import Call, Engine, Leaf, Query
from measure import Row, compared, interleave
from peers.by_hand import hessian
from peers.workloads import HESSIAN
from programs import runge_kutta
from threadpoolctl import threadpool_limits

_DIMENSIONS, _POINTS = 50, 1000
#: The layers of a network, and the points at which it is differentiated by both of its inputs.
_LAYERS, _EXAMPLES = (2, 50, 50, 50, 1), 10_000
_NETWORK = "u = tanh(tanh(tanh(x @ w0) @ w1) @ w2) @ w3\n"
_LAPLACIAN = "g = grad(sum(u), x)\nr = grad(sum(g[:, 0]), x)[:, 0] + grad(sum(g[:, 1]), x)[:, 1]\n"
#: What is asked of the network, the sources, and the bar on the ratio to its value.
_OF_NETWORKS: dict[str, tuple[str, str | list[str], float]] = {
    "first derivatives by inputs": ("sum(u)", "x", 3.5),
    "the Laplacian by inputs": (_LAPLACIAN + "sum(r)", [], 6.0),
    "a Laplacian's gradient in the weights": (
        _LAPLACIAN + "mean((r + u[:, 0])**2)",
        [f"w{i}" for i in range(len(_LAYERS) - 1)],
        12.0,
    ),
}


def report(*, quick: bool) -> list[str]:
    """A dense Hessian, the gradients of a scalar program at many points, and those of a network."""
    rounds = 9 if quick else 41
    ours, by_hand = interleave(rounds, *_hessian())
    together, alone = interleave(rounds, *_batch())
    rows = [Row.of(f"Hessian, {_DIMENSIONS} dimensions", ours, by_hand, "us", ratio_bar=2.0)]
    what = f"Runge-Kutta, {_POINTS:,} points at once"
    points = [Row.of(what, together, alone, "us/point", figure_bar=2.5)]
    return [
        compared("Replay of a Hessian, CPU", "by hand", rows),
        compared("Replay of a batch, value and gradient, CPU", "of one point", points),
        compared("Replay of a network at 10,000 points, CPU", "its value", _networks(rounds)),
    ]


def _hessian() -> tuple[Callable[[int], float], Callable[[int], float]]:
    rng = np.random.default_rng(0)
    a, x = rng.normal(size=(_DIMENSIONS, _DIMENSIONS)), rng.normal(size=_DIMENSIONS)
    call = _call(HESSIAN, {"a": Leaf(a), "x": Leaf(x)}, Query("hessian", sources="x"))
    np.testing.assert_allclose(call.replay(_go_on).derivatives["hessian"], hessian(a, x)[0])
    return _timed(lambda: call.replay(_go_on), 20), _timed(lambda: hessian(a, x), 20)


def _batch() -> tuple[Callable[[int], float], Callable[[int], float]]:
    case, rng = runge_kutta(1), np.random.default_rng(1)
    many = {name: Leaf(1 + rng.uniform(size=_POINTS) / 4) for name in ("u", "v")}
    batch = dict.fromkeys(many, 0)
    together = _call(case.text, case.variables | many, Query("gradient", batch=batch))
    alone = _call(case.text, case.variables, Query("gradient"))
    per_point = _timed(lambda: together.replay(_go_on), 1, _POINTS)
    return per_point, _timed(lambda: alone.replay(_go_on), 10)


def _networks(rounds: int) -> list[Row]:
    rng = np.random.default_rng(2)
    leaves = {"x": Leaf(rng.normal(size=(_EXAMPLES, _LAYERS[0])))}
    for i, shape in enumerate(pairwise(_LAYERS)):
        leaves[f"w{i}"] = Leaf(rng.normal(size=shape) / np.sqrt(shape[0]))
    asked = {"value": ("sum(u)", [], 1.0), **_OF_NETWORKS}
    with threadpool_limits(1):
        calls = [
            _call(
                _NETWORK + text,
                leaves,
                Query("gradient", sources=of) if of else Query("evaluate"),
            )
            for text, of, _ in asked.values()
        ]
        value, *found = interleave(
            rounds, *[_timed(partial(call.replay, _go_on), 1) for call in calls]
        )
    return [
        Row.of(what, figures, value, "us", ratio_bar=bar)
        for (what, (_, _, bar)), figures in zip(_OF_NETWORKS.items(), found, strict=True)
    ]


def _call(text: str, variables: dict[str, Leaf], query: Query) -> Call:
    engine = Engine()
    call = engine.call(engine.parse(text), variables, query)
    for _ in range(2):  # the second call generates code
        call.replay(_go_on)
    return call


def _timed(work: Callable[[], Any], repeats: int, parts: int = 1) -> Callable[[int], float]:
    """The time of a part of the work in microseconds."""

    def measure(_: int) -> float:
        start = thread_time()
        for _ in range(repeats):
            work()
        return 1e6 * (thread_time() - start) / (repeats * parts)

    return measure


def _go_on() -> None:
    """A deadline that never passes."""
