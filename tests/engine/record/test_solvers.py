"""Roots of equations, against closed forms and differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Query
from gradwire_engine.errors import BadArgument, DomainError, EngineError, ShapeMismatch
from numpy.testing import assert_allclose

from tests.engine.conftest import called

A = np.array([[3.0, 1, 0], [1, 4, 1], [0, 1, 5]])
B = np.array([1.0, -2.0, 0.5])


def ask(text: str, kind: Any = "evaluate", **variables: Any) -> Any:
    engine = Engine()
    leaves = {name: Leaf(np.asarray(value)) for name, value in variables.items()}
    answer = called(engine, text, leaves, kind).replay(lambda: None)
    return answer.value if kind == "evaluate" else answer.gradients


@pytest.mark.parametrize("order", range(4))
@pytest.mark.parametrize("solve", ["", ", lambda f, x: bisect(f)"])
def test_the_cube_root_to_third_order(order, solve):
    """``x³ = a``: derivatives by the implicit function theorem, whatever found the root."""
    text = """
def bisect(f):
    low, high = 0.0, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if f(middle) < 0 else (low, middle)
    return low


x = custom_root(lambda x: x**3 - a, 1.0SOLVE)
"""
    text = text.replace("SOLVE", solve) + "x = grad(x, a)\n" * order + "x"
    want = [2, 1 / 12, -1 / 144, 5 / 3456][order]
    assert ask(text, a=8.0) == pytest.approx(want, rel=1e-9)


def test_a_linear_system_is_solved_and_differentiated_as_solve_is():
    root = (
        "x = custom_root(lambda x: A @ tanh(x) / 10 - tanh(b * x[::-1]) / 20 - b / 40, zeros(3))\n"
    )
    linear = "x = custom_root(lambda x: A @ x - b, zeros(3))\n"
    for end in ("sum(x * x)", "y = sum(x**3)\nsum(grad(y, [A, b])[1] ** 2)"):
        got = ask(linear + end, "gradient", A=A, b=B)
        want = ask("x = solve(A, b)\n" + end, "gradient", A=A, b=B)
        for name in want:
            assert_allclose(got[name], want[name], rtol=1e-9)
    gradient = ask(root + "sum(x * x)", "gradient", A=A, b=B)["b"]
    for i, step in enumerate(np.eye(3) * 1e-5):
        ahead, behind = [ask(root + "sum(x * x)", A=A, b=B + s) for s in (step, -step)]
        assert gradient[i] == pytest.approx((ahead - behind) / 2e-5, rel=1e-6)


def test_roots_of_many_examples_are_those_of_each():
    text = "def root(a, b):\n    return custom_root(lambda x: x**3 + x * b - a, 1.0)\n"
    a, b = np.array([1.0, 8, 100]), np.array([0.0, 1, 2])
    mapped = ask(text + "vmap(grad(root))(a, b)", "gradient", a=a, b=b)
    looped = ask(text + "stack([grad(root)(*p) for p in zip(a, b)])".replace("*p", "p[0], p[1]"),
                 "gradient", a=a, b=b)  # fmt: skip
    for name in looped:
        assert_allclose(mapped[name], looped[name], rtol=1e-9)


def test_a_root_keeps_its_dtype():
    x = ask("custom_root(lambda x: x * x - a, a)", a=np.float32(2))
    assert x.dtype == np.float32
    assert x == pytest.approx(2**0.5, rel=1e-6)


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("custom_root(lambda x: x * x + a, 1.0)", DomainError, "no root in 50 steps"),
        ("custom_root(lambda x: a, 1.0)", BadArgument, "does not depend"),
        ("custom_root(lambda x: [x, a], 1.0)", ShapeMismatch, "as many equations"),
        ("custom_root(lambda x: x * 0 + a, 1.0)", DomainError, "not invertible"),
        ("custom_root(lambda x: x - a, 1j)", EngineError, "a root is real"),
    ],
)
def test_mistakes_are_named_and_placed(text, error, words):
    with pytest.raises(error, match=words) as caught:
        ask(text, a=np.array(2.0))
    assert caught.value.at


@pytest.mark.parametrize("order", range(3))
def test_roots_in_a_loop_have_their_derivatives(ask, order):
    """Three hundred cube roots, one of the other's cube times ``a``: ``x = a^(1/3 + …)``."""
    text = "x = 1.0\nfor _ in range(300):\n    x = custom_root(lambda y: y**3 - a * x, x)\n"
    found = ask.value(text + "x = grad(x, a)\n" * order + "x", {"a": 4.0})
    assert found == pytest.approx([2, 1 / 4, -1 / 32][order], rel=1e-8)


def test_how_many_steps_there_are_needs_no_new_recording():
    engine = Engine()
    program = engine.parse("custom_root(lambda x: x**3 + x - a, 1.0)")
    for a in (2.0, 2e3, -5e6):
        call = engine.call(program, {"a": Leaf(np.asarray(a))}, Query("evaluate"))
        x = call.replay(lambda: None).value
        assert x**3 + x == pytest.approx(a, rel=1e-9)
        assert len(call.entry.paths) == 1


def test_no_root_for_one_of_many_examples_is_an_error(ask):
    text = "vmap(lambda a: custom_root(lambda x: x * x - a, 3.0))(a)"
    assert_allclose(ask.value(text, {"a": [1.0, 4.0]}), [1, 2])
    for kind in ("evaluate", "gradient"):
        with pytest.raises(DomainError, match="no root in 50 steps"):
            ask.answer(text, {"a": [1.0, -4.0]}, kind=kind)
    with pytest.raises(DomainError, match="no root in 50 steps"):
        ask.value("custom_root(lambda x: x * x - a, 3.0)", {"a": [1.0, -4.0]}, batch={"a": 0})
