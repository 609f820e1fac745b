"""The time of an evaluation in an optimisation, compared with its replay and with SciPy alone."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter, thread_time
from typing import Any

import numpy as np
from gradwire_engine import Engine, Leaf, Query
from gradwire_engine.polling import no_deadline
from gradwire_solvers import LocalProblem, Specification, solve
from measure import Row, compared, interleave
from scipy.optimize import minimize, rosen, rosen_der
from threadpoolctl import threadpool_limits

_ROSENBROCK = "sum(100*(x[1:] - x[:-1]**2)**2 + c*(1 - x[:-1])**2)"
_LOGISTIC = "mean(log1p(exp(-y*(X @ w)))) + 1e-4*sum(w*w)"
_OPTIONS = {"maxiter": 200, "ftol": 0.0, "gtol": 0.0}
_REPLAYS = 500


def report(*, quick: bool) -> list[str]:
    """Up to 200 iterations of L-BFGS-B for a function that takes microseconds, and for data."""
    rounds = 3 if quick else 11
    rng = np.random.default_rng(0)
    examples = rng.normal(size=(10_000, 100))
    labels = np.where(examples @ rng.normal(size=100) + rng.normal(size=10_000) > 0, 1.0, -1.0)
    start = np.tile([-1.2, 1.0], 50)
    short = {"x": Leaf(start), "c": Leaf(np.ones(99), False)}
    long = {"w": Leaf(np.zeros(100)), "X": Leaf(examples, False), "y": Leaf(labels, False)}

    def logistic(w: Any) -> tuple[Any, Any]:
        z = np.exp(-labels * (examples @ w))
        slope = examples.T @ (-labels * z / (1 + z)) / labels.size
        return np.log1p(z).mean() + 1e-4 * (w @ w), slope + 2e-4 * w

    with threadpool_limits(1):
        run, hand, replay = interleave(
            rounds,
            _run(_ROSENBROCK, short),
            _by_hand(lambda x: (rosen(x), rosen_der(x)), start),
            _replay(_ROSENBROCK, short),
        )
        added = [one - other for one, other in zip(run, hand, strict=True)]
        data, theirs = interleave(rounds, _run(_LOGISTIC, long), _by_hand(logistic, np.zeros(100)))
    rows = [
        Row.of("Rosenbrock's function, 100", run, hand, "us", figure_bar=150.0),
        Row.of("logistic regression, 10,000 by 100", data, theirs, "us", ratio_bar=1.5),
    ]
    beside = [Row.of("what is added to SciPy's own time", added, replay, "us", figure_bar=60.0)]
    return [
        compared("An evaluation of L-BFGS-B, CPU", "by hand", rows),
        compared("The same, less SciPy's time and its function's", "a replay", beside),
    ]


def _run(text: str, variables: dict[str, Leaf]) -> Callable[[int], float]:
    """The time of an evaluation in a run, compiled before."""
    engine, name = Engine(), next(iter(variables))

    def measure(_: int) -> float:
        problem = LocalProblem(engine, engine.parse(text), variables, [name])
        start = thread_time()
        found = solve(problem, Specification("minimize", "L-BFGS-B", _OPTIONS), clock=perf_counter)
        return 1e6 * (thread_time() - start) / found.evaluations.value

    for number in range(3):
        measure(number)
    return measure


def _by_hand(function: Callable[[Any], Any], start: Any) -> Callable[[int], float]:
    def measure(_: int) -> float:
        began = thread_time()
        found = minimize(function, start, jac=True, method="L-BFGS-B", options=_OPTIONS)
        return 1e6 * (thread_time() - began) / int(found.nfev)

    return measure


def _replay(text: str, variables: dict[str, Leaf]) -> Callable[[int], float]:
    engine, name = Engine(), next(iter(variables))
    call = engine.call(engine.parse(text), variables, Query("gradient", sources=[name]))
    call.replay(no_deadline)

    def measure(_: int) -> float:
        start = thread_time()
        for _ in range(_REPLAYS):
            call.replay(no_deadline)
        return 1e6 * (thread_time() - start) / _REPLAYS

    return measure
