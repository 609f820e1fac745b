"""Specifications: what a method does not know or take is refused by name, where it stands."""

import numpy as np
import pytest
from gradwire_engine.errors import EngineError, InputError, ShapeMismatch, UnknownName
from gradwire_solvers import METHODS, Constraint, Minibatch, Specification

from tests.engine.solvers.conftest import pointer_to

ROSENBROCK = "100*(x[1] - x[0]**2)**2 + (1 - x[0])**2"


@pytest.mark.parametrize(
    ("given", "pointer", "words", "hint"),
    [
        (("minimize", "lbfgs-b"), "/method", "no method 'lbfgs-b' of minimize", "L-BFGS-B"),
        (("minimize", "COBYLA"), "/method", "no method 'COBYLA'", "one of L-BFGS-B, BFGS"),
        (("root", "anderson"), "/method", "no method 'anderson' of root", "hybr"),
        (("minimize", "BFGS", {"maxcor": 3}), "/options/maxcor", "BFGS has no option", "gtol"),
        (("minimize", "BFGS", {"maxitre": 3}), "/options/maxitre", "no option", "maxiter?"),
        (("minimize", "BFGS", {"maxiter": 0}), "/options/maxiter", "a positive integer", None),
        (("minimize", "BFGS", {"maxiter": 1 << 40}), "/options/maxiter", "below 2³¹", None),
        (("minimize", "BFGS", {"maxiter": 2.5}), "/options/maxiter", "a positive integer", None),
        (("minimize", "BFGS", {"gtol": "small"}), "/options/gtol", "number of at least 0", None),
        (("minimize", "BFGS", {"gtol": np.nan}), "/options/gtol", "number of at least 0", None),
        (("minimize", "BFGS", {"gtol": True}), "/options/gtol", "number of at least 0", None),
        (("minimize", "BFGS", {"norm": "two"}), "/options/norm", 'a number or "inf"', None),
        (("minimize", "CG", {"c1": 0.5}), "/options/c1", "c1 must be below c2", None),
        (("minimize", "CG", {"c1": 0}), "/options/c1", "a positive number below 1", None),
        (("minimize", "L-BFGS-B", {"maxcor": 1001}), "/options/maxcor", "up to 1000", None),
        (("least_squares", "lm", {"xtol": 0}), "/options/xtol", "each tolerance of lm", "1e-8"),
        (("least_squares", "trf", {}, 0.0), "/tol", "one tolerance at least of trf", "1e-8"),
        (("minimize", "adam", {"beta1": 1}), "/options/beta1", "below 1", None),
        (("minimize", "adam", {"momentum": 0.5}), "/options/momentum", "no option", None),
        (("minimize", "sgd", {"learning_rate": -1}), "/options/learning_rate", "at least 0", None),
        (
            ("minimize", "trust-ncg", {"initial_trust_radius": 9, "max_trust_radius": 2}),
            "/options/initial_trust_radius",
            "below the largest",
            None,
        ),
        (("least_squares", "lm", {"loss": "huber"}), "/options/loss", "lm has no option", None),
        (("least_squares", "trf", {"loss": "l1"}), "/options/loss", '"linear" or "soft_l1"', None),
    ],
)
def test_unknown_methods_and_options_are_refused(given, pointer, words, hint):
    with pytest.raises(InputError, match=words) as refused:
        Specification(*given)
    assert pointer_to(refused) == pointer
    assert hint is None or hint in str(refused.value.hint)


@pytest.mark.parametrize(
    ("given", "pointer", "hint"),
    [
        ({"method": "BFGS", "bounds": {"x": (0, 1)}}, "/bounds", "L-BFGS-B"),
        (
            {"method": "L-BFGS-B", "constraints": [Constraint(None, "y", 0, 1)]},
            "/constraints",
            "SLSQP, trust-constr",
        ),
        ({"method": "BFGS", "minibatch": Minibatch(3, ["x"])}, "/minibatch", "sgd, momentum, adam"),
    ],
)
def test_what_a_method_does_not_take_is_refused(given, pointer, hint):
    with pytest.raises(InputError, match="takes no") as refused:
        Specification("minimize", **given)
    assert pointer_to(refused) == pointer
    assert hint in str(refused.value.hint)


@pytest.mark.parametrize("kind", [*METHODS])
def test_every_default_is_a_specification(kind):
    for method in METHODS[kind]:
        assert Specification(kind, method).takes is METHODS[kind][method]


@pytest.mark.parametrize(
    ("bounds", "pointer", "words"),
    [
        ({"y": (0, 1)}, "/bounds/y", "no source 'y'"),
        ({"x": (np.zeros(3), 1)}, "/bounds/x", r"array of shape \(2,\), got \(3,\)"),
        ({"x": (1, 0)}, "/bounds", r"lower bound of x\[0\] is above"),
        ({"x": (0, np.array([3, 0.5]))}, "/bounds", r"outside the bounds: x\[1\] is 1"),
        ({"x": (np.nan, 1)}, "/bounds/x", "not NaN"),
        ({"x": (1j, 1)}, "/bounds/x", "a real number, got complex"),
    ],
)
def test_wrong_bounds_are_refused(run, bounds, pointer, words):
    with pytest.raises(InputError, match=words) as refused:
        run("minimize", ROSENBROCK, {"x": [1.0, 1]}, bounds=bounds)
    assert pointer_to(refused) == pointer


@pytest.mark.parametrize(
    ("constraint", "pointer", "words", "kind"),
    [
        (("sum(x", None, 0, 1), "/constraints/0/program", ".", EngineError),
        (("x @ ones(3)", None, 0, 1), "/constraints/0/program", "matmul", ShapeMismatch),
        ((None, "nothing", 0, 1), "/constraints/0/target", "nothing", UnknownName),
        (("x*2", None, np.zeros(3), 1), "/constraints/0/low", r"shape \(2,\)", InputError),
        (("x*2", None, 2, 1), "/constraints/0", "low is above high", InputError),
        (("x*2", None, None, None), "/constraints/0", "no bounds", InputError),
        (("x*2j", None, 1, 2), "/constraints/0/program", "real numbers", InputError),
    ],
)
@pytest.mark.parametrize("method", ["SLSQP", "trust-constr"])
def test_wrong_constraints_are_refused(run, constraint, pointer, words, kind, method):
    constraints = [Constraint(*constraint)]
    with pytest.raises(kind, match=words) as refused:
        run("minimize", ROSENBROCK, {"x": [1.0, 1]}, method, constraints=constraints)
    assert pointer_to(refused) == pointer
