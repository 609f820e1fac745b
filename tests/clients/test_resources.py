"""Programs, tensors, tapes, operations and limits through both clients, with the real service."""

import inspect
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import uuid4

import gradwire
import numpy as np
import pytest
from gradwire.resources import pages
from gradwire.sparse import SparseArray

LOSS = "h = tanh(x @ w)\nmean((h - y)**2)"
POINT = {"x": np.array([[1.0, 2.0], [3.0, 4.0]]), "w": [0.1, -0.2], "y": [0.0, 1.0]}


@pytest.fixture(params=["blocking", "awaiting"])
def each(request, client, awaiting_client) -> tuple[Any, Callable[[Any], Awaitable[Any]]]:
    """A client, and a function that awaits its answers where they have to be."""

    async def answer(given: Any) -> Any:
        return await given if inspect.isawaitable(given) else given

    return (client if request.param == "blocking" else awaiting_client), answer


@pytest.fixture
def name() -> str:
    """A name that no other program has."""
    return f"loss-{uuid4().hex}"


async def test_programs_are_registered_found_and_deleted(each, name):
    client, answer = each
    stored = await answer(client.programs.register(f"{LOSS} + 0 * {len(name)}", name=name))
    assert isinstance(stored, gradwire.StoredProgram)
    assert (stored.name, stored.variables) == (name, ("x", "w", "y"))
    assert stored.text is not None
    assert stored.text.startswith("h = tanh")
    assert name in repr(stored)
    for reference in (name, stored.id, stored):
        assert await answer(client.programs.get(reference)) == stored
    listed = [each for each in await answer(client.programs.list()) if each.id == stored.id]
    assert listed == [stored]
    assert listed[0].text is None
    await answer(client.programs.delete(stored))
    with pytest.raises(gradwire.UnknownRef) as caught:
        await answer(client.programs.get(name))
    assert caught.value.request_id


async def test_all_pages_of_programs_are_listed(each, monkeypatch):
    client, answer = each
    monkeypatch.setattr(pages, "PAGE", 2)
    stored = [await answer(client.programs.register(f"x * {i}.5 + 17")) for i in range(5)]
    ids = [program.id for program in await answer(client.programs.list())]
    assert ids == sorted(set(ids))
    assert {program.id for program in stored} <= set(ids)


async def test_a_stored_program_stands_for_its_text(each):
    client, answer = each
    stored = await answer(client.programs.register(LOSS))
    expected = await answer(client.gradient(LOSS, POINT, sources="w"))
    found = await answer(client.gradient(stored, POINT, sources="w"))
    np.testing.assert_allclose(found.gradients, expected.gradients)
    assert found.program == stored.id
    ask = client.value_and_grad(stored, sources="w")
    assert (await answer(ask(POINT)))[0] == pytest.approx(expected.value)
    points = [{"w": [0.0, 0.0]}, {"w": [0.1, -0.2]}]
    shared = {"x": POINT["x"], "y": POINT["y"]}
    assert (await answer(client.map(stored, points, variables=shared)))[1] == pytest.approx(
        expected.value
    )
    assert (await answer(client.draw(stored))).program == stored.id
    with pytest.raises(gradwire.ShapeMismatch, match="line 1: h = tanh"):
        await answer(client.evaluate(stored, {**POINT, "w": [1.0, 2.0, 3.0]}))


async def test_a_stored_program_may_have_several_names(each, name):
    client, answer = each
    stored = await answer(client.programs.register(f"x**2 + {len(name)}", name=name))
    again = await answer(client.programs.register(stored, name=f"{name}-2"))
    assert again.id == stored.id
    assert set(again.names) == {name, f"{name}-2"}


async def test_a_programs_graph_is_data(each):
    client, answer = each
    stored = await answer(client.programs.register("y = sum(x**2, axis=0)\ny"))
    graph = await answer(client.programs.graph(stored))
    assert isinstance(graph, gradwire.Graph)
    assert graph.program == stored.id
    kinds = {node.label: node for node in graph.nodes if node.kind == "operation"}
    assert kinds["sum"].parameters == {"axis": "0"}
    assert kinds["sum"].line == 1
    assert kinds["power"].dtype is None
    assert {edge.tail for edge in graph.edges} <= {node.id for node in graph.nodes}
    variables = {"x": np.zeros((10, 3), np.float32)}
    typed = await answer(client.programs.graph(stored, variables, target="y", sources=["x"]))
    marked = {node.marks: node for node in typed.nodes if node.marks}
    assert (marked["source",].dtype, marked["source",].shape) == ("float32", (10, 3))
    assert marked["target",].name == "y"


