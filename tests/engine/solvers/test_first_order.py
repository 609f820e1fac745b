"""First-order methods, step by step as loops of ten lines make them, and resumed bit for bit."""

from typing import Any

import numpy as np
import pytest
from gradwire_engine.errors import InputError
from gradwire_solvers import Checkpoint, Minibatch
from numpy.testing import assert_allclose, assert_array_equal

from tests.engine.solvers.conftest import pointer_to

RNG = np.random.default_rng(7)
X, Y = RNG.normal(size=(23, 3)), RNG.normal(size=23)
LOSS = "mean((X @ w + b - y)**2)"
START: dict[str, Any] = {"w": [0.5, -1.0, 2.0], "b": 0.25}


@pytest.fixture
def values(data):
    return {**START, "X": data(X), "y": data(Y)}


def gradient(w, b, rows=slice(None)):
    """Of the loss, by hand."""
    residuals = X[rows] @ w + b - Y[rows]
    return np.array([*(2 * X[rows].T @ residuals / residuals.size), 2 * residuals.mean()])


def loop(step, steps):
    """The parameters after so many steps, by hand."""
    x = np.array([*START["w"], START["b"]])
    state: dict[str, Any] = {}
    for t in range(steps):
        x = x + step(state, gradient(x[:3], x[3]), t)
    return x


def sgd(state, g, t):
    return -0.05 * g


def momentum(state, g, t):
    state["v"] = 0.8 * state.get("v", 0) - 0.05 * g
    return state["v"]


def nesterov(state, g, t):
    state["v"] = 0.8 * state.get("v", 0) - 0.05 * g
    return 0.8 * state["v"] - 0.05 * g


def adam(state, g, t):
    m = state["m"] = 0.7 * state.get("m", 0) + 0.3 * g
    v = state["v"] = 0.95 * state.get("v", 0) + 0.05 * g**2
    return -0.05 * (m / (1 - 0.7 ** (t + 1))) / (np.sqrt(v / (1 - 0.95 ** (t + 1))) + 1e-3)


@pytest.mark.parametrize(
    ("method", "options", "step"),
    [
        ("sgd", {}, sgd),
        ("momentum", {"momentum": 0.8}, momentum),
        ("momentum", {"momentum": 0.8, "nesterov": True}, nesterov),
        ("adam", {"beta1": 0.7, "beta2": 0.95, "epsilon": 1e-3}, adam),
    ],
)
def test_steps_are_those_of_the_formulas(run, values, method, options, step):
    options = {"learning_rate": 0.05, "maxiter": 40, **options}
    found = run("minimize", LOSS, values, method, ["w", "b"], options=options)
    w, b = found.solution
    assert_allclose([*w, b], loop(step, 40), rtol=1e-12)
    assert (found.iterations, found.evaluations.value) == (40, 41)
    assert found.value == pytest.approx(np.mean((X @ w + b - Y) ** 2), rel=1e-12)
    assert found.gradient_norm == pytest.approx(np.abs(gradient(w, b)).max())


def test_adam_is_that_of_torch(run, values):
    """PyTorch 2.13 after 50 times ``mean((X @ w + b - Y)**2).backward()`` and ``Adam.step()``."""
    options = {"learning_rate": 0.1, "maxiter": 50}
    found = run("minimize", LOSS, values, "adam", ["w", "b"], options=options)
    w = [-0.033008805118339535, -0.3129473394689984, -0.34639923870174333]
    assert_allclose(found.solution[0], w, rtol=1e-9)
    assert_allclose(found.solution[1], -0.09163553378402084, rtol=1e-9)


def test_each_epoch_takes_every_row_once(run, values):
    """With steps of size zero, the gradients of an epoch's minibatches add up to the whole's."""
    seen = []
    given = {**values, "i": values["y"]._replace(value=np.arange(23.0))}
    run(
        "minimize",
        "sum(w*i) + 0*sum(X) + 0*sum(y)",
        given | {"w": 1.0},
        "sgd",
        ["w"],
        options={"learning_rate": 0.0, "maxiter": 11},
        minibatch=Minibatch(5, ["X", "y", "i"], seed=3),
        report=lambda progress, _: seen.append(progress.value),
    )
    batches = [seen[4:9]]  # the first step is from the first batch to the second
    assert sum(batches[0]) == np.arange(23).sum()
    assert len({*seen}) > 5  # another order in each epoch


