"""Variables that programs assign to: S41 and S53 to S56."""

from typing import Any

import numpy as np
import pytest
from gradwire_engine import Leaf
from gradwire_engine.errors import BadArgument, DtypeMismatch, EngineError, ShapeMismatch

from tests.tables import cases

X = np.array([1.0, 2.0, 3.0])


def test_a_read_takes_the_value_at_that_moment(ask):
    answer = ask.answer("y = x*x\nx.assign(10)\nz = x\n[y, z]", {"x": 3})
    assert answer.value == [9, 10]
    assert answer.gradients == {"x": 7}  # both reads belong to the one variable
    assert answer.updates == {"x": 10}


def test_no_gradient_flows_to_what_was_assigned(ask):
    answer = ask.answer("x.assign(w*w)\nx**2", {"x": 3, "w": 2})
    assert answer.value == 16
    assert answer.gradients == {"x": 8, "w": None}
    why = answer.unconnected["w"]
    assert (why.reason, why.node.op, why.node.line) == ("state", "assign", 1)


def test_grad_in_the_program_sees_all_reads(ask):
    assert ask.value("y = x*x\nx.assign_add(1)\ngrad(y*x, x)", {"x": 3}) == 2 * 3 * 4 + 9


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("x.assign(2*x)", [2, 4, 6]),
        ("x.assign_add([1, 1, 1])", [2, 3, 4]),
        ("x.assign_sub(x)", [0, 0, 0]),
        ("x[1] = 0", [1, 0, 3]),
        ("x[1:] += 1", [1, 3, 4]),
        ("for i in range(3):\n  x.assign_add(x)", [8, 16, 24]),
        ("if x[0] > 5:\n  x.assign(0*x)", None),
        ("def f(v):\n  v.assign(v + 1)\nf(x)", [2, 3, 4]),
    ],
)
def test_updates(ask, statement, expected):
    answer = ask.answer(statement + "\nsum(x)", {"x": X}, kind="evaluate")
    assert list(answer.updates) == ([] if expected is None else ["x"])
    if expected is not None:
        assert np.array_equal(answer.updates["x"], expected)
        assert answer.value == np.sum(expected)


def test_updates_of_nested_variables_have_their_paths(ask):
    variables = {"layers": [{"w": 1.0}, {"w": 2.0}], "p.q": 3.0}
    text = "layers[1].w.assign(5)\np.q.assign_add(1)\nlayers[1].w*p.q"
    answer = ask.answer(text, variables, kind="evaluate")
    assert (answer.value, answer.updates) == (20, {"layers.1.w": 5, "p.q": 4})


@pytest.mark.parametrize("value", ["[1, 2]", "1.0", "x[:, None]", "ones((1, 3))"])
def test_assign_does_not_broadcast(ask, value):
    with pytest.raises(ShapeMismatch) as caught:
        ask.value(f"x.assign({value})\nx", {"x": X})
    at: Any = caught.value.at
    assert (at.line, at.op) == (1, "assign")


@cases("dtype, value, fits")
def test_assign_keeps_the_dtype(ask, dtype, value, fits):
    variables = {"x": np.zeros((), dtype), "y": np.float64(1)}
    if fits:
        answer = ask.answer(f"x.assign({value})\nx", variables, kind="evaluate")
        assert answer.updates["x"].dtype == dtype
    else:
        with pytest.raises(DtypeMismatch):
            ask.value(f"x.assign({value})\nx", variables)


@pytest.mark.parametrize(
    "text", ["y = 2*x\ny.assign(x)", "y = 1\ny.assign(x)", "x.assign()", "x.assign(x, x)"]
)
def test_only_variables_are_assigned_to_and_one_value(ask, text):
    with pytest.raises(EngineError):
        ask.value(text + "\nx", {"x": X})


def test_a_name_bound_anew_is_no_longer_the_variable(ask):
    answer = ask.answer("x = x + 1\nx[0] = 5\nx", {"x": X}, kind="evaluate")
    assert np.array_equal(answer.value, [5, 3, 4])
    assert answer.updates == {}
    with pytest.raises(BadArgument, match="only variables"):
        ask.value("x = x + 1\nx.assign(x)", {"x": X})


def test_training_with_assign_sub_is_gradient_descent(ask):
    text = """
for step in range(20):
  loss = mean((x @ w - y)**2)
  w.assign_sub(0.1*grad(loss, w))
loss
"""
    rng = np.random.default_rng(0)
    x, w, y = rng.normal(size=(8, 3)), rng.normal(size=3), rng.normal(size=8)
    answer = ask.answer(text, {"x": x, "w": w, "y": y}, kind="evaluate")
    for _ in range(20):
        loss = np.mean((x @ w - y) ** 2)
        w = w - 0.1 * 2 / 8 * x.T @ (x @ w - y)
    assert answer.value == pytest.approx(loss)
    assert answer.updates["w"] == pytest.approx(w)


def test_untrainable_variables_have_state_too(ask):
    frozen = Leaf(np.array(2.0), trainable=False)
    answer = ask.answer("n.assign_add(1)\nx*n", {"x": 3, "n": frozen})
    assert answer.gradients == {"x": 3, "n": None}
    assert answer.updates == {"n": 3}
    assert answer.unconnected["n"].reason == "not_trainable"
