"""The measured times of requests, as ``service_times.json`` keeps them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

PATH = Path(__file__).with_name("service_times.json")
#: A program's first request on a replica, its second one, and all after these.
STAGES = ("first", "second", "later")
#: The means of so many equal parts of the sorted sample stand for it: they keep its mean.
_PARTS = 50


class Stage(NamedTuple):
    """CPU seconds of requests: of the process with the event loop, and of worker processes.

    Element i of both is of the same requests.
    """

    front: NDArray[np.float64]
    workers: NDArray[np.float64]

    @property
    def mean(self) -> float:
        """Mean CPU seconds of a request."""
        return float(self.front.mean() + self.workers.mean())


class Measured(NamedTuple):
    """A workload as measured."""

    stages: Mapping[str, Stage]
    request_bytes: int
    answer_bytes: int
    examples: int
    #: Bytes that a replica's cache counts for a program, its entry, and that with its executable.
    program_bytes: int
    entry_bytes: int
    executable_bytes: int

    @property
    def kept_bytes(self) -> tuple[int, int]:
        """Bytes of executables that are kept after a first request, and after a second one.

        What runs on the event loop is compiled there at the second; a worker process compiles at
        the first.
        """
        later = self.stages["later"]
        on_loop = later.workers.mean() < later.front.mean() / 2
        return (self.entry_bytes if on_loop else self.executable_bytes), self.executable_bytes


class Edge(NamedTuple):
    """CPU seconds of nginx and of Redis, by what each did."""

    nginx: Mapping[str, float]
    redis: Mapping[str, float]


class Times(NamedTuple):
    """All measured times."""

    workloads: Mapping[str, Measured]
    edge: Edge


def thinned(front: Sequence[float], workers: Sequence[float]) -> dict[str, list[float]]:
    """Both times of some requests in microseconds, as the means of parts sorted by their sum."""
    both = np.array([front, workers])
    by_sum = both[:, np.argsort(both.sum(axis=0))]
    parts = np.array_split(by_sum, min(_PARTS, by_sum.shape[1]), axis=1)
    means = 1e6 * np.array([part.mean(axis=1) for part in parts])
    return {
        "front_us": [round(float(x), 1) for x in means[:, 0]],
        "workers_us": [round(float(x), 1) for x in means[:, 1]],
    }


def load(path: Path = PATH) -> Times:
    """Read what ``python -m scaling.measure`` wrote."""
    document = json.loads(path.read_text(encoding="utf-8"))
    edge = Edge(*[{k: 1e-6 * v for k, v in document[f"{one}_us"].items()} for one in Edge._fields])
    return Times({name: _measured(one) for name, one in document["workloads"].items()}, edge)


def _measured(one: Mapping[str, Any]) -> Measured:
    stages = {
        name: Stage(*[1e-6 * np.array(one[name][key]) for key in ("front_us", "workers_us")])
        for name in STAGES
    }
    return Measured(
        stages,
        one["request_bytes"],
        one["answer_bytes"],
        one["examples"],
        one["program_bytes"],
        one["entry_bytes"],
        one["executable_bytes"],
    )
