import gradwire
import numpy as np
import pytest


def test_evaluate_returns_the_programs_output(client):
    answer = client.evaluate("sum(x**2)", {"x": [1, 2, 3]})
    assert answer.outputs == 14.0
    assert isinstance(answer.outputs, float)
    assert answer.program.startswith("sha256:")
    phases = "parse", "compile", "replay", "encode", "queue", "other"
    assert set(answer.timings) == {*phases, "total"}
    total = sum(answer.timings[phase] for phase in phases)
    assert answer.timings["total"] == pytest.approx(total, abs=0.01)
    assert answer.request_id


def test_a_program_without_variables_is_evaluated(client):
    assert client.evaluate("2 ** 10").outputs == 1024.0


def test_outputs_can_be_named_and_keep_their_dtypes(client):
    program = "small = x.astype('float32')\nlarge = x > 1\ncount = sum(large)"
    names = ("small", {"large": "large", "count": "count"})
    answer = client.evaluate(program, {"x": [1.0, 2.0]}, outputs=names)
    small, others = answer.outputs
    np.testing.assert_array_equal(small, np.array([1, 2], np.float32), strict=True)
    np.testing.assert_array_equal(others["large"], np.array([False, True]), strict=True)
    assert others["count"].dtype == np.int64


def test_several_outputs_are_a_list(client):
    total, rows = client.evaluate("sum(x), x", {"x": [1.0, 2.0]}).outputs
    assert total == 3.0
    np.testing.assert_array_equal(rows, [1.0, 2.0])


def test_nonfinite_values_are_returned_unchanged(client):
    answer = client.evaluate("x * 2", {"x": np.array([np.nan, np.inf, -np.inf])})
    np.testing.assert_array_equal(answer.outputs, [np.nan, np.inf, -np.inf])


def test_complex_numbers_are_sent_and_returned(client):
    z = np.array([1 + 2j, -1j], np.complex64)
    answer = client.evaluate("conj(z)", {"z": z})
    np.testing.assert_array_equal(answer.outputs, z.conj(), strict=True)


def test_a_large_array_is_sent_and_returned_unchanged(client):
    x = np.random.default_rng(7).standard_normal((300, 200))
    np.testing.assert_array_equal(client.evaluate("x + 0", {"x": x}).outputs, x, strict=True)


def test_an_empty_array_keeps_its_shape(client):
    assert client.evaluate("x * 2", {"x": np.zeros((0, 3), np.float32)}).outputs.shape == (0, 3)


def test_assigned_variables_are_returned_as_updates(client):
    variables = {"state": {"x": np.float32(3)}, "y": 4.0}
    answer = client.evaluate("state.x.assign_add(1)\nstate.x * y", variables)
    assert answer.outputs == 16.0
    assert answer.updates == {"state.x": 4.0}
    assert answer.updates["state.x"].dtype == np.float32


def test_warnings_are_returned(client):
    answer = client.evaluate("grad(y, x)\ny + x", {"x": 1.0, "y": 2.0})
    assert [notice.code for notice in answer.warnings] == ["no_path"]


def test_an_unknown_program_is_named(client):
    with pytest.raises(gradwire.UnknownRef) as caught:
        client.evaluate({"ref": "sha256:" + "0" * 64})
    assert caught.value.missing == ["sha256:" + "0" * 64]


def test_a_graph_is_a_program_too(client):
    graph = {"format": "gradwire/1", "nodes": [{"id": "y", "op": "sin", "args": ["x"]}]}
    answer = client.gradient({**graph, "outputs": "y"}, {"x": 0.0})
    assert answer.gradients == {"x": 1.0}


def test_an_error_shows_its_line(client):
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
def test_each_error_has_its_class(client, program, variables, error):
    with pytest.raises(error):
        client.evaluate(program, variables)


@pytest.mark.parametrize("x", np.linspace(0.1, 2, 8))
def test_exact_results_equal_numpys_bit_for_bit_every_time(client, x):
    for _ in range(3):
        with client.tape("tanh(x)", {"x": x}, exact=True) as tape:
            assert tape.outputs == tape.gradient().value == np.tanh(x)
        answer = client.gradient("tanh(x)", {"x": x}, exact=True)
        assert answer.value == client.evaluate("tanh(x)", {"x": x}, exact=True).outputs
        assert answer.value == np.tanh(x)


def test_computations_end_at_the_timeout(client):
    program = "s = x\nwhile s >= 0:\n    s = s * 0.5 + 1"
    with pytest.raises(gradwire.DeadlineExceeded):
        client.evaluate(program, {"x": 1.0}, timeout_ms=50)


async def test_any_route_of_the_protocol_can_be_called(client, awaiting_client):
    registered = client.request("POST", "/v1/programs", {"program": "x + 1"})
    assert registered.response.status_code in (200, 201)
    again = await awaiting_client.request("POST", "/v1/programs", {"program": "x + 1"})
    assert again.document["id"] == registered.document["id"]
    assert client.request("GET", "/v1/ops").response.headers["Content-Type"] == "application/json"
    deleted = client.request("DELETE", f"/v1/programs/{registered.document['id']}")
    assert (deleted.document, deleted.response.status_code) == (None, 204)
    with pytest.raises(gradwire.NotFound):
        client.request("GET", "/v1/nowhere")


async def test_results_that_stay_are_stored_tensors(client, awaiting_client):
    program, x = "a = x + 1\nb = sum(a)", np.arange(600.0)
    answer = client.evaluate(
        program, {"x": x}, outputs={"large": "a", "small": ["b"]}, keep=["outputs"]
    )
    stored = answer.outputs["large"]
    assert isinstance(stored, gradwire.StoredTensor)
    assert stored.dtype == np.float64
    assert (stored.shape, stored.nbytes) == ((600,), 4800)
    assert answer.outputs["small"] == [np.sum(x + 1)]
    assert "with the service" in repr(answer)
    np.testing.assert_array_equal(client.tensors.get(stored), x + 1)
    assert client.evaluate("sum(y)", {"y": stored}).outputs == np.sum(x + 1)
    again = await awaiting_client.gradient("a = x * x", {"x": x}, sources=["x"], keep=["gradients"])
    values = await awaiting_client.tensors.get(again.gradients[0])
    np.testing.assert_array_equal(values, 2 * x)
    client.evaluate("1", release=[stored.ref])
    with pytest.raises(gradwire.UnknownRef):
        client.tensors.get(stored)
