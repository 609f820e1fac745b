"""What a run reports, and the history that remains of it."""

import numpy as np
import pytest
from gradwire_solvers.progress import MOST_ENTRIES, History
from numpy.testing import assert_array_equal, assert_equal


def ticking(step=1.0):
    now = -step

    def clock():
        nonlocal now
        now += step
        return now

    return clock


@pytest.mark.parametrize("iterations", [0, 1, 999, 1000, 1001, 4096, 12_345])
def test_a_history_is_evenly_thinned_and_has_the_last_entry(iterations):
    history = History()
    for i in range(iterations + 1):
        history.add(i, 100.0 - i, 1.0, float(i))
    columns = history.columns()
    found = columns["iteration"]
    assert found.dtype == np.int64
    assert len(found) <= MOST_ENTRIES
    assert (found[0], found[-1]) == (0, iterations)
    assert len(set(np.diff(found[:-1]))) <= 1
    assert len(found) > min(iterations, MOST_ENTRIES / 2 - 2)
    assert_array_equal(columns["value"], 100.0 - found)


def test_a_history_goes_on_as_if_it_had_not_been_interrupted():
    whole, first = History(), History()
    for i in range(3000):
        whole.add(i, float(i), 1.0, float(i))
        if i < 1777:
            first.add(i, float(i), 1.0, float(i))
    second = History(first.kept())
    for i in range(1777, 3000):
        second.add(i, float(i), 1.0, float(i))
    assert_equal(second.columns(), whole.columns())


def test_every_iteration_is_reported_with_its_rate(run):
    seen = []
    options = {"learning_rate": 0.1, "maxiter": 10}
    found = run(
        "minimize",
        "sum(x*x)",
        {"x": [3.0, 4]},
        "sgd",
        options=options,
        report=lambda progress, _: seen.append(progress),
        clock=ticking(),
    )
    assert [progress.iteration for progress in seen] == [*range(1, 11)]
    assert seen[-1].value == found.value
    for progress in seen:
        assert progress.rate == pytest.approx(progress.iteration / progress.seconds)
        left = (10 - progress.iteration) / progress.rate
        assert progress.seconds_left == pytest.approx(left)


def test_the_time_that_is_left_is_unknown_without_a_limit(run):
    seen = []
    given = {"report": lambda progress, _: seen.append(progress), "clock": ticking()}
    run("minimize", "sum((x - 1)**4)", {"x": [3.0, 4]}, "BFGS", **given)
    assert {progress.seconds_left for progress in seen} == {None}
    seen.clear()
    run("minimize", "sum((x - 1)**4)", {"x": [3.0, 4]}, "BFGS", max_seconds=100.0, **given)
    assert [p.seconds_left + p.seconds for p in seen] == [100] * len(seen)
