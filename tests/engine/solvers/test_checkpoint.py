"""Checkpoints: bytes and back, and runs of SciPy's methods that go on from one."""

from collections import deque

import numpy as np
import pytest
from gradwire_engine.errors import InternalError
from gradwire_solvers import METHODS, Checkpoint, Evaluations
from gradwire_solvers.progress import History
from numpy.testing import assert_allclose, assert_array_equal, assert_equal

ROSENBROCK = "100*(x[1] - x[0]**2)**2 + (1 - x[0])**2"
START = {"x": np.array([0.6, 0.3])}


def test_checkpoints_are_bytes_without_pickles():
    history = {"iteration": np.arange(3), "value": np.array([1.0, np.inf, 3])}
    state = {"m": np.arange(4.0), "tr_radius": 0.5}
    given = Checkpoint(np.arange(2.0), 7, Evaluations(9, 8, 3), 1.5, history, state)
    written = bytes(given)
    assert b"pickle" not in written
    read = Checkpoint.read(written)
    assert (read.iterations, read.evaluations, read.seconds) == (7, Evaluations(9, 8, 3), 1.5)
    assert_array_equal(read.x, given.x)
    assert_equal(dict(read.history), history)
    assert_equal(dict(read.state), state)


def test_brief_checkpoint_has_all_but_most_of_the_history():
    history = History()
    for iteration in range(700):
        history.add(iteration, 1 / (1 + iteration), 0.5, float(iteration))
    given = Checkpoint(np.arange(2.0), 699, Evaluations(9), 1.5, history.kept(), {"step": 0.25})
    written = given.brief()
    assert len(written) < len(bytes(given)) / 5
    read = Checkpoint.read(written)
    assert (read.x.tolist(), read.state) == ([0.0, 1.0], {"step": 0.25})
    assert (read.iterations, read.evaluations, read.seconds) == (699, Evaluations(9), 1.5)
    assert read.history["iteration"].tolist() == list(range(0, 700, 16))
    on = History(read.history)
    on.add(700, 0.5, 0.5, 700.0)
    on.add(704, 0.25, 0.5, 704.0)
    assert on.columns()["iteration"].tolist() == list(range(0, 705, 16))
    assert on.columns()["value"][-2:].tolist() == [1 / 689, 0.25]


@pytest.mark.parametrize("method", [*METHODS["minimize"]])
def test_a_run_goes_on_and_counts_on(run, method):
    further = {"learning_rate": 1e-3} if METHODS["minimize"][method].first_order else {}
    kept: deque[bytes] = deque(maxlen=3)

    def report(progress, checkpoint):
        kept.append(bytes(checkpoint()))

    whole = run("minimize", ROSENBROCK, START, method, options=further, report=report)
    resume = Checkpoint.read(kept[0])
    assert 0 < resume.iterations <= whole.iterations
    after = run("minimize", ROSENBROCK, START, method, options=further, resume=resume)
    assert after.success is whole.success
    assert after.value <= whole.value + 1e-4
    assert after.iterations >= resume.iterations
    assert after.evaluations.value > resume.evaluations.value
    assert after.history["iteration"][0] == 0
    assert after.history["seconds"][-1] >= resume.seconds


@pytest.mark.parametrize(
    ("kind", "text", "method"),
    [
        *(("minimize", "relu(x)", method) for method in ("L-BFGS-B", "BFGS", "TNC", "trust-ncg")),
        ("minimize", "1/(1 + exp(-x))", "SLSQP"),
        *(("least_squares", "exp(-x)", method) for method in ("lm", "gauss-newton")),
        *(("root", text, "lm") for text in ("exp(-x)", "exp(-x**2)", "x*exp(-x)")),
    ],
)
def test_a_run_that_goes_on_is_judged_from_its_start(run, kind, text, method):
    """What depended on a variable there, and no longer does, has no minimum and no root."""
    kept: deque[bytes] = deque(maxlen=1)

    def report(progress, checkpoint):
        kept.append(bytes(checkpoint()))

    whole = run(kind, text, {"x": 2.0}, method, report=report)
    after = run(kind, text, {"x": 2.0}, method, resume=Checkpoint.read(kept[0]))
    assert (whole.success, after.success) == (False, False)


@pytest.mark.parametrize("method", ["trf", "dogbox", "lm", "gauss-newton"])
def test_least_squares_go_on(run, method):
    kept = []
    residuals = "[10*(x[1] - x[0]**2), 1 - x[0]]"
    run(
        "least_squares",
        residuals,
        START,
        method,
        report=lambda progress, checkpoint: kept.append(bytes(checkpoint())),
    )
    after = run("least_squares", residuals, START, method, resume=Checkpoint.read(kept[1]))
    assert_allclose(after.solution["x"], 1, atol=1e-4)
    assert after.history["iteration"][0] == 0


def test_limits_count_what_was_done_before(run):
    kept = []
    options = {"maxiter": 6}
    run(
        "minimize",
        ROSENBROCK,
        {"x": [-1.2, 1]},
        options=options,
        report=lambda progress, checkpoint: kept.append(checkpoint()),
    )
    after = run("minimize", ROSENBROCK, {"x": [-1.2, 1]}, options=options, resume=kept[3])
    assert (after.iterations, after.success) == (6, False)


def test_the_radius_of_trust_constr_is_kept(run):
    kept = []
    run(
        "minimize",
        ROSENBROCK,
        START,
        "trust-constr",
        options={"initial_tr_radius": 0.01},
        report=lambda progress, checkpoint: kept.append(checkpoint()),
    )
    assert kept[0].state.keys() >= {"tr_radius", "constr_penalty"}
    assert kept[0].state["tr_radius"] != kept[-1].state["tr_radius"]


def test_a_checkpoint_of_another_objective_is_a_bug(run):
    resume = Checkpoint(np.zeros(3), 1, Evaluations(), 0.0, {})
    with pytest.raises(InternalError, match="checkpoint of 3 elements"):
        run("minimize", ROSENBROCK, START, resume=resume)
