"""``/v1/explain`` over the wire."""

from __future__ import annotations

import msgpack
import numpy as np
import pytest
from gradwire_service.examples import REQUESTS
from gradwire_service.wire.envelope import EXPLAINED
from gradwire_service.wire.explanations import MOST_SHOWN

from tests.service.conftest import application, client_of
from tests.test_docs import examples

NOT_EXPLAINED = {"batch", "keep", "release"}
LOSS = {
    "program": "h = tanh(x @ w)\nloss = mean((h - y)**2)",
    "variables": {"x": [[1, 2], [3, 4]], "w": [0.1, -0.2], "y": [0, 1]},
}


def shown():
    """The requests of documentation and schema for what is explained, with their kinds."""
    for kind in EXPLAINED:
        for name, example in REQUESTS[kind].items():
            yield pytest.param(kind, example["value"], id=f"{kind} {name}")
    for example in examples():
        path = example.path.removeprefix("/v1/")
        is_explained = path in EXPLAINED and not NOT_EXPLAINED & {*example.request}
        if is_explained and not example.stored:
            yield pytest.param(path, example.request, id=example.place)


async def explained(client, status=200, **request):
    response = await client.post("/v1/explain", json=request)
    assert response.status_code == status, response.text
    return response.json()


def check_order(instructions, before=()):
    """Operands come before what reads them, in bodies as well, whose first may be of outside."""
    known = {*before}
    for each in instructions:
        assert known.issuperset(each["operands"])
        if "body" in each:
            is_loop = each["op"] == "loop"
            check_order(each["body"], () if is_loop else known)
            if not is_loop:
                known |= {inner["slot"] for inner in each["body"]}
        known.add(each["slot"])


@pytest.mark.parametrize(("kind", "request_"), [*shown()])
async def test_documented_requests_are_explained_or_refused_as_they_are_answered(
    client, kind, request_
):
    answer = await client.post(f"/v1/{kind}", json=request_)
    found = await client.post("/v1/explain", json=request_ | {"query": kind})
    assert found.status_code == answer.status_code
    document, told = found.json(), answer.json()
    if found.is_error:
        assert {**document, "instance": ""} == {**told, "instance": ""}
        return
    assert document["program"] == told["program"]
    check_order(document["instructions"])
    slots = [each["slot"] for each in document["instructions"]]
    assert slots == sorted(set(slots))
    assert {*document["outputs"]} <= {*slots}
    assert [*document["stages"].values()][-1] == len(slots)
    nodes = document["nodes"]
    assert nodes is not None
    check_order(nodes)
    if kind == "evaluate":
        assert all(node["adjoint"] is None for node in nodes)


async def test_values_and_adjoints_are_those_of_other_routes(client):
    nodes = (await explained(client, **LOSS, target="loss"))["nodes"]
    names = [node["name"] for node in nodes if "name" in node]
    assert {*names} == {"x", "w", "y", "h", "loss"}
    asked = LOSS | {"sources": {name: name for name in names}, "exact": True, "outputs": names}
    answer = (await client.post("/v1/gradient", json=asked)).json()
    found = {node["name"]: node for node in nodes if "name" in node}
    for name, value in zip(names, answer["outputs"], strict=True):
        assert found[name]["value"] == {"value": value}
        assert found[name]["adjoint"] == {"value": answer["gradients"][name]}
    assert [node["name"] for node in nodes if node["is_target"]] == ["loss"]


async def test_times_are_measured_where_they_are_asked_for(client):
    plain = await explained(client, **LOSS)
    assert "seconds" not in plain
    assert not any("seconds" in each for each in plain["instructions"])
    timed = await explained(client, **LOSS, time=True)
    spent = [each["seconds"] for each in timed["instructions"]]
    assert timed["seconds"] == pytest.approx(sum(spent))
    assert timed["seconds"] > 0
    assert all(
        (s == 0) == (not each["operands"])
        for s, each in zip(spent, timed["instructions"], strict=True)
    )


