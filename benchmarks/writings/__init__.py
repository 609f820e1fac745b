"""The cost of a program in each of its usual writings, beside the same by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf, prod
from time import perf_counter
from typing import Any

import numpy as np
from gradwire_engine import Engine, Leaf, Query, native
from gradwire_engine.backends.base import Backend
from gradwire_engine.engine import BACKENDS
from measure import Row, compared, interleave, table
from threadpoolctl import threadpool_limits

from writings.objectives import OBJECTIVES, Found, Objective, Values

#: Runs of about so many seconds are one figure.
_SECONDS = 0.02
NUMPY = BACKENDS["numpy"]
#: The bars with machine code: the geometric mean of all ratios; the worst writing by the best.
_MEAN, _CONTRACTIONS, _OTHERS = 0.6, 2.0, 4.0


def report(*, quick: bool) -> list[str]:
    """Each writing beside the objective by hand, on one core, and the worst by the best.

    The bars are those of machine code.
    """
    rounds = 5 if quick else 15
    tables = _tables("NumPy", NUMPY, rounds, barred=False)
    if native.is_available():
        tables += _tables("machine code", native.native_backend(), rounds, barred=True)
    return tables


def _tables(by: str, backend: Backend, rounds: int, *, barred: bool) -> list[str]:
    rows: list[Row] = []
    spreads: list[list[str]] = []
    with threadpool_limits(1):
        for name, objective in OBJECTIVES.items():
            of_one = _compared(name, objective, backend, rounds)
            rows += of_one
            worst = max(of_one, key=lambda row: row.ratio)
            best = min(row.ratio for row in of_one)
            bar = _CONTRACTIONS if objective.contracts else _OTHERS
            cells = _judged(worst.ratio / best, bar, barred=barred)
            spreads.append([name, worst.what.partition(": ")[2], *cells])
    mean = prod(row.ratio for row in rows) ** (1 / len(rows))
    cells = _judged(mean, _MEAN, barred=barred)
    spreads.append(["all, geometric mean beside NumPy", "", *cells])
    head = ["", "worst writing", "by the best", "bar", ""]
    return [
        compared(f"Value and gradient by {by}, in usual writings", "NumPy by hand", rows),
        table(f"What a writing costs by {by}", head, spreads),
    ]


def _judged(ratio: float, bar: float, *, barred: bool) -> list[str]:
    """The cells of a ratio, its bar if it has one, and the verdict."""
    if not barred:
        return [f"{ratio:.2f}", "-", ""]
    return [f"{ratio:.2f}", f"<= {bar:g}", "ok" if ratio <= bar else "over"]


def _compared(name: str, objective: Objective, backend: Backend, rounds: int) -> list[Row]:
    values = objective.values(np.random.default_rng(7))
    expected = objective.by_hand(**values)
    by_hand = _timed(lambda: objective.by_hand(**values))
    found = [
        _timed(written(objective, text, values, expected, backend))
        for text in objective.writings.values()
    ]
    reference, *figures = interleave(rounds, by_hand, *found)
    return [
        Row.of(f"{name}: {writing}", ours, reference, "us")
        for writing, ours in zip(objective.writings, figures, strict=True)
    ]


def written(
    objective: Objective, text: str, values: Values, expected: Found, backend: Backend = NUMPY
) -> Callable[[], Any]:
    """A function that answers one writing, checked and compiled."""
    engine = Engine(backend=backend)
    program = engine.parse(text)
    query = Query("gradient", sources=[*objective.sources])
    leaves = {name: Leaf(value) for name, value in values.items()}

    def run() -> Any:
        return engine.call(program, leaves, query).replay(_go_on)

    for _ in range(3):  # walked, then generated
        check(run(), expected)
    return run


def check(answer: Any, expected: Found) -> None:
    """True if an answer has the value and the gradients that were computed by hand."""
    value, gradients = expected
    np.testing.assert_allclose(answer.value, value, rtol=1e-8)
    found: Mapping[str, Any] = dict(zip(gradients, answer.gradients, strict=True))
    for name, gradient in gradients.items():
        scale = float(np.abs(gradient).max())
        np.testing.assert_allclose(found[name], gradient, rtol=0, atol=1e-7 * scale)


def _timed(run: Callable[[], Any]) -> Callable[[int], float]:
    """Microseconds of a run, of as many as take long enough to be timed."""
    seconds = inf
    for _ in range(3):
        start = perf_counter()
        run()
        seconds = min(seconds, perf_counter() - start)
    times = range(max(1, int(_SECONDS / seconds)))

    def measure(_: int) -> float:
        start = perf_counter()
        for _ in times:
            run()
        return 1e6 * (perf_counter() - start) / len(times)

    return measure


def _go_on() -> None:
    """Nobody waits."""
