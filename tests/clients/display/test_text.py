import re

import gradwire
import numpy as np
import pytest

LAYERS = [{"w": np.ones((2, 3)), "b": np.zeros(3)}, {"w": np.ones(3, np.float32), "b": 0.5}]


def test_a_gradient_is_printed_as_a_table(client):
    program = "h = tanh(x @ layers[0].w + layers[0].b)\nsum(h @ layers[1].w + layers[1].b)"
    x = {"value": np.ones((4, 2)), "trainable": False}
    answer = client.gradient(program, {"layers": LAYERS, "x": x, "u": 3.0})
    title, head, *lines, foot = repr(answer).splitlines()
    assert title == "Gradient of 13.57"
    assert head.split() == ["source", "type", "at", "gradient", "norm"]
    assert [line.split()[0] for line in lines] == [
        *("layers.0.w", "layers.0.b", "layers.1.w", "layers.1.b", "x", "u")
    ]
    assert "[3.856, 3.856, 3.856]" in lines[2]
    assert "float32[3]" in lines[2]
    assert "none: the variable is not trainable" in lines[4]
    assert "all 1" in lines[4]
    columns = [match.start() for match in re.finditer(r"\S+", head)]
    assert all(line[column - 1] == " " for line in lines for column in columns if line[column:])
    assert f"program {answer.program[:15]}" in foot
    assert answer.request_id in foot


def test_each_kind_of_response_is_labelled(client):
    x = {"x": np.array([2.0, 3.0])}
    said = {
        "Evaluation": client.evaluate("x**2", x),
        "Jacobian of float64[2] [4, 9]": client.jacobian("x**2", x),
        "Hessian of 13": client.hessian("sum(x**2)", x),
        "Jvp of float64[2] [4, 9]": client.jvp("x**2", x, x),
        "Hvp of 13": client.hvp("sum(x**2)", x, x),
        "Check of 13: all right": client.check("sum(x**2)", x),
    }
    for title, answer in said.items():
        assert repr(answer).splitlines()[0] == title
    assert "[4, 6]" in repr(said["Hvp of 13"])
    assert "norm of hvp" in repr(said["Hvp of 13"])
    assert "right, error" in repr(said["Check of 13: all right"])


def test_small_matrices_are_printed_completely(client):
    text = repr(client.hessian("(1 - x)**2 + 100 * (y - x**2)**2", {"x": 1.0, "y": 1.0}))
    lines = [line.split() for line in text.splitlines()]
    at = lines.index("hessian 2 × 2, eigenvalues 0.3994 … 1002".split())
    assert lines[at + 1 : at + 4] == [["x", "y"], ["x", "802", "-400"], ["y", "-400", "200"]]


def test_the_first_nonfinite_operation_is_shown(client):
    answer = client.gradient("a = log(sum(x))\na + 0*sqrt(y)", {"x": [0.0, 0.0], "y": 0.0})
    text = repr(answer)
    assert "! First non-finite value, forward: log, given 0\n  line 1: a = log(sum(x))\n" in text
    assert "\n  line 2: a + 0*sqrt(y)\n                ^" in text


def test_nonfinite_inputs_are_reported(client):
    text = repr(client.evaluate("sum(x)", {"x": [1.0, np.nan, np.inf]}))
    assert "! Non-finite input: x has 2 such elements" in text


def test_the_instructions_of_a_tape_are_a_table(client):
    with client.tape("h = tanh(x)\nsum(h**2)", {"x": np.ones(9)}, persistent=True) as tape:
        assert repr(tape).startswith(f"Tape {tape.id}, watches x\n")
        assert "5.22" in repr(tape)
        text = repr(tape.show())
    assert "watched: x" in text
    assert re.search(r"1 +tanh +0 +float64\[9\] +1", text)


@pytest.mark.thorough
def test_huge_responses_have_short_texts(client):
    many = {f"k{i}": np.full(3, i) * 1.0 for i in range(300)}
    text = repr(client.gradient("sum(k0) + sum(k1)", many))
    assert "… and 276 more" in text
    assert len(text.splitlines()) < 30
    text = repr(client.evaluate("x", {"x": np.linspace(0, 1, 10**5)}))
    assert "0 … 1, mean 0.5" in text
    assert len(text) < 400
    long = repr(client.evaluate("x", {"x" * 200: 1.0, "x": 2.0}, outputs=["x" * 200]))
    assert all(len(line) < 200 for line in long.splitlines())


def test_every_dtype_and_form_has_a_text(client):
    rows = gradwire.RaggedArray.of([[1.0, 2.0], [], [3.0]])
    values = {
        "i": np.arange(9),
        "b": np.array([True, False]),
        "c": np.array([1 + 2j, -1j]),
        "e": np.zeros((0, 3)),
        "n": np.array([np.nan, 1.0] * 9),
        "r": rows,
    }
    text = repr(client.evaluate("i", values, outputs=list(values)))
    for part in (
        "0 … 8, mean 4",
        "[True, False]",
        "[1+2j, 0-1j]",
        "1, 9 not finite",
        "float64[3 rows of 0…2]",
    ):
        assert part in text
