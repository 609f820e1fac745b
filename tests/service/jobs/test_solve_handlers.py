"""Optimisations from the bytes of a request to those of its answer, with progress between them."""

import json
from typing import Any

import numpy as np
import pytest
from gradwire_service.cluster.cluster import open_cluster
from gradwire_service.computations.redirects import Redirects
from gradwire_service.engines import open_engines
from gradwire_service.jobs.solve_handlers import ProgressSender
from gradwire_service.problems import ProblemDetails
from gradwire_service.references import ReferenceResolver
from gradwire_service.scheduling import Deadline
from gradwire_service.settings import Settings
from gradwire_service.store import policies
from gradwire_service.store.memory import MemoryStore
from gradwire_service.tapes.stored import Tapes
from gradwire_service.tasks.messages import Task, TaskFailed
from gradwire_service.tasks.registry import Tasks, execute
from gradwire_service.wire.references import References
from gradwire_service.wire.shared import to_bytes, to_shared
from gradwire_solvers import Checkpoint, Evaluations, Progress
from scipy.optimize import rosen

ROSENBROCK = "100*(x[1] - x[0]**2)**2 + (1 - x[0])**2"
DECAY = "a*exp(-b*t) + c - y"
CIRCLE = "[x**2 + y**2 - 4, x - y]"


@pytest.fixture(scope="module")
def tasks():
    settings = Settings(cores=1)
    engines, store = open_engines(settings, isolated=False), MemoryStore(policies(settings))
    resolver = ReferenceResolver(engines, store, settings.local_cache_bytes)
    tapes = Tapes(engines, store, resolver, settings.tape_values_bytes)
    return Tasks(engines, resolver, tapes, open_cluster(settings, engines), Redirects(settings))


@pytest.fixture
def solve(tasks):
    """Run a task; the answer's document, or the problem."""

    def run(kind, document, *, checkpoint=b"", on_progress=lambda _: None, deadline_ms=60_000):
        body = to_shared([json.dumps(document).encode()])
        task = Task(kind, (), {}, "", Deadline(deadline_ms), body, checkpoint)
        done = execute(task, tasks, Settings(cores=1), lambda _: None, on_progress)
        if isinstance(done, TaskFailed):
            assert done.trace is None, done.trace
            return done.problem
        return json.loads(bytes(to_bytes(done.body)))

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
    assert isinstance(problem, ProblemDetails)
    assert (problem.code, problem.pointer) == ("invalid_request", "/method")
    assert problem.hint == "did you mean L-BFGS-B?"
    assert problem.status == 422


def test_errors_in_evaluations_have_their_places(solve):
    document = {"program": "y = x - 3\nsum(log(y))", "variables": {"x": [4, 1]}}
    problem = solve("minimize", document)
    assert (problem.code, problem.node.line) == ("domain_error", 2)
    constraints = [{"program": "sum(x)\nx @ ones(3)", "low": 0}]
    document = {"program": "sum(x*x)", "variables": {"x": [4, 1]}, "method": "SLSQP"}
    problem = solve("minimize", document | {"constraints": constraints})
    assert (problem.code, problem.pointer) == ("shape_mismatch", "/constraints/0/program")
    assert problem.node.line == 2


def test_progress_is_reported_and_a_checkpoint_goes_on(solve, monkeypatch):
    monkeypatch.setattr("gradwire_service.jobs.solve_handlers.PROGRESS_SECONDS", 0)
    monkeypatch.setattr("gradwire_service.jobs.solve_handlers.CHECKPOINT_SECONDS", 0)
    messages: list[Any] = []
    document = {"program": ROSENBROCK, "variables": {"x": [-1.2, 1]}, "method": "adam"}
    document["options"] = {"learning_rate": 0.01, "maxiter": 50}
    whole = solve("minimize", document, on_progress=messages.append)
    progress = [json.loads(message.progress) for message in messages]
    assert [each["iteration"] for each in progress] == list(range(1, 51))
    assert progress[-1]["value"] == whole["value"]
    assert progress[0].keys() == {
        "iteration",
        "value",
        "gradient_norm",
        "seconds",
        "rate",
        "seconds_left",
    }
    after = solve("minimize", document, checkpoint=messages[30].checkpoint)
    assert after["solution"] == whole["solution"]
    assert after["history"]["value"] == whole["history"]["value"]


def test_reports_are_rare():
    now = 0.0
    sent: list[Any] = []
    sender = ProgressSender(sent.append, References(), lambda: now)
    for i in range(1000):
        now = i / 100
        progress = Progress(i, 1.0, float("nan"), now, 100.0, None)
        sender.report(progress, lambda: Checkpoint(np.zeros(1), 0, Evaluations(), 0.0, {}))
    sender.finish()
    assert len(sent) == pytest.approx(100, abs=10)
    assert sum(message.checkpoint is not None for message in sent) == 4
    last = json.loads(sent[-1].progress)
    assert (last["iteration"], last["gradient_norm"]) == (999, None)


def test_a_deadline_ends_a_run(solve):
    document = {"program": ROSENBROCK, "variables": {"x": [-1.2, 1]}, "method": "adam"}
    document["options"] = {"maxiter": 10**9}
    problem = solve("minimize", document, deadline_ms=300)
    assert problem.code == "deadline_exceeded"


def test_encodings(solve):
    document = {"program": "sum((x-1)**2)", "variables": {"x": [4, 1]}, "encoding": "base64"}
    answer = solve("minimize", document)
    assert answer["solution"]["x"].keys() == {"dtype", "shape", "base64"}
    assert isinstance(answer["value"], float)
    assert isinstance(answer["history"]["value"], list)
