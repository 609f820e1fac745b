"""Runs of all methods on all problems, each judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from time import process_time
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from gradwire_engine import Engine
from gradwire_engine.errors import EngineError
from gradwire_solvers import Constraint, LocalProblem, SolveKind, Specification, solve
from threadpoolctl import threadpool_limits

from solvers import hock_applied, hock_few, hock_many, hock_two, judge, more, nist
from solvers.judge import Verdict
from solvers.problems import SOURCE, Array, Problem

#: Seconds of CPU after which a run ends without success.
_MOST_SECONDS = 5.0
Collection: TypeAlias = Literal["more", "squares", "roots", "hock", "nist"]
#: What is run of each collection, by its title.
TITLES: Mapping[Collection, str] = {
    "more": "Moré, Garbow and Hillstrom, minimize",
    "squares": "Moré, Garbow and Hillstrom, least_squares",
    "roots": "Moré, Garbow and Hillstrom, root",
    "hock": "Hock and Schittkowski, minimize",
    "nist": "NIST, least_squares",
}
_KINDS: Mapping[Collection, SolveKind] = {
    "more": "minimize",
    "squares": "least_squares",
    "roots": "root",
    "hock": "minimize",
    "nist": "least_squares",
}
TIGHT = "trf, tight"
_TOLERANCES = {
    "ftol": 1e-15,
    "xtol": 1e-15,
    "gtol": 1e-15,
    "x_scale": "jac",
    "max_nfev": 5000,
}
_SQUARES = ("trf", TIGHT, "dogbox", "lm", "gauss-newton")
_BOUNDED = ("L-BFGS-B", "TNC", "SLSQP", "trust-constr")
METHODS: Mapping[Collection, Sequence[str]] = {
    "more": (
        *("L-BFGS-B", "BFGS", "CG", "TNC", "SLSQP", "trust-constr"),
        *("trust-ncg", "trust-krylov", "trust-exact", "dogleg", "Newton-CG"),
    ),
    "squares": _SQUARES,
    "roots": ("hybr", "lm", "krylov", "broyden1", "df-sane"),
    "hock": _BOUNDED,
    "nist": _SQUARES,
}


class Task(NamedTuple):
    """One method for one problem."""

    collection: Collection
    problem: Problem
    method: str


class Outcome(NamedTuple):
    """A run's end.

    ``value`` is that which is minimised, of residuals the sum of their squares, of roots the
    largest residual. ``gradient`` is the answer's norm of the gradient, projected or of the
    Lagrangian, times ``max(|x|, 1) / max(|value|, 1)``, with the largest element of ``x``. Source:
    Dennis and Schnabel, Numerical Methods for Unconstrained Optimization (1983), 7.2. ``digits``
    are those of the worst certified parameter.
    """

    collection: Collection
    problem: str
    method: str
    verdict: Verdict
    success: bool
    value: float | None
    gradient: float | None
    digits: float | None
    iterations: int
    evaluations: int
    message: str


def problems(collection: Collection) -> Sequence[Problem]:
    """The problems of a collection."""
    if collection == "nist":
        return nist.problems()
    if collection == "hock":
        of = hock_two, hock_few, hock_applied, hock_many
        return [problem for module in of for problem in module.PROBLEMS]
    return [each for each in more.PROBLEMS if each.square or collection != "roots"]


def tasks(*, quick: bool) -> Iterator[Task]:
    """All runs, or of every tenth problem."""
    for collection, methods in METHODS.items():
        for problem in problems(collection)[:: 10 if quick else 1]:
            for method in methods:
                if collection != "hock" or not problem.limits or method in _BOUNDED[2:]:
                    yield Task(collection, problem, method)


def run_all(*, quick: bool) -> list[Outcome]:
    """The outcomes of all tasks, in one engine."""
    engine = Engine()
    with threadpool_limits(1):
        return [run(engine, task) for task in tasks(quick=quick)]


def run(engine: Engine, task: Task) -> Outcome:
    """Run one method on one problem, and judge what it says."""
    collection, problem, method = task
    kind = _KINDS[collection]
    program = engine.parse(problem.text if kind != "minimize" else problem.least)
    options: Mapping[str, Any] = _TOLERANCES if method == TIGHT else {}
    try:
        objective = LocalProblem(
            engine,
            program,
            problem.variables,
            [SOURCE],
            of_residuals=kind != "minimize",
        )
        given = Specification(
            kind,
            "trf" if method == TIGHT else method,
            options,
            bounds={SOURCE: problem.box} if problem.is_bounded else {},
            constraints=[
                Constraint(problem.text_of(each.text), None, each.low, each.high)
                for each in problem.limits
            ],
            max_seconds=_MOST_SECONDS,
        )
        found = solve(objective, given, clock=process_time)
    except EngineError as error:
        message = f"{type(error).__name__}: {error}"
        return Outcome(
            collection, problem.name, method, "refused", False, None, None, None, 0, 0, message
        )
    x = np.ravel(np.asarray(found.solution[0], np.float64))
    return Outcome(
        collection,
        problem.name,
        method,
        *_judged(kind, problem, x, found.value, success=found.success),
        _relative(found.gradient_norm, found.value, x),
        None if problem.parameters is None else round(_digits(problem, x), 1),
        found.iterations,
        found.evaluations.value,
        found.message,
    )


def _judged(
    kind: SolveKind, problem: Problem, x: Array, value: Any, *, success: bool
) -> tuple[Verdict, bool, float]:
    if kind == "root":
        largest = max(float(np.abs(each).max()) for each in _parts(value))
        return judge.of_root(problem, x, success=success), success, largest
    least = float(value) if kind == "minimize" else 2 * float(value)
    return judge.of_minimum(problem, x, least, success=success), success, least


def _parts(value: Any) -> list[Array]:
    return [np.asarray(each) for each in value] if isinstance(value, list | tuple) else [value]


def _relative(norm: float, value: Any, x: Array) -> float:
    size = max((float(np.abs(each).max()) for each in _parts(value)), default=0.0)
    return float(norm * max(float(np.abs(x).max()), 1.0) / max(size, 1.0))


def _digits(problem: Problem, x: Array) -> float:
    return judge.digits(x, np.array(problem.parameters))
