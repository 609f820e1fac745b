"""The inputs of GradBench's default sizes, with the names that its charts give them.

Random numbers have GradBench's distributions. Its cameras, hands and text are files that are not
here: inputs.py draws others, of the same sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from gradbench.inputs import sample

_SEED = 31337
#: Cameras, points and observations of the bundle adjustments.
_ADJUSTMENTS = [
    (49, 7776, 31843),
    (21, 11315, 36455),
    (161, 48126, 182072),
    (372, 47423, 204472),
    (257, 65132, 225911),
    (539, 65220, 277273),
    (93, 61203, 287451),
    (88, 64298, 383937),
    (810, 88814, 393775),
    (1197, 126327, 563734),
    (1723, 156502, 678718),
    (253, 163691, 899155),
    (245, 198739, 1091386),
    (356, 226730, 1255268),
]
#: Points of the hands, all of which have a mesh of this size.
_HANDS = [100, 192, 200, 400, 800, 1600, 3200, 6400, 12800, 25600, 51200, 100_000]
_VERTICES = 10_000


class Workload(NamedTuple):
    """An input of an evaluation, and the functions that GradBench calls with it."""

    name: str
    functions: tuple[str, ...]
    given: Any


def workloads(evaluation: str) -> Iterator[Workload]:
    """The default inputs of an evaluation, smaller ones first."""
    yield from _WORKLOADS[evaluation]()


def _hello() -> Iterator[Workload]:
    for x in (1.0, 2.0, 8.0, 128.0):
        yield Workload(str(x), ("square", "double"), x)


def _gmm() -> Iterator[Workload]:
    for d, k in sorted(product([2, 10, 20, 32, 64], [5, 10, 25, 50, 100]), key=np.prod):
        draw = np.random.default_rng(_SEED)
        given = {
            "d": d,
            "k": k,
            "n": 1000,
            "x": draw.normal(size=(1000, d)),
            "m": 0,
            "gamma": 1.0,
            "mu": draw.uniform(size=(k, d)),
            "q": draw.normal(size=(k, d)),
            "l": draw.normal(size=(k, d * (d - 1) // 2)),
            "alpha": draw.normal(size=k),
        }
        yield Workload(f"{d}_{k}_1000", ("objective", "jacobian"), _lists(given))


def _ba() -> Iterator[Workload]:
    for number, (n, m, p) in enumerate(_ADJUSTMENTS, 1):
        given = sample("ba", _SEED, n=n, m=m, p=p)
        yield Workload(f"ba{number}_n{n}_m{m}_p{p}", ("objective", "jacobian"), given)


def _lstm() -> Iterator[Workload]:
    width = 14
    draw = np.random.default_rng(_SEED)
    text = draw.integers(2, size=(8192, width)).astype(float)
    for layers, length in sorted(product([2, 4, 6], [1024, 4096, 8192]), key=np.prod):
        given = {
            "main_params": draw.random((2 * layers, 4 * width)),
            "extra_params": draw.random((3, width)),
            "state": draw.random((2 * layers, width)),
            "sequence": text[:length],
        }
        yield Workload(f"l={layers},c={length}", ("objective", "jacobian"), _lists(given))


def _ht() -> Iterator[Workload]:
    for number, points in enumerate(_HANDS, 1):
        given = sample("ht", _SEED, vertices=_VERTICES, points=points)
        yield Workload(f"hand{number}_t26_c{points}", ("objective", "jacobian"), given)


def _kmeans() -> Iterator[Workload]:
    draw = np.random.default_rng(_SEED)
    sizes = product([10, 100, 1000], [1000, 10_000], [8, 16])
    for k, n, d in sorted(sizes, key=np.prod):
        points = draw.random((n, d))
        given = {"points": points, "centroids": points[-k:]}
        yield Workload(f"k={k},n={n},d={d}", ("cost", "dir"), _lists(given))


def _ode() -> Iterator[Workload]:
    draw = np.random.default_rng(_SEED)
    for n, s in sorted(product([1000, 10_000, 100_000], [1, 10, 100]), key=np.prod):
        given = {"x": draw.random(n), "s": s}
        yield Workload(f"n={n},s={s}", ("primal", "gradient"), _lists(given))


def _llsq() -> Iterator[Workload]:
    draw = np.random.default_rng(_SEED)
    for n in (16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8196, 16392):
        given = {"x": draw.random(128), "n": n}
        yield Workload(f"n={n},m=128", ("primal", "gradient"), _lists(given))


def _lse() -> Iterator[Workload]:
    draw = np.random.default_rng(_SEED)
    for n in [2500 * 2**i for i in range(10)]:
        yield Workload(f"n={n}", ("primal", "gradient"), _lists({"x": draw.random(n)}))


def _det() -> Iterator[Workload]:
    draw = np.random.default_rng(_SEED)
    for ell in range(5, 12):
        given = {"A": draw.random(ell * ell), "ell": ell}
        yield Workload(f"{ell}", ("primal", "gradient"), _lists(given))


def _descents(evaluation: str) -> Iterator[Workload]:
    yield Workload("w=0", ("rr", "ff", "fr", "rf"), sample(evaluation))


def _lists(given: dict[str, Any]) -> dict[str, Any]:
    """Arrays as lists of numbers, as they are in JSON."""
    return {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in given.items()
    }


_WORKLOADS: dict[str, Callable[[], Iterator[Workload]]] = {
    "hello": _hello,
    "gmm": _gmm,
    "ba": _ba,
    "lstm": _lstm,
    "ht": _ht,
    "kmeans": _kmeans,
    "ode": _ode,
    "llsq": _llsq,
    "lse": _lse,
    "det": _det,
    "particle": lambda: _descents("particle"),
    "saddle": lambda: _descents("saddle"),
}