async def test_a_graph_has_groups(each):
    client, answer = each
    stored = await answer(client.programs.register("while x < 9:\n    x = x * 2\nx"))
    graph = await answer(client.programs.graph(stored))
    assert graph.groups
    assert {node.group for node in graph.nodes} - {None} <= {group.id for group in graph.groups}


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3),
        np.arange(6, dtype=np.int32)[::2],
        np.array([1 + 2j], np.complex64),
        np.zeros((0, 3), np.float32),
        3.0,
        [[True, False]],
    ],
    ids=["floats", "strided", "complex", "empty", "number", "booleans"],
)
async def test_tensors_are_put_and_fetched(each, array):
    client, answer = each
    stored = await answer(client.tensors.put(array))
    assert isinstance(stored, gradwire.StoredTensor)
    expected = np.asarray(array)
    assert (stored.dtype, stored.shape) == (expected.dtype, expected.shape)
    assert (stored.nbytes, stored.ndim) == (expected.nbytes, expected.ndim)
    assert await answer(client.tensors.put(array)) == stored
    for reference in (stored, stored.ref):
        fetched = await answer(client.tensors.get(reference))
        np.testing.assert_array_equal(fetched, expected, strict=True)
    assert stored.ref in repr(stored)
    await answer(client.tensors.delete(stored))
    with pytest.raises(gradwire.UnknownRef):
        await answer(client.tensors.get(stored))


async def test_a_stored_tensor_stands_for_its_array(each):
    client, answer = each
    x = await answer(client.tensors.put(POINT["x"]))
    w = await answer(client.tensors.put(np.array([0.1, -0.2])))
    stored = {**POINT, "x": {"value": x, "trainable": False}, "w": w}
    given = {**POINT, "x": {"value": POINT["x"], "trainable": False}}
    for ask in (
        lambda point: client.gradient(LOSS, point),
        lambda point: client.hessian(LOSS, point, sources={"w": "w"}),
        lambda point: client.jacobian(LOSS, point, target="h", sources=["w"]),
        lambda point: client.check(LOSS, point, sources="w"),
    ):
        found, expected = await answer(ask(stored)), await answer(ask(given))
        assert repr(found).splitlines()[0]
        assert found.value == pytest.approx(expected.value)
    found = await answer(client.gradient(LOSS, stored))
    assert found.unconnected["x"].reason == "not_trainable"
    assert found.gradients["w"].shape == (2,)
    nested = {"layers": [w, {"b": w}]}
    sums = await answer(client.gradient("sum(layers[0] * layers[1].b)", nested))
    np.testing.assert_allclose(sums.gradients["layers"][1]["b"], [0.1, -0.2])


async def test_stored_tensors_are_directions_weights_and_parts(each):
    client, answer = each
    ones = await answer(client.tensors.put(np.ones(2)))
    x = {"x": [1.0, 2.0]}
    assert (await answer(client.jvp("sum(x**2)", x, {"x": ones}))).jvp == 6.0
    weighted = await answer(client.gradient("x**2", x, sources="x", output_gradients=ones))
    np.testing.assert_array_equal(weighted.gradients, [2.0, 4.0])
    product = await answer(client.hvp("sum(x**3)", x, {"x": ones}))
    np.testing.assert_array_equal(product.hvp["x"], [6.0, 12.0])
    table = SparseArray(np.array([[0], [2]]), ones, (3,))
    assert (await answer(client.evaluate("sum(t * 2)", {"t": table}))).outputs == 4.0


async def test_recorded_functions_take_stored_tensors(each):
    client, answer = each

    def loss(w, x):
        return np.sum(np.tanh(x @ w) ** 2)

    x = np.arange(6.0).reshape(3, 2)
    stored = await answer(client.tensors.put(x))
    slope = client.grad(loss)
    expected = await answer(slope(np.array([0.1, 0.2]), x))
    for _ in range(2):
        found = await answer(slope(np.array([0.1, 0.2]), stored))
        np.testing.assert_allclose(found, expected)
    of_x = await answer(client.grad(loss, argnums=1)(np.array([0.1, 0.2]), stored))
    assert of_x.shape == x.shape


