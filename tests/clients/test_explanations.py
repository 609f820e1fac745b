"""Explanations: what the service replays, with values and adjoints, as data and as text."""

import re

import gradwire
import numpy as np
import pytest

LOSS = "h = tanh(x @ w)\nloss = mean((h - y)**2)"
VALUES = {"x": np.ones((100, 2)), "w": np.array([0.1, -0.2]), "y": np.zeros(100)}


def test_nodes_have_the_values_and_adjoints_of_the_program(client):
    explained = client.explain(LOSS, VALUES, sources="w")
    assert isinstance(explained, gradwire.Explanation)
    named = dict(explained.named())
    assert [*named] == ["x", "w", "y", "h", "loss"]
    gradients = client.gradient(LOSS, VALUES, sources=["w", "loss"], exact=True).gradients
    np.testing.assert_array_equal(named["w"].adjoint, gradients[0], strict=True)
    assert named["loss"].adjoint == gradients[1] == 1.0
    np.testing.assert_array_equal(named["w"].value, VALUES["w"], strict=True)
    assert (named["w"].is_source, named["w"].is_target) == (True, False)
    assert (named["loss"].is_source, named["loss"].is_target) == (False, True)
    h = named["h"]
    assert (h.dtype, h.shape, h.place.line) == (np.dtype(np.float64), (100,), 1)
    assert h.value == gradwire.ArraySummary(np.tanh(-0.1), np.tanh(-0.1), h.value.mean, 0)
    assert h.value.mean == pytest.approx(np.tanh(-0.1))


def test_instructions_are_those_of_the_query(client):
    explained = client.explain("w * sin(x)", {"x": 0.5, "w": 2.0}, query="evaluate")
    assert [each.op for each in explained.instructions] == ["input", "input", "sin", "multiply"]
    assert explained.outputs == (3,)
    assert explained.nodes is not None
    assert all(node.adjoint is None for node in explained.nodes)
    assert explained.seconds is None
    timed = client.explain("sum(x**3)", {"x": [1.0, 2.0]}, query="hessian", time=True)
    assert timed.seconds == pytest.approx(sum(each.seconds for each in timed.instructions))
    assert any(each.derivative for each in timed.instructions)
    assert timed.stages["recorded"] < timed.stages["differentiated"]


def test_constants_are_numbers(client):
    explained = client.explain("real(x * inf + 1j * x * nan + 3j * x)", {"x": 2.0})
    constants = [each.constant for each in explained.instructions if each.constant is not None]
    assert all(isinstance(constant, (int, float, complex)) for constant in constants)
    assert {complex(0, 3), float("inf")} <= {*constants}
    assert any(np.isnan(constant) for constant in constants)


def test_loops_have_bodies(client):
    explained = client.explain("for i in range(5000):\n  x = sin(x)\nx", {"x": 0.5})
    loops = [each for each in explained.instructions if each.op == "loop"]
    assert loops
    for loop in loops:
        assert loop.dtype is loop.shape is None
        assert "sin" in {each.op for each in loop.body} | {"sin" * loop.derivative}


def test_a_program_that_is_too_long_has_no_nodes(client):
    listed = ", ".join(f"sin({i} * x)" for i in range(3000))
    explained = client.explain(f"sum(stack([{listed}]))", {"x": 0.5})
    assert explained.nodes is None
    assert [*explained.named()] == []
    assert explained.warnings[-1].code == "no_nodes"
    assert "too many nodes" in repr(explained)


def test_errors_are_those_of_the_query(client):
    with pytest.raises(gradwire.ShapeMismatch, match="line 1: a @ b"):
        client.explain("a @ b", {"a": np.ones((2, 3)), "b": np.ones((2, 3))})
    with pytest.raises(gradwire.InvalidRequest) as caught:
        client.explain("x", {"x": 1.0}, query="jvp")
    assert caught.value.pointer == "/query"


async def test_an_asynchronous_client_explains_as_well(awaiting_client):
    explained = await awaiting_client.explain("x**2", {"x": 3.0})
    assert dict(explained.named())["x"].adjoint == 6.0


def test_an_explanation_is_printed_as_two_tables(client):
    variables = {"x": np.ones(100), "w": 2.0}
    text = repr(client.explain("h = w * x\nsum(h)", variables, time=True))
    title, *lines = text.splitlines()
    cost = r"[\d,]+ operations on large arrays, [\d,]+ bytes at once, [\d.]+ µs"
    assert re.fullmatch(f"Explanation of gradient: {cost}", title)
    recorded, replayed = lines.index("  recorded"), lines.index("  replayed")
    head = ["slot", "operation", "of", "type", "line", "name", "value", "adjoint"]
    assert lines[recorded + 1].split() == head
    rows = [line.split() for line in lines[recorded + 2 : replayed]]
    assert rows[0] == ["0", "input", "float64[100]", "x", "x", "1", "…", "1", "2", "…", "2"]
    assert rows[2][:5] == ["2", "multiply", "1,", "0", "float64[100]"]
    assert lines[replayed + 1].split() == [*head[:5], "op", "bytes", "µs"]
    assert any(line.split()[-4].endswith("′") for line in lines[replayed + 2 : -2])
    assert lines[-2].split(" · ")[0] == "  recorded 4"


def test_an_explanation_is_a_frame_of_instructions(client):
    pytest.importorskip("pandas")
    frame = client.explain("w * sin(x)", {"x": 0.5, "w": 2.0}).to_pandas()
    assert [*frame.columns[:3]] == ["slot", "op", "operands"]
    assert "cos" in set(frame.op[frame.derivative])
