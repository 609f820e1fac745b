import sys
from dataclasses import dataclass
from typing import NamedTuple

import gradwire
import numpy as np
import pytest
from gradwire.tracing.programs import function_lines

X, Y = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([0.0, 1.0])
W = np.array([0.1, -0.2])
LOSS = "mean((tanh(x @ w) - y)**2)"


@pytest.fixture
def recursion_limit():
    """Python's own limit, which some libraries raise for the whole process."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    yield
    sys.setrecursionlimit(limit)


# The expected result of each is the service's result for the same text.
TEXTS = [
    "x * w",
    "y = x + 1\nx * y\nz = 0 * y",
    "for i in range(3):\n    y = x * i",
    "if x < 0:\n    return -x\nx + w",
    "if x > 0:\n    x + 1\nelse:\n    x + 2\n    y = 3",
    "'''says nothing'''\ny = x; 2 * y",
    "a, b = x, w",
    "a = b = w * x",
    "y = zeros(3)\ny[1] = x\n",
    "y = x\ny += w",
    "xs = []\nxs.append(x)\nxs.append(w)\nnp.append(stack(xs), 3)",
    "def f(v):\n    v**2\n    return v * w\nf(x)",
    "(x +\n  w)",
    "return {'a': x, 'b': [w, (x, w)]}",
    "# é\n'é'; x * w  # é",
]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("x", [-2.0, 3.0])
def test_a_program_as_a_function_returns_the_same_result(client, text, x):
    expected = client.evaluate(text, {"x": x, "w": 5.0}).outputs
    np.testing.assert_equal(gradwire.program(text, "x", "w", client=client)(x, 5.0), expected)


def test_a_program_can_be_differentiated_in_any_argument(client):
    loss = gradwire.program(LOSS, "w", "x", "y", client=client)
    known = client.gradient(LOSS, {"w": W, "x": X, "y": Y})
    value, gradients = gradwire.value_and_grad(loss, (0, 1))(W, X, Y)
    assert value == known.value
    assert np.array_equal(gradients[0], known.gradients["w"])
    assert np.array_equal(gradients[1], known.gradients["x"])
    matrix = client.hessian(LOSS, {"w": W, "x": X, "y": Y}, sources="w").hessian
    assert np.allclose(gradwire.hessian(loss)(W, X, y=Y), matrix)


def test_a_program_can_be_mapped_and_called_by_other_functions(client):
    square = gradwire.program("s = x * x\nsum(s)", "x")

    def f(x):
        return square(x) * square(np.sin(x))

    xs = np.array([[1.0, 2.0], [3.0, -4.0]])
    each = gradwire.vmap(f, client=client)(xs)
    assert np.allclose(each, np.sum(xs**2, 1) * np.sum(np.sin(xs) ** 2, 1))
    slope = gradwire.grad(f, client=client)(xs[0])
    x = xs[0]
    expected = 2 * x * np.sum(np.sin(x) ** 2) + np.sum(x**2) * np.sin(2 * x)
    assert np.allclose(slope, expected)


class Layer(NamedTuple):
    w: np.ndarray
    T: float


@dataclass
class Model:
    layers: list[Layer]
    scale: float


def test_arguments_can_be_nested_like_variables(client):
    text = "model.scale * sum(model.layers[0].w * model.layers[0].T + model.layers[1].w)"
    model = Model([Layer(W, 2.0), Layer(np.ones(2), 3.0)], 10.0)
    f = gradwire.program(text, "model", client=client)
    assert f(model) == client.evaluate(text, {"model": model}).outputs
    gradient = gradwire.grad(f)(model)
    assert isinstance(gradient, Model)
    assert isinstance(gradient.layers[1], Layer)
    assert np.array_equal(gradient.layers[0].w, [20.0, 20.0])
    assert np.allclose(gradient.layers[0].T, 10 * W.sum())


def test_lists_of_numbers_are_arrays(client):
    f = gradwire.program("sum(x**2)", "x", client=client)
    assert f([1.0, 2.0]) == 5.0
    assert f([[1.0], [2]]) == 5.0
    assert gradwire.grad(f)([1.0, 2.0]) == [2.0, 4.0]


def test_integer_arguments_stay_integers(client):
    f = gradwire.program("for _ in range(n):\n    x = x * x\nx", "x", "n", client=client)
    assert f(2.0, 3) == 256.0
    assert gradwire.grad(f)(2.0, n=3) == 8 * 2.0**7


def test_errors_show_the_line_of_the_text(client):
    f = gradwire.program("a = 2\nb = a * x @ w", "x", "w", client=client)
    with pytest.raises(gradwire.ShapeMismatch) as refused:
        f(np.ones((3, 4)), np.ones((5, 2)))
    assert "b = a * x @ w" in str(refused.value)
    assert "test_programs.py" in refused.value.__notes__[0]


def test_arguments_are_the_program_s_variables(client):
    f = gradwire.program("x * w", "x", "w", client=client)
    with pytest.raises(TypeError, match="missing a required argument: 'w'"):
        f(1.0)
    with pytest.raises(gradwire.UsageError, match=r"argument 'x'\n.*name the parameters"):
        gradwire.program("x**2")(x=3.0)
    with pytest.raises(gradwire.ProgramSyntaxError, match="line 1"):
        gradwire.program("x ** ", "x")


@pytest.mark.parametrize(
    "text",
    [
        "\ud800",
        "#\udfff",
        "\0",
        "(" * 500,
        "-" * 200_000 + "x",
        "x" + ".a" * 900 + ".append(x)",
    ],
    ids=["surrogate", "comment", "null", "brackets", "signs", "attributes"],
)
@pytest.mark.usefixtures("recursion_limit")
def test_syntax_errors_have_printable_messages(text):
    with pytest.raises(gradwire.ProgramSyntaxError) as refused:
        gradwire.program(text, "x")
    assert str(refused.value).encode()


def test_the_last_expression_is_returned():
    assert function_lines("x") == ("result_ = x", "return result_")
    assert function_lines("if x > 0:\n    y = 1") == ("if x > 0:", "    y = 1", "return y")
    assert function_lines("return x") == ("return x",)
    assert function_lines("") == ("",)
