"""Optimisations from the bytes of a request to those of its answer, with progress between them."""

import json

import numpy as np
import pytest
from gradwire_service.engines import open_engines
from gradwire_service.problems import Problem
from gradwire_service.references import ReferenceResolver
from gradwire_service.scheduling import Deadline
from gradwire_service.settings import Settings
from gradwire_service.store import policies
from gradwire_service.store.memory import MemoryStore
from gradwire_service.tapes import Tapes
from gradwire_service.wire.shared import packed, unpacked
from gradwire_service.work.messages import Task, TaskFailed
from gradwire_service.work.tasks import Tasks, execute
from scipy.optimize import rosen

ROSENBROCK = "100*(x[1] - x[0]**2)**2 + (1 - x[0])**2"
DECAY = "a*exp(-b*t) + c - y"
CIRCLE = "[x**2 + y**2 - 4, x - y]"


@pytest.fixture(scope="module")
def tasks():
    settings = Settings(cores=1)
    engines, store = open_engines(settings, isolated=False), MemoryStore(policies(settings))
    resolver = ReferenceResolver(engines, store, settings.local_cache_bytes)
    return Tasks(engines, resolver, Tapes(engines, store, resolver, settings.tape_values_bytes))


@pytest.fixture
def solve(tasks):
    """Run a task; the answer's document, or the problem."""

    def run(kind, document, *, checkpoint=b"", on_progress=lambda _: None, deadline_ms=60_000):
        body = packed([json.dumps(document).encode()])
        task = Task(kind, (), {}, "", Deadline(deadline_ms), body, checkpoint)
        done = execute(task, tasks, Settings(cores=1), lambda _: None, on_progress)
        if isinstance(done, TaskFailed):
            assert done.trace is None, done.trace
            return done.problem
        return json.loads(bytes(unpacked(done.body)))

    return run


def test_a_minimum_comes_with_its_history(solve):
    answer = solve("minimize", {"program": ROSENBROCK, "variables": {"x": [-1.2, 1]}})
    assert answer["success"]
    np.testing.assert_allclose(answer["solution"]["x"], [1, 1], atol=1e-4)
    assert answer["value"] == pytest.approx(rosen(answer["solution"]["x"]), abs=1e-12)
    assert answer["program"].startswith("sha256:")
    history = answer["history"]
    assert history["iteration"] == list(range(answer["iterations"] + 1))
    assert history["value"][0] == rosen([-1.2, 1])
    assert history["value"][-1] == answer["value"]
    assert history["seconds"] == sorted(history["seconds"])
    assert answer["evaluations"]["gradient"] > answer["iterations"]


def test_adam_makes_as_many_steps_as_it_may(solve):
    options = {"learning_rate": 0.1, "maxiter": 300}
    document = {"program": "sum((w - 3)**2)", "variables": {"w": [0, 1, 2]}, "method": "adam"}
    answer = solve("minimize", document | {"options": options})
    assert answer["iterations"] == 300
    np.testing.assert_allclose(answer["solution"]["w"], 3, atol=1e-2)


def test_least_squares_and_roots(solve):
    t = np.linspace(0, 1, 30)
    values = {"a": 1, "b": 1, "c": 0, "t": t.tolist(), "y": (2 * np.exp(-3 * t) + 0.5).tolist()}
    document = {"program": DECAY, "variables": values, "sources": ["a", "b", "c"]}
    answer = solve("least_squares", document)
    np.testing.assert_allclose(answer["solution"], [2, 3, 0.5], rtol=1e-6)
    answer = solve("root", {"program": CIRCLE, "variables": {"x": 1, "y": 0.5}})
    np.testing.assert_allclose([*answer["solution"].values()], np.sqrt(2), rtol=1e-9)
    np.testing.assert_allclose(answer["value"], 0, atol=1e-9)


def test_a_refusal_points_into_the_request(solve):
    document = {"program": ROSENBROCK, "variables": {"x": [-1.2, 1]}, "method": "LBFGS-B"}
    problem = solve("minimize", document)
    assert isinstance(problem, Problem)
    assert (problem.code, problem.pointer) == ("invalid_request", "/method")
    assert problem.hint == "did you mean L-BFGS-B?"