async def test_arrays_are_in_the_usual_forms(client):
    request = {
        "program": "z = x * 2j\nreal(z)",
        "variables": {"x": {"value": [1, 2], "dtype": "float32"}},
    }
    nodes = (await explained(client, **request))["nodes"]
    (z,) = [node for node in nodes if node.get("name") == "z"]
    assert (z["dtype"], z["shape"]) == ("complex64", [2])
    assert z["value"] == {"value": {"re": [0.0, 0.0], "im": [2.0, 4.0]}}
    encoded = (await explained(client, **request, encoding="base64"))["nodes"]
    assert encoded[0]["value"]["value"].keys() == {"dtype", "shape", "base64"}
    headers = {"accept": "application/msgpack"}
    reply = await client.post("/v1/explain", json=request, headers=headers)
    raw = msgpack.unpackb(reply.content)["nodes"][0]["value"]["value"]
    assert np.frombuffer(raw["data"], raw["dtype"]).tolist() == [1.0, 2.0]


async def test_numbers_that_are_not_finite_are_words(client):
    found = await explained(
        client, program="y = x * inf\nz = log(x - 1) + nan\ny + z", variables={"x": 1}
    )
    constants = [each["constant"] for each in found["instructions"] if "constant" in each]
    assert {"Infinity", "NaN"} <= {*map(str, constants)}
    named = {node["name"]: node for node in found["nodes"] if "name" in node}
    assert named["y"]["value"] == {"value": "Infinity"}
    many = await explained(client, program="y = x / 0\nsum(y)", variables={"x": [0] * 100})
    (y,) = [node for node in many["nodes"] if node.get("name") == "y"]
    assert y["value"] == {"min": None, "max": None, "mean": None, "nonfinite": 100}


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"query": "jvp"}, "/query"),
        ({"query": 3}, "/query"),
        ({"time": "yes"}, "/time"),
        ({"batch": ["x"]}, "/batch"),
        ({"keep": ["nodes"]}, "/keep"),
        ({"mode": "forward"}, "/mode"),
        ({"query": "evaluate", "sources": ["w"]}, "/sources"),
        ({"sources": ["other"]}, "/sources/0"),
    ],
)
async def test_fields_are_those_of_the_query(client, fields, pointer):
    problem = await explained(client, 422, **LOSS, **fields)
    assert problem["pointer"] == pointer


async def test_null_is_the_same_as_leaving_a_field_out(client):
    fields = dict.fromkeys(["query", "time", "target", "sources", "output_gradients"])
    assert await explained(client, **LOSS, **fields) == await explained(client, **LOSS)


async def test_warnings_are_those_of_the_answer(client):
    found = await explained(client, program="grad(y, x)\ny + x", variables={"x": 1, "y": 2})
    assert [warning["code"] for warning in found["warnings"]] == ["no_path"]


@pytest.mark.thorough
@pytest.mark.parametrize(("query", "terms"), [("evaluate", 8_000), ("gradient", 4_000)])
async def test_a_program_of_many_nodes_is_explained_in_bounded_size(client, query, terms):
    listed = ", ".join(f"cos(x * {i})" for i in range(terms))
    request = {
        "program": f"sum(stack([{listed}]))",
        "variables": {"x": 0.5},
        "exact": True,
        "query": query,
    }
    found = await client.post("/v1/explain", json=request)
    assert found.status_code == 200, found.text
    document = found.json()
    assert document["nodes"] is None
    assert [warning["code"] for warning in document["warnings"]] == ["instructions_cut", "no_nodes"]
    shown = document["instructions"]
    size = sum(1 + len(each["operands"]) for each in shown)
    assert MOST_SHOWN - 3 <= size <= MOST_SHOWN
    assert document["stages"]["recorded"] > 3 * terms > len(shown)
    assert len(found.content) < 1_000_000


@pytest.mark.thorough
async def test_operands_count_as_well(client):
    listed = ", ".join(f"x * {i}" for i in range(700))
    program = f"s = [{listed}]\n" + "\n".join(f"a{n} = stack(s)" for n in range(12))
    total = " + ".join(f"sum(a{n})" for n in range(12))
    request = {"program": f"{program}\n{total}", "variables": {"x": 0.5}, "exact": True}
    found = await client.post("/v1/explain", json=request)
    assert found.status_code == 200, found.text
    assert found.json()["nodes"] is None
    assert len(found.content) < 1_000_000


