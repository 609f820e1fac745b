"""Why a gradient does not exist, and where."""

import numpy as np
import pytest
from gradwire_engine import Leaf

FROZEN = Leaf(np.array(2.0), trainable=False)


@pytest.mark.parametrize(
    ("text", "x", "reason", "op", "line"),
    [
        ("y = w\ny", 2.0, "no_path", None, None),
        ("y = x*w", FROZEN, "not_trainable", None, None),
        ("y = x*w", np.int64(2), "integer_dtype", None, None),
        ("y = x*w", np.uint8(2), "integer_dtype", None, None),
        ("y = where(x, w, 1)", True, "boolean_dtype", None, None),
        ("y = w", "text", "string_dtype", None, None),
        ("a = x*2\nb = stop_gradient(a)\ny = b*w", 2.0, "stop_gradient", "stop_gradient", 2),
        ("a = x*2\n\nv.assign(a)\ny = v*w", 2.0, "state", "assign", 3),
        ("y = w\nif x > 1:\n  y = 2*w\ny", 2.0, "no_path", "if", 2),
        ("n = x.astype('int64')\ny = n*w", 2.0, "no_path", "astype", 1),
        ("y = (floor(x))*w", 2.5, "no_path", "floor", 1),
        ("y = w*where(x > 1, 2.0, 3.0)", 2.5, "no_path", "greater", 1),
        ("a = x*x\ny = w\nz = a\ny", 2.0, "no_path", None, None),
        ("a = x*2\nb = exp(a)\ny = w*3\ny", 2.0, "no_path", "exp", 2),
        ("x > 1", 2.0, "no_path", "greater", 1),
        ("y = w\nwhile y < 50:\n  y = y + floor(x)\ny", 2.5, "no_path", "floor", 3),
        (
            "z = x\ny = w\nwhile y < 50:\n  y = y + round(z)\n  z = z*1.1\ny",
            2.5,
            "no_path",
            "round",
            4,
        ),
        (
            "y = w\nfor i in range(2000):\n  for j in range(9):\n    y = y + stop_gradient(x)\ny",
            2.5,
            "stop_gradient",
            "stop_gradient",
            4,
        ),
    ],
)
def test_reason_and_place(ask, text, x, reason, op, line):
    answer = ask.answer(text, {"x": x, "w": 3.0, "v": 1.0}, sources=["x", "w"])
    assert answer.gradients[0] is None
    why = answer.unconnected["x"]
    assert why.reason == reason
    assert why.detail
    assert (why.node and why.node.op, why.node and why.node.line) == (op, line)


def test_reasons_are_given_with_zeros_too(ask):
    answer = ask.answer("w", {"x": [1.0, 2.0], "w": 1.0}, unconnected="zero")
    assert answer.gradients["x"].tolist() == [0, 0]
    assert list(answer.unconnected) == ["x"]


def test_reasons_are_by_the_sources_path(ask):
    variables = {"layers": [{"w": 1.0}, {"w": 2.0, "n": np.int64(1)}], "y": 1.0}
    answer = ask.answer("a = floor(y)\nlayers[0].w", variables)
    assert list(answer.unconnected) == ["layers.1.w", "layers.1.n", "y"]
    answer = ask.answer(
        "a = floor(y)\nlayers[0].w", variables, sources={"p": "layers[1].w", "q": "a"}
    )
    assert list(answer.unconnected) == ["layers[1].w", "a"]


def test_a_path_beside_the_cut_one_counts(ask):
    answer = ask.answer("y = floor(x)*x + stop_gradient(x)", {"x": 2.5})
    assert answer.gradients == {"x": 2}
    assert answer.unconnected == {}


def test_graphs_say_the_node(ask):
    nodes = [
        {"id": "a", "op": "floor", "args": ["x"]},
        {"id": "y", "op": "multiply", "args": ["a", "w"]},
    ]
    answer = ask.answer({"nodes": nodes, "outputs": "y"}, {"x": 2.5, "w": 3.0})
    node = answer.unconnected["x"].node
    assert (node.op, node.id, node.pointer) == ("floor", "a", "/program/nodes/0")


def test_elements_assigned_on_a_variable_are_warned_of_where_they_end_a_path(ask):
    text = "for i in range(3):\n  u[1:-1] += k*(u[2:] - u[:-2])\nsum(u**2)"
    variables = {"u": [1.0, 2.0, 4.0, 8.0], "k": 0.1}
    answer = ask.answer(text, variables)
    (notice,) = answer.warnings
    assert (notice.code, notice.node.op, notice.node.line) == ("state", "setitem", 2)
    assert answer.unconnected["k"].reason == "state"
    assert ask.answer(text, variables, sources=[]).warnings == []
    mended = ask.answer(f"u = copy(u)\n{text}", variables)
    assert mended.warnings == []
    assert mended.gradients["k"] != 0
    assert ask.answer("u.assign(k*u)\nsum(u**2)", variables).warnings == []
