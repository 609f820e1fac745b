import asyncio
import contextlib
from dataclasses import dataclass
from typing import Any

import gradwire
import httpx
import numpy as np
import pytest
import scipy.optimize
from gradwire_service.app import create_app

LINEAR = "h = x @ w + b\nloss = mean((h - y)**2)"
X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
Y = np.array([1.0, 0.0, 1.0])
W = np.array([0.5, -0.25], np.float32)
POINT = {"x": X, "y": Y, "w": W, "b": 0.125}
GRADIENT_W = 2 / 3 * X.T @ (X @ W + 0.125 - Y)


@pytest.fixture(scope="module")
def client(service_url):
    with gradwire.Client(service_url) as client:
        yield client


@contextlib.asynccontextmanager
async def awaiting_client():
    app = create_app()
    transport = httpx.ASGITransport(app)
    async with (
        httpx.AsyncClient(transport=transport, base_url="http://service") as http,
        gradwire.AsyncClient(http_client=http) as client,
    ):
        yield client
    app.state.capacity.close()


def test_an_evaluation_has_the_programs_output(client):
    answer = client.evaluate("sum(x**2)", {"x": [1, 2, 3]})
    assert answer.outputs == 14.0
    assert isinstance(answer.outputs, float)
    assert answer.program.startswith("sha256:")
    assert set(answer.timings) == {"parse", "compile", "replay", "encode"}
    assert answer.request_id


def test_a_program_without_variables_is_evaluated(client):
    assert client.evaluate("2 ** 10").outputs == 1024.0


def test_outputs_are_named_and_keep_their_dtypes(client):
    program = "small = x.astype('float32')\nlarge = x > 1\ncount = sum(large)"
    names = ("small", {"large": "large", "count": "count"})
    answer = client.evaluate(program, {"x": [1.0, 2.0]}, outputs=names)
    small, others = answer.outputs
    np.testing.assert_array_equal(small, np.array([1, 2], np.float32), strict=True)
    np.testing.assert_array_equal(others["large"], np.array([False, True]), strict=True)
    assert others["count"].dtype == np.int64


def test_several_outputs_of_a_program_are_a_list(client):
    total, rows = client.evaluate("sum(x), x", {"x": [1.0, 2.0]}).outputs
    assert total == 3.0
    np.testing.assert_array_equal(rows, [1.0, 2.0])


def test_values_that_are_not_finite_arrive_as_they_are(client):
    answer = client.evaluate("x * 2", {"x": np.array([np.nan, np.inf, -np.inf])})
    np.testing.assert_array_equal(answer.outputs, [np.nan, np.inf, -np.inf])


def test_complex_numbers_pass_both_ways(client):
    z = np.array([1 + 2j, -1j], np.complex64)
    answer = client.evaluate("conj(z)", {"z": z})
    np.testing.assert_array_equal(answer.outputs, z.conj(), strict=True)


def test_a_large_array_passes_both_ways_unchanged(client):
    x = np.random.default_rng(7).standard_normal((300, 200))
    np.testing.assert_array_equal(client.evaluate("x + 0", {"x": x}).outputs, x, strict=True)


def test_an_array_without_elements_keeps_its_shape(client):
    assert client.evaluate("x * 2", {"x": np.zeros((0, 3), np.float32)}).outputs.shape == (0, 3)


def test_a_gradient_has_its_sources_structure_dtype_and_shape(client):
    answer = client.gradient(LINEAR, POINT, sources={"weights": ("w",), "bias": "b"})
    (dw,) = answer.gradients["weights"]
    assert dw.dtype == np.float32
    np.testing.assert_allclose(dw, GRADIENT_W, rtol=1e-6)
    assert isinstance(answer.gradients["bias"], np.float64)
    assert isinstance(answer.value, float)


@dataclass
class Layer:
    w: Any
    b: Any


def test_without_sources_the_variables_own_structure_comes_back(client):
    variables = {
        "layers": (Layer(np.eye(2), np.zeros(2)), Layer(np.ones(2), {"value": 0.5})),
        "x": {"value": [1.0, 2.0], "trainable": False},
        "n": np.int32(2),
    }
    program = "h = x @ layers[0].w + layers[0].b\nn * (h @ layers[1].w + layers[1].b)"
    answer = client.gradient(program, variables)
    first, last = answer.gradients["layers"]
    assert isinstance(first, Layer)
    np.testing.assert_array_equal(first.w, [[2.0, 2.0], [4.0, 4.0]])
    np.testing.assert_array_equal(last.w, [2.0, 4.0])
    assert last.b == 2.0
    assert answer.gradients["x"] is None
    assert answer.gradients["n"] is None
    assert answer.unconnected["x"].reason == "not_trainable"
    assert answer.unconnected["n"].reason == "integer_dtype"


def test_targets_outputs_and_their_gradients_are_named(client):
    answer = client.gradient(
        "y = x**2\nz = x**3",
        {"x": np.array([1.0, 2.0])},
        target=["y", "z"],
        sources="x",
        outputs={"square": "y"},
        output_gradients=[[1.0, 10.0], None],
    )
    np.testing.assert_array_equal(answer.gradients, [2 + 3, 40 + 12])
    np.testing.assert_array_equal(answer.value[1], [1.0, 8.0])
    np.testing.assert_array_equal(answer.outputs["square"], [1.0, 4.0])


