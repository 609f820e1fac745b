import gradwire
import numpy as np
import pytest
import scipy.optimize
from gradwire.optimization.programs import of_program


@pytest.mark.parametrize(
    ("x0", "variables", "sources", "expected"),
    [
        ({"w": np.zeros(2), "b": 0.0}, {"x": 1.0}, None, [("w", "w", (2,)), ("b", "b", ())]),
        (
            {"layers": [{"w": np.zeros(2)}]},
            None,
            None,
            [("layers.0.w", "layers.0.w", (2,))],
        ),
        (None, {"a": {"b": 1.0, "c": [1.0]}}, "a", [("a.b", "a.b", ()), ("a.c", "a.c", (1,))]),
        (None, {"a": [{"b": 1.0}]}, ["a[0].b"], [("a[0].b", "a.0.b", ())]),
        (None, {"a": 1.0}, {"first": "a", "other": "unknown"}, [("a", "a", ())]),
        (None, {"a": 1.0, "b": {"value": 1.0, "trainable": False}}, None, [("a", "a", ())]),
        (
            None,
            {"a": gradwire.ChunkedArray({"dask": "a"}, (3, 2)), "s": "text"},
            None,
            [("a", "a", (3, 2))],
        ),
        (None, {"a": {"ref": "sha256:0"}, "b": 1.0}, None, [("b", "b", ())]),
    ],
)
def test_parameters_are_the_sources_in_their_order(x0, variables, sources, expected):
    found = of_program("x", x0, variables, sources, None, None).parameters
    assert [(each.name, each.path, each.shape) for each in found] == expected


def test_linear_constraints_are_programs_of_further_variables(client):
    x0 = {"w": np.zeros((2, 1)), "b": 0.0}
    constraint = scipy.optimize.LinearConstraint([[1, 2, 3]], 4, 4)
    found = client.minimize("sum(w**2) + b**2", x0, method="SLSQP", constraints=constraint)
    values = [*found.x["w"].ravel(), found.x["b"]]
    np.testing.assert_allclose(values, 4 * np.array([1, 2, 3]) / 14, atol=1e-6)
    wrong = scipy.optimize.LinearConstraint([[1, 2]], 0, 1)
    with pytest.raises(gradwire.UsageError, match="2 columns, but 3 elements"):
        client.minimize("sum(w**2) + b**2", x0, method="SLSQP", constraints=wrong)
