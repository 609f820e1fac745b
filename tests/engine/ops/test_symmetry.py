"""Mixed second derivatives of functions of two numbers do not depend on the order, or are named."""

import itertools

import numpy as np
import pytest
from gradwire_engine.ops.base import FUNCTIONS, PRIMITIVES
from gradwire_engine.ops.elementwise import Binary

POINTS = [*itertools.product((-1.0, 0.0, 0.5, 1.0, 2.0), repeat=2)]
NAMES = sorted(
    name
    for name, op in PRIMITIVES.items()
    if issubclass(op, Binary) and name in FUNCTIONS and op.differentiable
)


@pytest.mark.parametrize("name", [*NAMES, "angle", "float_power", "powm1"])
def test_second_derivatives_are_symmetric(ask, name):
    text = "angle(x + y * 1j)" if name == "angle" else f"{name}(x, y)"
    for x, y in POINTS:
        answer = ask.answer(text, {"x": x, "y": y}, kind="hessian")
        hessian = answer.derivatives["hessian"]
        mixed = [(hessian[a] or {}).get(b) or 0.0 for a, b in ("xy", "yx")]
        if np.isfinite(mixed).all():
            assert mixed[0] == pytest.approx(mixed[1], rel=1e-9, abs=1e-12), (x, y)


@pytest.mark.parametrize(
    ("text", "x", "y"),
    [
        *(("arctan2(x, y)", 0.0, 0.0), ("angle(x + y * 1j)", 0.0, 0.0), ("hypot(x, y)", 0.0, 0.0)),
        *(("xlogy(x, y)", 0.0, 0.0), ("x ** y", 0.0, 1.0), ("powm1(x, y)", 0.0, 1.0)),
        ("x ** y", -2.0, 3.0),
    ],
)
def test_what_is_not_there_is_0_with_a_warning(ask, text, x, y):
    answer = ask.answer(text, {"x": x, "y": y}, kind="hessian")
    assert [warning.code for warning in answer.warnings] == ["singular"]
    hessian = answer.derivatives["hessian"]
    assert hessian["x"]["y"] == hessian["y"]["x"] == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("arctan2(x, y) * hypot(x, y)**4", 0),
        ("arctan2(x, 1 + y)", -1),
        ("xlogy(x, y) * x * y", 0),
        ("sum(x ** array([0.0, 1, 2])) + y", 0),
        ("(1 + x) ** (1 + y)", 1),
    ],
)
def test_what_is_smooth_there_has_no_warning(ask, text, expected):
    answer = ask.answer(text, {"x": 0.0, "y": 0.0}, kind="hessian")
    assert not answer.warnings
    assert answer.derivatives["hessian"]["x"]["y"] == pytest.approx(expected)