async def test_the_values_of_a_stored_tensor_are_not_read_by_mistake(each):
    client, answer = each
    stored = await answer(client.tensors.put([1.0, 2.0]))
    with pytest.raises(gradwire.UsageError, match=r"values of sha256:.* are with the service"):
        np.sum(stored)
    with pytest.raises(gradwire.UsageError, match=r"points\[0\]"):
        await answer(client.map("sum(x)", [{"x": stored}]))


async def test_a_deleted_tensor_is_missing(each):
    client, answer = each
    stored = await answer(client.tensors.put([1.0, 2.0, 4.0, 8.0]))
    await answer(client.tensors.delete(stored))
    with pytest.raises(gradwire.UnknownRef) as caught:
        await answer(client.evaluate("sum(x)", {"x": stored}))
    assert caught.value.missing == [stored.ref]


def test_tapes_are_created_shown_and_deleted(client):
    with client.tapes.create("h = x**2\nsum(h)", {"x": [1.0, 2.0]}, persistent=True) as tape:
        assert isinstance(tape, gradwire.Tape)
        assert client.tapes.get(tape).length == tape.show().length
        assert client.tapes.get(tape.id).persistent
        np.testing.assert_array_equal(tape.gradient(sources="x").gradients, [2.0, 4.0])
        client.tapes.delete(tape)
        with pytest.raises(gradwire.UnknownTape):
            client.tapes.get(tape)


@pytest.mark.thorough
async def test_tapes_are_created_shown_and_deleted_by_the_async_client(awaiting_client):
    client = awaiting_client
    x = await client.tensors.put([1.0, 2.0])
    async with client.tapes.create("h = x**2\nsum(h)", {"x": x}, persistent=True) as tape:
        assert isinstance(tape, gradwire.AsyncTape)
        assert (await client.tapes.get(tape)).persistent
        answer = await tape.gradient(sources="x")
        np.testing.assert_array_equal(answer.gradients, [2.0, 4.0])
        await client.tapes.delete(tape.id)
        with pytest.raises(gradwire.UnknownTape):
            await client.tapes.get(tape.id)
    program = await client.programs.register("x**2")
    tape = await client.tapes.create(program, {"x": 3.0})
    assert (await tape.gradient()).gradients == {"x": 6.0}


async def test_operations_and_limits_are_typed(each):
    client, answer = each
    operations = {op.name: op for op in await answer(client.ops())}
    assert len(operations) > 1000
    total = operations["sum"]
    assert isinstance(total, gradwire.Operation)
    assert total.differentiable
    assert total.parameters[:2] == ("a", "axis")
    assert any(name.startswith("tf.reduce_sum(") for name in total.dialects)
    limits = await answer(client.limits())
    assert isinstance(limits, gradwire.Limits)
    document = (await answer(client.request("GET", "/v1/limits"))).document
    assert {name: getattr(limits, name) for name in document} == document
    assert limits.gpu is None


@pytest.mark.parametrize(
    "wrong",
    [
        lambda client: client.programs.get(""),
        lambda client: client.programs.delete(7),
        lambda client: client.programs.register(7),
        lambda client: client.tensors.get(None),
        lambda client: client.tensors.put("abc"),
        lambda client: client.tensors.put(object()),
        lambda client: client.tensors.put([[1.0], [1.0, 2.0]]),
        lambda client: client.tapes.get(""),
    ],
    ids=["get", "delete", "register", "tensor", "text", "object", "rows", "tape"],
)
async def test_wrong_arguments_are_refused_before_anything_is_sent(each, wrong):
    client, answer = each
    with pytest.raises(gradwire.UsageError):
        await answer(wrong(client))


async def test_the_groups_share_the_clients_options(each):
    client, _ = each
    other = client.with_options(timeout=7.0)
    assert repr(other.programs).endswith(f"Programs({other!r})")
    assert repr(client.tensors).endswith(f"Tensors({client!r})")
    assert repr(client.tapes).endswith(f"Tapes({client!r})")