def test_minibatches_are_those_of_the_seed(run, values):
    def ended(seed):
        minibatch = Minibatch(5, ["X", "y"], seed)
        options = {"learning_rate": 0.02, "maxiter": 30}
        sources = ["w", "b"]
        return run("minimize", LOSS, values, "sgd", sources, options=options, minibatch=minibatch)

    found = ended(3)
    x = np.array([*START["w"], START["b"]])
    for step in range(30):
        epoch, number = divmod(step, 5)
        order = np.random.default_rng([3, epoch]).permutation(23)
        x = x - 0.02 * gradient(x[:3], x[3], order[5 * number : 5 * number + 5])
    assert_allclose([*found.solution[0], found.solution[1]], x, rtol=1e-12)
    assert found.value == pytest.approx(np.mean((X @ x[:3] + x[3] - Y) ** 2))
    assert found.value != ended(4).value


@pytest.mark.parametrize("minibatch", [None, Minibatch(4, ["X", "y"], 9)])
@pytest.mark.parametrize("method", ["sgd", "momentum", "adam"])
def test_a_resumed_run_ends_bit_for_bit_where_the_whole_run_does(run, values, method, minibatch):
    schedule = {"schedule": "cosine", "initial_learning_rate": 0.1, "decay_steps": 60}
    given = {
        "options": {"learning_rate": schedule, "warmup_steps": 5, "maxiter": 60},
        "minibatch": minibatch,
        "bounds": {"w": (-1.0, 2.0)},
    }
    kept = {}

    def report(progress, checkpoint):
        if progress.iteration == 27:
            kept["bytes"] = bytes(checkpoint())

    whole = run("minimize", LOSS, values, method, ["w", "b"], report=report, **given)
    resume = Checkpoint.read(kept["bytes"])
    assert resume.iterations == 27
    after = run("minimize", LOSS, values, method, ["w", "b"], resume=resume, **given)
    for one, other in zip(whole.solution, after.solution, strict=True):
        assert_array_equal(one, other)
    assert (after.value, after.iterations) == (whole.value, 60)
    assert [*after.history["iteration"]] == [*whole.history["iteration"]]
    assert_array_equal(after.history["value"], whole.history["value"])


def test_tolerances_end_a_run(run, values):
    given = {"sources": ["w", "b"], "method": "momentum"}
    options = {"learning_rate": 0.1, "maxiter": 5000, "gtol": 1e-6}
    found = run("minimize", LOSS, values, options=options, **given)
    assert found.success
    assert found.gradient_norm <= 1e-6
    assert found.iterations < 5000
    w, b = found.solution
    best = np.linalg.lstsq(np.c_[X, np.ones(23)], Y, rcond=None)[0]
    assert_allclose([*w, b], best, atol=1e-5)
    by_tol = run("minimize", LOSS, values, tol=1e-6, options=options | {"maxiter": 5000}, **given)
    assert by_tol.iterations == found.iterations
    del options["gtol"]
    changed = run("minimize", LOSS, values, options=options | {"ftol": 1e-12}, **given)
    assert changed.message == "the value changed by at most ftol"
    few = run("minimize", LOSS, values, options=options | {"gtol": 0, "maxiter": 3}, **given)
    assert (few.success, few.iterations) == (False, 3)


def test_bounds_are_kept_by_clipping(run, values):
    options = {"learning_rate": 0.1, "maxiter": 2000}
    bounds = {"w": (np.array([0.5, -np.inf, -np.inf]), 3), "b": (None, 0.3)}
    found = run("minimize", LOSS, values, "sgd", ["w", "b"], options=options, bounds=bounds)
    assert found.solution[0][0] == 0.5
    assert found.gradient_norm < 1e-8


def test_divergence_ends_at_the_best_point(run, values):
    options = {"learning_rate": 10, "maxiter": 5000}
    found = run("minimize", LOSS, values, "sgd", ["w", "b"], options=options)
    assert not found.success
    assert found.value == found.history["value"][0]
    assert "smaller steps" in found.message


@pytest.mark.parametrize(
    ("minibatch", "pointer", "words"),
    [
        (Minibatch(24, ["X", "y"]), "/minibatch/size", "24 rows cannot be taken from 23"),
        (Minibatch(2, ["X", "w"]), "/minibatch/variables/1", "a source has no minibatches"),
        (Minibatch(2, ["X", "X"]), "/minibatch/variables/1", "named twice"),
        (Minibatch(2, ["X", "z"]), "/minibatch/variables/1", "numbers of rows"),
        (Minibatch(2, ["s", "X"]), "/minibatch/variables/0", "has no rows"),
    ],
)
def test_wrong_minibatches_are_refused(run, values, data, minibatch, pointer, words):
    given = {**values, "z": data(np.zeros(4)), "s": data(1.0)}
    with pytest.raises(InputError, match=words) as refused:
        run("minimize", LOSS, given, "sgd", ["w", "b"], minibatch=minibatch)
    assert pointer_to(refused) == pointer
