"""The time of value and gradient by that of the value, over programs as people write them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import median, quantiles
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from gradwire_engine import Engine, Leaf, Query, native
from gradwire_engine.backends.base import Backend
from gradwire_engine.engine import BACKENDS
from measure import Row, compared, interleave, table
from threadpoolctl import threadpool_limits
from writings.objectives import OBJECTIVES

from derivatives.programs import PROGRAMS

#: Runs of about so many seconds are one figure.
_SECONDS = 0.02
#: The bars with machine code: the median of all ratios, the 90th percentile, the largest.
_BARS = {"median": 2.2, "90th percentile": 3.5, "largest": 6.0}
#: So many rows with the largest ratios are printed.
_SHOWN = 25


class Question(NamedTuple):
    """A program, its variables, and those that it is differentiated by."""

    name: str
    text: str
    values: Mapping[str, Any]
    sources: Sequence[str]


def questions() -> Iterator[Question]:
    """All programs, and all writings of objectives."""
    for name, program in PROGRAMS.items():
        values = program.values(np.random.default_rng(7))
        floating = [name for name, value in values.items() if value.dtype.kind == "f"]
        sources = [name for name in floating if name not in program.held]
        yield Question(name, program.text, values, sources)
    for name, objective in OBJECTIVES.items():
        values = objective.values(np.random.default_rng(7))
        for writing, text in objective.writings.items():
            yield Question(f"{name}: {writing}", text, values, objective.sources)


def report(*, quick: bool) -> list[str]:
    """The largest ratios, and how all are distributed, on one core; bars are of machine code."""
    rounds = 5 if quick else 15
    tables = _tables("NumPy", BACKENDS["numpy"], rounds, barred=False)
    if native.is_available():
        tables += _tables("machine code", native.native_backend(), rounds, barred=True)
    return tables


def _tables(by: str, backend: Backend, rounds: int, *, barred: bool) -> list[str]:
    with threadpool_limits(1):
        rows = [_compared(question, backend, rounds) for question in questions()]
    ratios = [row.ratio for row in rows]
    figures = median(ratios), quantiles(ratios, n=10)[-1], max(ratios)
    cells = [
        [f"{what}, of {len(rows)}", f"{ratio:.2f}", *([f"<= {bar:g}"] if barred else ["-"])]
        for (what, bar), ratio in zip(_BARS.items(), figures, strict=True)
    ]
    largest = sorted(rows, key=lambda row: -row.ratio)[:_SHOWN]
    return [
        compared(f"Value and gradient by {by}: the largest ratios", "value alone", largest),
        table(f"Value and gradient by the value alone, by {by}", ["", "ratio", "bar"], cells),
    ]


def _compared(question: Question, backend: Backend, rounds: int) -> Row:
    engine = Engine(backend=backend)
    program = engine.parse(question.text)
    leaves = {name: Leaf(value) for name, value in question.values.items()}

    def asked(query: Query) -> Callable[[int], float]:
        return _timed(lambda: engine.call(program, leaves, query).replay(_go_on))

    gradient = asked(Query("gradient", sources=[*question.sources]))
    figures, references = interleave(rounds, gradient, asked(Query("evaluate")))
    return Row.of(question.name, figures, references, "us")


def _timed(run: Callable[[], Any]) -> Callable[[int], float]:
    """Microseconds of a run, of as many as take long enough to be timed."""
    for _ in range(4):  # recorded, walked, then compiled
        run()
    start = perf_counter()
    run()
    times = range(max(1, int(_SECONDS / (perf_counter() - start))))

    def measure(_: int) -> float:
        start = perf_counter()
        for _ in times:
            run()
        return 1e6 * (perf_counter() - start) / len(times)

    return measure


def _go_on() -> None:
    """Nobody waits."""
