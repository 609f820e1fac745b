"""The times of GradBench's programs: of small inputs, and of default ones beside C++ by hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from time import thread_time
from typing import Any

import numpy as np
from gradwire_engine import Engine
from gradwire_engine.answer import Leaf, Query
from measure import interleave, shown, table
from servers import GRADWIRE, running

from gradbench.inputs import sample
from gradbench.published import HAND_WRITTEN
from gradbench.tools.gradwire.run import NAMES, connected, program, respond, variables
from gradbench.workloads import Workload, workloads

#: The function of each evaluation that computes a derivative.
DERIVATIVES = dict(
    zip(
        NAMES,
        "double jacobian jacobian jacobian jacobian dir "
        "gradient gradient gradient gradient rr rr".split(),
        strict=True,
    )
)
#: Later calls of a function in the service, of which the median counts.
_RUNS = 3


def report(*, quick: bool) -> list[str]:
    """Derivatives of small inputs, then every function at GradBench's default sizes."""
    rounds = 3 if quick else 9
    return [
        table(
            "GradBench's derivatives of small inputs, ms CPU",
            ["", "first call", "later call"],
            [[name, *_medians(name, rounds)] for name in NAMES],
        ),
        table(
            f"GradBench's {'largest' if quick else 'default'} inputs, ms",
            ["", "", "first", "later", "engine CPU", "by hand", "engine / by hand", "transport"],
            [*_rows(quick=quick)],
        ),
    ]


def _rows(*, quick: bool) -> Iterator[Sequence[str]]:
    """First and later requests to a service, which send all data, and the same in the engine.

    What the engine does not take of a later request is transport.
    """
    with running(GRADWIRE) as server, connected(f"http://127.0.0.1:{server.port}") as client:
        for name, times in HAND_WRITTEN.items():
            every = [*workloads(name)]
            for workload in every[-1:] if quick else every:
                given = {**workload.given, "min_runs": 1 + _RUNS}
                for function, by_hand in zip(workload.functions, times[workload.name], strict=True):
                    message = {"module": name, "function": function, "input": given}
                    answer = respond(client, {"kind": "evaluate", **message})
                    if not answer["success"]:
                        raise RuntimeError(f"{name}, {workload.name}: {answer['error']}")
                    first, *later = [each["nanoseconds"] / 1e6 for each in answer["timings"]]
                    found, own = median(later), _in_engine(name, function, workload)
                    yield [
                        f"{name} {workload.name}",
                        function,
                        *[shown(number) for number in (first, found, own, by_hand / 1e3)],
                        shown(1e3 * own / by_hand),
                        f"{max(0.0, 1 - own / found):.0%}",
                    ]


def _in_engine(name: str, function: str, workload: Workload) -> float:
    """The median CPU time of later calls without a service, in milliseconds."""
    engine, given = Engine(), _leaves(variables(workload.given))
    text = program(name, function)
    _milliseconds(engine, text, given, calls=2)
    return median(_milliseconds(engine, text, given, calls=1) for _ in range(_RUNS))


def _medians(name: str, rounds: int) -> list[str]:
    text = program(name, DERIVATIVES[name])
    given = _leaves(variables(sample(name)))
    warm = Engine()
    _milliseconds(warm, text, given, calls=2)  # the second call generates code
    figures = interleave(
        rounds,
        lambda _: _milliseconds(Engine(), text, given, calls=1),
        lambda _: _milliseconds(warm, text, given, calls=10),
    )
    return [shown(median(found)) for found in figures]


def _milliseconds(engine: Engine, text: str, given: dict[str, Any], calls: int) -> float:
    start = thread_time()
    for _ in range(calls):
        engine.call(engine.parse(text), given, Query("evaluate")).replay(_go_on)
    return 1e3 * (thread_time() - start) / calls


def _leaves(nested: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _leaves(value) if isinstance(value, Mapping) else Leaf(np.asarray(value))
        for name, value in nested.items()
    }


def _go_on() -> None:
    """A deadline that never passes."""
