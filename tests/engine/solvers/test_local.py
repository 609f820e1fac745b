"""Objectives that an engine evaluates, against derivatives by hand and by differences."""

from dataclasses import replace

import numpy as np
import pytest
from gradwire_engine.errors import DeadlineExceeded
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import rosen, rosen_der, rosen_hess

ROSENBROCK = (
    "x = concatenate([a, reshape(b, (-1,))])\nsum(100*(x[1:] - x[:-1]**2)**2 + (1 - x[:-1])**2)"
)
VALUES = {"b": np.array([[0.3, 1.1], [0.9, -0.4]]), "a": np.array([1.2])}


@pytest.fixture
def rosenbrock(problem):
    """In two sources, laid out in another order than they are used in."""
    return problem(ROSENBROCK, VALUES, {"first": "a", "others": ["b"]})


def test_values_and_derivatives(rosenbrock):
    x = rosenbrock.start
    assert_array_equal(x, [1.2, 0.3, 1.1, 0.9, -0.4])
    value, gradient = rosenbrock.value_and_gradient(x)
    assert value == pytest.approx(rosen(x))
    assert_allclose(gradient, rosen_der(x))
    assert_allclose(rosenbrock.hessian(x), rosen_hess(x), atol=1e-9)
    v = np.array([1.0, -2, 0.5, 3, 0])
    assert_allclose(rosenbrock.hessian_product(x, v), rosen_hess(x) @ v, atol=1e-9)


def test_what_depends_on_fixed_variables_alone_is_computed_once(problem, data, monkeypatch):
    """The sum of a large matrix' squares is not part of later replays."""
    given = problem("sum(M**2) * sum(x**2)", {"x": [1.0, 2], "M": data(np.ones((400, 400)))})
    flops = []
    for _ in range(4):
        given.value_and_gradient(given.start)
        variables = given._place(given.layout.arrays(given.start))
        query = given._query("gradient")
        flops.append(given._engine.call(given._program, variables, query).flops)
    assert flops[-1] < 1000 < flops[0]


def test_other_targets_and_programs_share_the_sources(problem, engine):
    given = problem("y = x*x\nsum(y)", {"x": [1.0, 2]})
    assert_array_equal(given.other(None, "y", "/a").residuals(given.start), [1, 4])
    other = given.other("x - 1", None, "/b")
    assert_array_equal(other.residuals(given.start), [0, 1])
    assert_array_equal(other.jacobian(given.start), np.eye(2))


def test_a_poll_may_end_an_evaluation(problem):
    polls = 0

    def poll():
        nonlocal polls
        polls += 1
        if polls > 20:
            raise DeadlineExceeded("enough")

    text = "t = x\nfor i in range(100000):\n  t = sin(t)*cos(t) + x\nsum(t)"
    given = problem(text, {"x": [1.0, 2]}, poll=poll)
    with pytest.raises(DeadlineExceeded):
        given.value_and_gradient(given.start)


def test_the_work_of_all_functions_of_a_problem_is_added_up(problem):
    data = np.linspace(0, 1, 3000)
    objective = problem("sum((x - a)**2)", {"x": np.zeros(3000), "a": data}, ["x"])
    objective.value_and_gradient(objective.start)
    first = replace(objective.work)
    assert first.replays == 1
    assert first.seconds > 0
    assert first.flops >= 3000
    assert first.input_bytes == 8 * 3000  # of x: a stays
    assert 8 * 3000 <= first.answer_bytes <= 8 * 3001
    assert first.peak_bytes >= 8 * 3000
    constraint = objective.other("sum(x)", None, "/constraints/0")
    constraint.value_and_gradient(objective.start)
    assert constraint.work is objective.work
    assert objective.work.replays == 2
    assert objective.work.input_bytes == 2 * first.input_bytes
