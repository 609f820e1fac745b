import gradwire
import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
from gradwire.optimization.constraints import Linear, constraints_of


def norm(x):
    return x @ x


def test_all_forms_are_functions_between_ends():
    several = constraints_of(
        [
            scipy.optimize.NonlinearConstraint(norm, -np.inf, 1),
            scipy.optimize.LinearConstraint([[1, 2]], 0, 0),
            {"type": "ineq", "fun": norm},
            {"type": "eq", "fun": norm},
            {"program": "x @ x", "low": 1},
            {"target": "h", "high": 2},
        ]
    )
    ends = [(each.low, each.high) for each in several]
    assert ends == [(-np.inf, 1), (0, 0), (0.0, np.inf), (0.0, 0.0), (1, None), (None, 2)]
    sent = [each.document({}) for each in several]
    assert sent[:3] == [
        {"low": None, "high": 1.0},
        {"low": 0.0, "high": 0.0},
        {"low": 0.0, "high": None},
    ]
    assert [each.of for each in several[4:]] == ["x @ x", {"target": "h"}]


def test_one_constraint_needs_no_list():
    (one,) = constraints_of(scipy.optimize.LinearConstraint(scipy.sparse.eye_array(2), 0, 1))
    assert isinstance(one.of, Linear)
    np.testing.assert_array_equal(one.of.matrix, np.eye(2))
    assert constraints_of(None) == []


def test_further_arguments_are_those_of_the_constraint():
    (one,) = constraints_of({"type": "eq", "fun": lambda x, a: x - a, "args": (2.0,)})
    assert one.of(3.0) == 1.0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"type": "less", "fun": norm}, r"constraints\[0\] needs the type 'eq' or 'ineq'"),
        ([{}], r"constraints\[0\] is a dict, not a constraint"),
        (norm, r"constraints\[0\] is a function"),
    ],
)
def test_what_is_no_constraint_is_refused(given, message):
    with pytest.raises(gradwire.UsageError, match=message):
        constraints_of(given)
