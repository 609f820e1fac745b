import base64
import re
from xml.etree import ElementTree

import gradwire
import numpy as np
import pytest

POINT = {"x": np.ones((4, 2)), "w": [0.1, 0.2], "y": np.ones(4)}
PROGRAM = "h = tanh(x @ w)\nloss = mean((h - y)**2)"


def texts(drawing):
    return [
        element.text for element in ElementTree.fromstring(drawing.svg()).iter() if element.text
    ]


def test_a_program_is_drawn_with_types_and_marks(client):
    drawing = client.draw(PROGRAM, POINT, target="loss", sources=["w"])
    told = texts(drawing)
    assert {"x", "float64[4, 2]", "matmul", "tanh", "source", "target"} <= set(told)
    assert "h · float64[4]" in told
    assert drawing.text == PROGRAM
    assert drawing.program == client.evaluate(PROGRAM, POINT).program
    assert drawing.dot().startswith("digraph program {")
    assert "float64[4, 2]" in drawing.dot()
    assert drawing.program in repr(drawing)
    assert "<svg" not in repr(drawing)


def test_in_a_page_a_drawing_is_an_isolated_image(client):
    drawing = client.draw(PROGRAM)
    page = drawing._repr_html_()
    (source,) = re.findall(r'src="data:image/svg\+xml;base64,([^"]*)"', page)
    assert base64.b64decode(source).decode() == drawing.svg() == drawing._repr_svg_()
    assert "<style" not in page


def test_registered_programs_can_be_drawn(client):
    first = client.draw(PROGRAM)
    again = client.draw({"ref": first.program})
    assert (again.program, again.svg(), again.text) == (first.program, first.svg(), PROGRAM)
    graph = {"nodes": [{"id": "y", "op": "tanh", "args": ["x"]}], "outputs": "y"}
    assert "tanh" in texts(client.draw(graph, {"x": np.ones(3, np.float32)}))
    with pytest.raises(gradwire.NotFound):
        client.draw({"name": "nowhere"})


def test_functions_are_drawn_as_recorded(client):
    def loss(w, x, y):
        return np.mean((np.tanh(x @ w["a"] + w["b"]) - y) ** 2)

    drawing = client.draw(loss, {"a": np.ones(2), "b": 0.5}, np.ones((4, 2)), np.ones(4))
    told = texts(drawing)
    assert {"np.tanh", "w_a", "float64[4, 2]"} <= set(told)
    assert "np.tanh(" in (drawing.text or "")


def test_nested_variables_have_types(client):
    layers = [{"w": np.ones((2, 3), np.float32), "b": 0.5}, {"w": {"value": [1.0] * 3}, "b": True}]
    drawing = client.draw("x @ layers[0].w @ layers[1].w", {"layers": layers, "x": np.ones(2)})
    assert {"float32[2, 3]", "float64[3]"} <= set(texts(drawing))


def test_arguments_without_type_are_drawn_without_one(client):
    rows = gradwire.RaggedArray.of([[1.0, 2.0], []])
    told = texts(client.draw("sum(rows) + v", {"rows": rows, "v": 1.0}))
    assert "sum" in told
    assert not any("float64" in text for text in told)
    many = {f"variable_{i}": float(i) for i in range(400)}
    for _ in range(4):
        assert "variable_399" in texts(client.draw(" + ".join(many), many))


def test_mismatched_types_are_reported(client):
    with pytest.raises(gradwire.ShapeMismatch):
        client.draw("x @ w", {"x": np.ones((3, 4)), "w": np.ones((5, 2))})
    with pytest.raises(TypeError, match="one point"):
        client.draw("x", {"x": 1.0}, {"x": 2.0})
    with pytest.raises(gradwire.ProgramSyntaxError) as caught:
        client.draw("a = = 2")
    assert "line 1: a = = 2" in str(caught.value)


async def test_the_async_client_draws_the_same(awaiting_client, client):
    drawing = await awaiting_client.draw(PROGRAM, POINT)
    assert drawing == client.draw(PROGRAM, POINT)
