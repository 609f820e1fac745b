"""Whole optimisations and their jobs, from a shell."""

import json
import sys

import pytest
from gradwire.optimization.handles import JobProgress
from gradwire_command import following

VALLEY = "(1 - x)**2 + 100 * (y - x**2)**2"
LONG = ["--method", "adam", "-o", "maxiter=10000000", "-o", "learning_rate=1e-9"]


@pytest.fixture
def job(run):
    """The id of a job that takes minutes."""
    id = run("minimize", VALLEY, "x=-1", "y=1", *LONG, "--background").stdout.strip()
    yield id
    run("jobs", "delete", id)


def test_the_least_value_is_printed(run):
    lines = run("minimize", VALLEY, "x=-1", "y=1").stdout.splitlines()
    assert lines[0].startswith("OptimizeResult fun ")
    assert lines[1].split() == ["parameter", "type", "x"]
    assert lines[2].split()[:2] == ["x", "float64"]
    assert float(lines[2].split()[2]) == pytest.approx(1.0)


def test_json_is_the_result(answer):
    found = answer("minimize", VALLEY, "x=-1", "y=1", "--sources", "y", "--tol", "1e-9")
    assert found["x"] == {"y": pytest.approx(1.0)}
    assert found["success"] is True
    assert found["history"]["value"][-1] == pytest.approx(found["fun"])


def test_exact_runs_are_asked_for(answer):
    first, second = (answer("minimize", VALLEY, "x=-1", "y=1", "--exact") for _ in range(2))
    assert first["x"] == second["x"]


def test_bounds_and_constraints_hold(answer):
    at = ["x=-1", "y=1"]
    found = answer("minimize", VALLEY, *at, "--bounds", "x=[null,0.5]")
    assert found["x"]["x"] == 0.5
    limit = {"program": "x + y", "high": 1}
    options = ["--method", "SLSQP", "--constraint", json.dumps(limit)]
    found = answer("minimize", VALLEY, *at, *options)
    assert found["x"]["x"] + found["x"]["y"] == pytest.approx(1.0)


def test_without_success_the_exit_code_is_1(run):
    result = run("minimize", VALLEY, "x=-1", "y=1", "--option", "maxiter=2", exits=1)
    assert "! no success: " in result.stdout


def test_least_squares_and_roots_are_found(answer):
    found = answer(
        "least-squares", "a - y", "a=0", "y=[1,3]", "--sources", "a", "-o", "loss=linear"
    )
    assert (found["x"], found["cost"]) == ({"a": 2.0}, 1.0)
    found = answer("root", "cos(x) - x", "x=1")
    assert found["x"]["x"] == pytest.approx(0.7390851332)


def test_jobs_are_listed_shown_and_cancelled(run, answer, job):
    (line,) = [line for line in run("jobs", "list").stdout.splitlines() if job in line]
    assert line.split()[1] == "minimize"
    assert job in [each["id"] for each in answer("jobs", "list")]
    assert run("jobs", "show", job).stdout.startswith(f"Job {job}: minimize, ")
    assert answer("jobs", "show", job)["kind"] == "minimize"
    run("jobs", "cancel", job)
    assert answer("jobs", "show", job)["state"] == "cancelled"
    assert "was cancelled" in run("jobs", "watch", job, exits=1).stderr
    assert "Unknown job" in run("jobs", "show", "none", exits=9).stderr


def test_jobs_are_watched_until_their_result(run, answer):
    asked = ["minimize", VALLEY, "x=-1", "y=1", "--method=adam", "-o", "maxiter=300"]
    job = answer(*asked, "--background")["id"]
    watched = run("jobs", "watch", job).stdout
    assert watched.startswith("OptimizeResult fun ")
    assert watched in run("jobs", "show", job).stdout
    run("jobs", "delete", job)
    run("jobs", "show", job, exits=9)


def test_a_time_limit_ends_the_run(run):
    result = run("minimize", VALLEY, "x=-1", "y=1", *LONG, "--timeout", "0.1", exits=1)
    assert "no success" in result.stdout


@pytest.mark.parametrize("word", ["maxiter", "=3", "maxiter={"])
def test_options_have_a_name_and_a_value(run, word):
    code = 4 if word.endswith("{") else 2
    assert word.rpartition("=")[2] in run("minimize", "x**2", "x=1", "-o", word, exits=code).stderr


def test_progress_is_a_bar_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    for name, text in {"FORCE_COLOR": "1", "TERM": "xterm", "COLUMNS": "100"}.items():
        monkeypatch.setenv(name, text)
    with following.following("minimize", 100) as report:
        report(JobProgress(50, 0.25, 0.125, 1.0, 50.0, 1.0))
    shown = capsys.readouterr().err
    assert "iteration 50, value 0.25, gradient 0.125, 50/s" in shown
