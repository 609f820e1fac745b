"""Optimisations of programs that tests give as text, with plain values."""

from time import perf_counter
from typing import Any

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf
from gradwire_solvers import LocalProblem, Specification, default_method, solve

from tests.engine.conftest import leaf


def pointer_to(refused: Any) -> Any:
    """The field of the request that a refusal points to."""
    return refused.value.at.pointer


_HOW = ("resume", "report", "poll", "clock")


@pytest.fixture(scope="session")
def engine():
    return Engine()


@pytest.fixture
def problem(engine):
    """The objective that a text and plain values are."""

    def make(text, variables, sources=None, target=None, **further):
        leaves = {name: leaf(value) for name, value in variables.items()}
        return LocalProblem(engine, engine.parse(text), leaves, sources, target, **further)

    return make


@pytest.fixture
def run(problem):
    """Run a method on them; what else is given is for the run, and then for the specification."""

    def run(kind, text, variables, method=None, sources=None, target=None, **given):
        how = {name: given.pop(name) for name in _HOW if name in given}
        promotion = given.pop("promotion", "numpy")
        objective = problem(
            text,
            variables,
            sources,
            target,
            of_residuals=kind == "least_squares",
            promotion=promotion,
        )
        specification = Specification(kind, method or default_method(kind), **given)
        return solve(objective, specification, **{"clock": perf_counter, **how})

    return run


@pytest.fixture
def data():
    """Values that are no sources."""
    return lambda value: Leaf(np.asarray(value), trainable=False)
