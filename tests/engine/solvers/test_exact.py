"""Exact runs: one request has the same bits each time, with machine code and without."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf
from gradwire_engine.errors import InputError, Place
from gradwire_solvers import (
    METHODS,
    Constraint,
    LocalProblem,
    Minibatch,
    Specification,
    solve,
)

from tests.effort import some
from tests.engine.solvers.classics import CLASSICS, Classic

#: Runs of one request: machine code is there from the third evaluation on.
RUNS = 6
#: Steps of a run, few enough for all methods over all problems.
STEPS = 8
CASES = [
    (kind, method, name)
    for name, classic in CLASSICS.items()
    for kind, methods in METHODS.items()
    if kind != "root" or classic.is_square
    for method, takes in methods.items()
    if takes.repeats
]


def options_of(kind: str, method: str) -> dict[str, Any]:
    """Options that end a run soon."""
    takes = METHODS[kind][method].options  # type: ignore[index]
    limits = [name for name in ("maxiter", "max_nfev", "maxfev", "maxfun") if name in takes]
    first_order = {"learning_rate": 1e-3} if "learning_rate" in takes else {}
    return {**dict.fromkeys(limits[:1], STEPS), **first_order}


def end_of(
    engine: Engine, kind: Any, method: str, classic: Classic, *, exact: bool, **further: Any
) -> bytes:
    """The bits of a run: of its solution, its value and its history."""
    text = classic.text
    if kind == "minimize":
        *before, last = text.split("\n")
        text = "\n".join([*before, f"r = {last}", "sum(r * r)"])
    leaves = {"x": Leaf(np.asarray(classic.start))} | {
        name: Leaf(np.asarray(value), trainable=False) for name, value in classic.data.items()
    }
    problem = LocalProblem(
        engine,
        engine.parse(text),
        leaves,
        of_residuals=kind == "least_squares",
        exact=exact,
    )
    specification = Specification(kind, method, options_of(kind, method), **further)
    found = solve(problem, specification, clock=perf_counter)
    history = {name: column for name, column in found.history.items() if name != "seconds"}
    arrays = [found.solution["x"], found.value, found.gradient_norm, *history.values()]
    return b"".join(np.asarray(array).tobytes() for array in arrays)


@pytest.fixture(scope="module")
def engines():
    """An engine that waits for machine code, and one that has none."""
    backend = pytest.importorskip("gradwire_engine.backends.llvm.backend")
    return Engine(backend=backend.NativeBackend()), Engine()


@pytest.mark.parametrize(("kind", "method", "name"), some(CASES))
def test_exact_runs_have_the_same_bits_always(engines, kind, method, name):
    quick, plain = engines
    ends = set()
    for _ in range(RUNS):
        end_of(quick, kind, method, CLASSICS[name], exact=False)
        ends.add(end_of(quick, kind, method, CLASSICS[name], exact=True))
    ends.add(end_of(plain, kind, method, CLASSICS[name], exact=True))
    assert len(ends) == 1


FURTHER: dict[str, tuple[str, dict[str, Any]]] = {
    "bounds": ("L-BFGS-B", {"bounds": {"x": (-0.1, 2.0)}}),
    "a constraint of another program": (
        "SLSQP",
        {"constraints": [Constraint("sum(exp(-x * x) * x)", None, None, 1.5)]},
    ),
    "a constraint of an intermediate": (
        "trust-constr",
        {"constraints": [Constraint(None, "r", -9.0, None)]},
    ),
    "minibatches": ("adam", {"minibatch": Minibatch(4, ["t", "y"], 1)}),
}


@pytest.mark.parametrize("name", ["Biggs", "Gaussian"])
@pytest.mark.parametrize("what", FURTHER)
def test_so_have_runs_with_more_than_an_objective(engines, what, name):
    method, further = FURTHER[what]
    quick, plain = engines
    asked = "minimize", method, CLASSICS[name]
    ends = {end_of(plain, *asked, exact=True, **further)}
    for _ in range(RUNS):
        end_of(quick, *asked, exact=False, **further)
        ends.add(end_of(quick, *asked, exact=True, **further))
    assert len(ends) == 1


@pytest.mark.thorough
def test_runs_that_are_not_exact_have_other_bits(engines):
    """Else the test above would compare what is equal anyway."""
    quick, _ = engines
    differ = [
        end_of(quick, "minimize", "BFGS", classic, exact=False)
        != end_of(quick, "minimize", "BFGS", classic, exact=True)
        for classic in CLASSICS.values()
    ]
    assert sum(differ) > len(differ) / 3


def test_a_method_that_does_not_repeat_itself_has_no_exact_runs(engines):
    with pytest.raises(InputError, match="trust-krylov has no exact runs") as refused:
        end_of(engines[1], "minimize", "trust-krylov", CLASSICS["Biggs"], exact=True)
    assert refused.value.at == Place(pointer="/exact")