async def test_large_arrays_are_summarised(client):
    program = "t = linspace(0, 1, 10**6)\nh = tanh(t * x)\nsum(h)"
    found = await client.post("/v1/explain", json={"program": program, "variables": {"x": 2}})
    assert found.status_code == 200, found.text
    assert len(found.content) < 20_000
    (h,) = [node for node in found.json()["nodes"] if node.get("name") == "h"]
    assert h["shape"] == [10**6]
    assert h["value"]["max"] == pytest.approx(np.tanh(2))
    assert h["adjoint"] == {"min": 1.0, "max": 1.0, "mean": 1.0, "nonfinite": 0}


@pytest.mark.parametrize("timed", [False, True])
async def test_the_time_limit_holds(client, timed):
    request = {
        "program": "for i in range(10**7):\n  x = sin(x) + cos(x)\nx",
        "variables": {"x": [0.5] * 100},
        "timeout_ms": 300,
        "query": "evaluate",
        "time": timed,
    }
    problem = await explained(client, 504, **request)
    assert problem["code"] == "deadline_exceeded"


async def test_limits_are_those_of_the_query(settings):
    tight = settings.model_copy(update={"max_total_bytes": 3_000_000, "max_array_bytes": 1_000_000})
    with application(tight) as app:
        async with client_of(app) as client:
            for size, status in ((100_000, 200), (500_000, 413)):
                request = {"program": f"sum(sin(x * ones({size})))", "variables": {"x": 1}}
                gradient = await client.post("/v1/gradient", json=request)
                found = await client.post("/v1/explain", json=request)
                assert gradient.status_code == found.status_code == status
            wide = " + ".join(f"sum(sin({n}.5 * v))" for n in range(9))
            request = {"program": f"v = x * ones(100000)\n{wide}", "variables": {"x": 1}}
            assert (await client.post("/v1/gradient", json=request)).status_code == 200
            found = (await client.post("/v1/explain", json=request)).json()
            assert found["nodes"] is None
            assert found["warnings"][-1]["code"] == "no_nodes"
            assert "bytes at once" in found["warnings"][-1]["detail"]


async def test_programs_and_tensors_may_be_references(new_client):
    await new_client.post("/v1/programs", json={"program": "sum(w * x)", "name": "product"})
    stored = await new_client.put("/v1/tensors", json=[1.0, 2.0, 3.0])
    variables = {"x": {"ref": stored.json()["ref"]}, "w": 2}
    found = await explained(new_client, program={"name": "product"}, variables=variables)
    named = {node["name"]: node for node in found["nodes"] if "name" in node}
    assert named["x"]["value"] == {"value": [1.0, 2.0, 3.0]}
    assert named["w"]["adjoint"] == {"value": 6.0}
    problem = await explained(new_client, 404, program={"name": "other"}, variables=variables)
    assert problem["code"] == "unknown_ref"


async def test_tensors_in_parts_and_texts_are_explained(client):
    variables = {
        "table": [[1, 2], [3, 4], [5, 6]],
        "ids": {"value": [2, 0, 2], "dtype": "int64"},
        "s": {"indices": [[0], [2]], "values": [1.5, 2.5], "shape": [3]},
        "comment": "no operation takes it",
    }
    program = "rows = table[ids]\nsum(rows) + 3 * sum(s)"
    fields = {"program": program, "variables": variables, "sparse_gradients": True}
    found = await explained(client, **fields)
    named = {node["name"]: node for node in found["nodes"] if "name" in node}
    assert named["table"]["adjoint"] == {"value": [[1.0, 1.0], [0.0, 0.0], [2.0, 2.0]]}
    assert named["ids"]["adjoint"] is None
    assert named["s.values"]["adjoint"] == {"value": [3.0, 3.0]}