def test_a_missing_gradient_is_none_or_zeros(client):
    answer = client.gradient("y = x * stop_gradient(z)", {"x": 1.0, "z": np.ones(2)})
    assert answer.gradients["z"] is None
    assert answer.unconnected["z"].reason == "stop_gradient"
    assert answer.unconnected["z"].node.line == 1
    zeros = client.gradient("y = x", {"x": 1.0, "z": np.ones(2)}, unconnected_gradients="zero")
    np.testing.assert_array_equal(zeros.gradients["z"], [0.0, 0.0])


def test_assigned_variables_come_back_as_updates(client):
    variables = {"state": {"x": np.float32(3)}, "y": 4.0}
    answer = client.evaluate("state.x.assign_add(1)\nstate.x * y", variables)
    assert answer.outputs == 16.0
    assert answer.updates == {"state.x": 4.0}
    assert answer.updates["state.x"].dtype == np.float32


def test_what_is_not_finite_is_pointed_out(client):
    answer = client.gradient("sqrt(x)", {"x": 0.0})
    assert np.isinf(answer.gradients["x"])
    where = answer.nonfinite["backward"]
    assert (where.op, where.instruction, where.hint) == ("sqrt", "divide", None)
    assert where.operands[1] == gradwire.Range(shape=(), min=0.0, max=0.0, nonfinite=0)


def test_warnings_are_told(client):
    answer = client.evaluate("grad(y, x)\ny + x", {"x": 1.0, "y": 2.0})
    assert [notice.code for notice in answer.warnings] == ["no_path"]


def test_a_registered_program_that_is_not_there_is_named(client):
    with pytest.raises(gradwire.UnknownRef) as caught:
        client.evaluate({"ref": "sha256:0"})
    assert caught.value.missing == ["sha256:0"]


def test_a_graph_is_a_program_too(client):
    graph = {"format": "gradwire/1", "nodes": [{"id": "y", "op": "sin", "args": ["x"]}]}
    answer = client.gradient({**graph, "outputs": "y"}, {"x": 0.0})
    assert answer.gradients == {"x": 1.0}


def test_an_error_shows_the_line_it_is_about(client):
    with pytest.raises(gradwire.ShapeMismatch) as caught:
        client.evaluate("a = 1\nb = x @ w", {"x": np.zeros((3, 4)), "w": np.zeros((5, 2))})
    assert caught.value.status == 422
    assert caught.value.request_id
    assert "  line 2: b = x @ w\n" in str(caught.value)


@pytest.mark.parametrize(
    ("program", "variables", "error"),
    [
        ("y = ", {}, gradwire.ProgramSyntaxError),
        ("q(x)", {"x": 1.0}, gradwire.UnknownOperation),
        ("x + z", {"x": 1.0}, gradwire.UnknownName),
        ("arange(x)", {"x": 3}, gradwire.BadArgument),
        ("inv(x)", {"x": np.zeros((2, 2))}, gradwire.DomainError),
        ("x", {"x": {"dtype": "int8", "shape": [2], "base64": ""}}, gradwire.MalformedTensor),
        ("zeros((100000, 100000))", {}, gradwire.OverBudget),
    ],
    ids=str,
)
def test_each_refusal_has_its_class(client, program, variables, error):
    with pytest.raises(error):
        client.evaluate(program, variables)


def test_work_ends_when_its_time_has_passed(client):
    program = "s = x\nwhile s >= 0:\n    s = s * 0.5 + 1"
    with pytest.raises(gradwire.DeadlineExceeded):
        client.evaluate(program, {"x": 1.0}, timeout_ms=50)


def test_value_and_grad_is_a_function_of_the_variables(client):
    f = client.value_and_grad(LINEAR, sources="w")
    value, gradient = f(POINT)
    again, _ = f({"x": X, "y": Y}, w=W, b=0.125)
    assert value == again
    np.testing.assert_allclose(gradient, GRADIENT_W, rtol=1e-6)
    _, by_name = client.value_and_grad("x * y")(x=2.0, y=3.0)
    assert by_name == {"x": 3.0, "y": 2.0}


def test_value_and_grad_is_what_scipy_takes(client):
    f = client.value_and_grad("sum(100 * (x[1:] - x[:-1]**2)**2 + (1 - x[:-1])**2)", sources="x")
    found = scipy.optimize.minimize(lambda x: f(x=x), np.zeros(4), jac=True, method="BFGS")
    assert found.success
    np.testing.assert_allclose(found.x, 1.0, rtol=1e-4)


async def test_the_awaiting_client_answers_the_same(client):
    async with awaiting_client() as other:
        evaluation = await other.evaluate("x**2", {"x": 3})
        gradient = await other.gradient(LINEAR, POINT, sources="w")
        value, gradients = await other.value_and_grad(LINEAR, sources="w")(POINT)
        with pytest.raises(gradwire.UnknownOperation):
            await other.evaluate("q(x)", {"x": 1.0})
    assert evaluation.outputs == 9.0
    np.testing.assert_array_equal(gradient.gradients, gradients)
    assert gradient.value == value == client.gradient(LINEAR, POINT).value


async def test_many_gradients_are_gathered():
    async with awaiting_client() as client:
        answers = await asyncio.gather(*(client.gradient("x**2", {"x": i}) for i in range(20)))
    assert [answer.gradients["x"] for answer in answers] == [2.0 * i for i in range(20)]
