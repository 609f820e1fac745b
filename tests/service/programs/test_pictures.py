"""Graphs of programs over HTTP: formats, types, marks and errors."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from gradwire_service.openapi.graphs import GraphDocument

TEXT = "h = tanh(x @ layers[0].w)\nloss = sum(h, axis=0)"
FORMS = {
    "svg": "image/svg+xml",
    "dot": "text/vnd.graphviz; charset=utf-8",
    "json": "application/json",
}


@pytest.fixture
async def program(client):
    response = await client.post("/v1/programs", json={"program": TEXT, "name": "loss"})
    assert response.status_code in (200, 201), response.text
    return response.json()["id"]


async def graph(client, program, form="json", status=200, headers=None, **asked):
    address = f"/v1/programs/{program}/graph.{form}"
    response = await client.get(address, params=asked, headers=headers)
    assert response.status_code == status, response.text
    return response


async def nodes(client, program, **asked):
    told = (await graph(client, program, **asked)).json()
    GraphDocument.model_validate(told)
    return {node["label"]: node for node in told["nodes"]}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("accept", ["*/*", "image/avif,image/webp", "application/msgpack"])
async def test_the_path_determines_the_format(client, program, form, accept):
    response = await graph(client, program, form, headers={"accept": accept})
    assert response.headers["content-type"] == FORMS[form]
    by_name = await graph(client, "loss", form)
    assert by_name.content == response.content


@pytest.mark.parametrize("form", FORMS)
async def test_a_known_etag_gets_304(client, program, form):
    tag = (await graph(client, program, form)).headers["etag"]
    again = await graph(client, program, form, 304, headers={"if-none-match": tag})
    assert again.content == b""
    other = await graph(client, program, form, headers={"if-none-match": tag}, target="loss")
    assert other.headers["etag"] != tag


async def test_types_and_marks_are_shown(client, program):
    asked = {"type": ["x:float32[10,3]", "layers[0].w:float32[3, 4]"], "target": "loss"}
    found = await nodes(client, program, **asked, source=["x", "layers"])
    assert found["matmul"]["shape"] == [10, 4]
    assert found["sum"] | {"id": ""} == {
        "id": "",
        "kind": "operation",
        "label": "sum",
        "name": "loss",
        "parameters": {"axis": "0"},
        "dtype": "float32",
        "shape": [4],
        "marks": ["target"],
        "line": 2,
        "column": 8,
    }
    assert found["x"]["marks"] == found["layers[0].w"]["marks"] == ["source"]
    assert "shape" not in (await nodes(client, program))["matmul"]


async def test_dtypes_and_lengths_may_be_left_out(client):
    await client.post("/v1/programs", json={"program": "y = a * b * c", "name": "p"})
    asked = ["a:[2]", "b:int64", "c:"]
    found = await nodes(client, "p", type=asked)
    told = {name: (found[name]["dtype"], found[name]["shape"]) for name in "abc"}
    assert told == {"a": ("float64", [2]), "b": ("int64", []), "c": ("float64", [])}


async def test_pictures_are_valid_svg_and_dot(client, program):
    response = await graph(client, program, "svg", type=["x:[2,3]", "layers.0.w:[3,4]"])
    texts = [element.text for element in ElementTree.fromstring(response.text).iter()]
    assert "h · float64[2, 4]" in texts
    assert response.headers["content-security-policy"].startswith("default-src 'none'")
    assert (await graph(client, program, "dot")).text.startswith("digraph")


@pytest.mark.parametrize(
    ("asked", "status", "code"),
    [
        ({"type": "x"}, 422, "invalid_request"),
        ({"type": ":[3]"}, 422, "invalid_request"),
        ({"type": "x:float128"}, 422, "invalid_request"),
        ({"type": "x:[-1]"}, 422, "invalid_request"),
        ({"type": "x:[1,]"}, 422, "invalid_request"),
        ({"type": f"x:[{'1,' * 64}1]"}, 422, "invalid_request"),
        ({"type": ["x:[1]", "x:[2]"]}, 422, "invalid_request"),
        ({"type": ["x:[1]", "x.y:[2]"]}, 422, "invalid_request"),
        ({"typ": "x:[1]"}, 422, "invalid_request"),
        ({"type": "x:[2,3]"}, 422, "unknown_name"),
        ({"type": ["x:[2,3]", "layers.0.w:[4]"]}, 422, "shape_mismatch"),
        ({"type": "x:[999999999999999999,999999999999999999]"}, 413, "over_budget"),
        ({"type": "x:[0,999999999999999999,999999999999999999]"}, 413, "over_budget"),
        ({"target": "nothing"}, 422, "unknown_name"),
        ({"source": "x.y"}, 422, "unknown_name"),
    ],
)
async def test_invalid_queries_are_refused(client, program, asked, status, code):
    response = await graph(client, program, status=status, **asked)
    assert response.json()["code"] == code


async def test_shapes_may_have_the_maximum_number_of_axes(client):
    await client.post("/v1/programs", json={"program": "y = x * 2", "name": "p"})
    found = await nodes(client, "p", type=f"x:[{','.join('1' * 64)}]")
    assert found["multiply"]["shape"] == [1] * 64


async def test_unknown_programs_and_formats_get_404(client, program):
    for reference in ("nothing", f"sha256:{'0' * 64}"):
        response = await graph(client, reference, status=404)
        assert response.json()["code"] == "unknown_ref"
        assert response.json()["missing"] == [reference]
    await graph(client, program, status=404, headers={"authorization": "another"})
    await graph(client, program, "png", status=404)


async def test_programs_too_large_for_a_picture_still_have_a_json_graph(client):
    text = "\n".join(f"h{i + 1} = tanh(h{i} * 2)" for i in range(1000))
    await client.post("/v1/programs", json={"program": text, "name": "long"})
    for form in ("svg", "dot"):
        response = await graph(client, "long", form, status=413)
        assert response.json()["code"] == "over_budget"
    assert len((await graph(client, "long")).json()["nodes"]) == 3002
