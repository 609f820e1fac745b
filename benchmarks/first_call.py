"""The time of the first call of a new program, and of its phases."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from itertools import pairwise
from statistics import median
from time import thread_time
from typing import Any
from unittest.mock import patch

from gradwire_engine import Engine
from gradwire_engine.answer import Query
from gradwire_engine.backends.walk.backend import NumpyBackend
from gradwire_engine.compile import derivatives, query
from measure import Row, compared, interleave, shown, table
from programs import (
    Case,
    Maker,
    chain,
    mixture,
    mlp,
    random_case,
    rosenbrock,
    runge_kutta,
    scalar_terms,
    unrolled_gru,
)

#: The kinds of programs, and the maximum for each in milliseconds.
CASES: dict[str, tuple[Maker, float | None]] = {
    "Rosenbrock": (rosenbrock, 5.0),
    "mixture likelihood": (mixture, 5.0),
    "perceptron loss": (mlp, 5.0),
    "random, 30 nodes": (random_case(30), 5.0),
    "random, 100 nodes": (random_case(100), 5.0),
    "Runge-Kutta, 1,028 scalar nodes": (runge_kutta, 25.0),
    "299 scalar expressions in a list": (scalar_terms, None),
    "GRU, 50 unrolled steps": (unrolled_gru, None),
    "random scalar, 1,000 nodes": (random_case(1000, scalar=True), 25.0),
    "chain, 1,000 nodes": (chain(1_000), None),
    "chain, 10,000 nodes": (chain(10_000), None),
}
PHASES = ("parse", "look up", "record", "differentiate", "optimise", "lower", "replay")
#: The phases of a compilation; the rest is recording.
INNER = {
    "differentiate": (derivatives, "pullback"),
    "optimise": (query, "optimize"),
    "lower": (NumpyBackend, "compile"),
}

Seconds = dict[str, float]


def report(*, quick: bool) -> list[str]:
    """First calls compared with Python's compilation of the same text, and their phases."""
    rounds = 5 if quick else 15
    spent: dict[str, list[Seconds]] = {name: [] for name in CASES}
    measurements: list[Callable[[int], float]] = []
    for name, (maker, _) in CASES.items():
        first_call(maker(1_000))  # one-time initialisation happens here
        measurements += _timed_engine(maker, spent[name]), _timed_python(maker)
    figures = interleave(rounds, *measurements)
    totals = dict(zip(CASES, figures[::2], strict=True))
    rows = [
        Row.of(name, totals[name], reference, "ms", figure_bar=bar)
        for (name, (_, bar)), reference in zip(CASES.items(), figures[1::2], strict=True)
    ]
    phases = [
        [name, *(shown(1e3 * median(seconds[phase] for seconds in found)) for phase in PHASES)]
        for name, found in spent.items()
    ]
    return [
        compared("First call, CPU: new program to its gradient", "Python's compile", rows),
        table("First call by phase, ms CPU", ["", *PHASES], phases),
        compared("First call, CPU per node", "of 1,000", [_growth(totals)]),
    ]


def first_call(case: Case) -> Seconds:
    """Run a new program once; returns the CPU seconds of each phase."""
    spent = dict.fromkeys(PHASES, 0.0)
    engine = Engine()
    with ExitStack() as patches:
        for phase, (module, name) in INNER.items():
            function = _accounted(getattr(module, name), phase, spent)
            patches.enter_context(patch.object(module, name, function))
        moments = [thread_time()]
        program = engine.parse(case.text)
        moments.append(thread_time())
        call = engine.call(program, case.variables, Query("gradient"))
        moments.append(thread_time())
        call.compile(_go_on)
        moments.append(thread_time())
        call.replay(_go_on)
        moments.append(thread_time())
    took = [after - before for before, after in pairwise(moments)]
    spent["parse"], spent["look up"], compiling, spent["replay"] = took
    spent["record"] = compiling - sum(spent[phase] for phase in INNER)
    return spent


def _accounted(function: Callable[..., Any], phase: str, spent: Seconds) -> Callable[..., Any]:
    def call(*arguments: Any, **options: Any) -> Any:
        start = thread_time()
        try:
            return function(*arguments, **options)
        finally:
            spent[phase] += thread_time() - start

    return call


def _timed_engine(maker: Maker, spent: list[Seconds]) -> Callable[[int], float]:
    def measure(seed: int) -> float:
        spent.append(first_call(maker(seed)))
        return 1e3 * sum(spent[-1].values())

    return measure


def _timed_python(maker: Maker) -> Callable[[int], float]:
    def measure(seed: int) -> float:
        text = maker(seed).text
        start = thread_time()
        compile(text, "<program>", "exec")
        return 1e3 * (thread_time() - start)

    return measure


def _growth(totals: dict[str, list[float]]) -> Row:
    """The time per node of a long chain compared with a short one."""
    short = [milliseconds / 1.0 for milliseconds in totals["chain, 1,000 nodes"]]
    long = [milliseconds / 10.0 for milliseconds in totals["chain, 10,000 nodes"]]
    return Row.of("chain, 10,000 nodes", long, short, "us/node", ratio_bar=2.0)


def _go_on() -> None:
    """A deadline that never passes."""
