"""Hessians beside NumPy by hand, and batches beside one point."""

from __future__ import annotations

from collections.abc import Callable
from time import thread_time
from typing import Any

import numpy as np
from gradwire_engine import Call, Engine, Leaf, Query
from measure import Row, compared, interleave
from peers.by_hand import hessian
from peers.workloads import HESSIAN
from programs import runge_kutta

_DIMENSIONS, _POINTS = 50, 1000


def report(*, quick: bool) -> list[str]:
    """A dense Hessian, and the gradients of a scalar program at many points."""
    rounds = 9 if quick else 41
    ours, by_hand = interleave(rounds, *_hessian())
    together, alone = interleave(rounds, *_batch())
    rows = [Row.of(f"Hessian, {_DIMENSIONS} dimensions", ours, by_hand, "us", ratio_bar=2.0)]
    what = f"Runge-Kutta, {_POINTS:,} points at once"
    points = [Row.of(what, together, alone, "us/point", figure_bar=2.5)]
    return [
        compared("Replay of a Hessian, CPU", "by hand", rows),
        compared("Replay of a batch, value and gradient, CPU", "of one point", points),
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
