"""Stored programs over HTTP: ids, names, owners and persistence."""

import math

import msgpack
import pytest
from gradwire_engine import Engine
from gradwire_service import openapi
from pydantic import TypeAdapter

TEXT = "h = tanh(x @ w)\nloss = sum(h)"
GRAPH = {
    "format": "gradwire/1",
    "nodes": [
        {"id": "h", "op": "tanh", "args": [{"op": "matmul", "args": ["x", "w"]}]},
        {"id": "loss", "op": "sum", "args": ["h"]},
    ],
    "outputs": "loss",
}
ID = Engine().parse(TEXT).id


async def register(client, program=TEXT, status=201, headers=None, **fields):
    document = {"program": program, **fields}
    response = await client.post("/v1/programs", json=document, headers=headers)
    assert response.status_code == status, response.text
    if status < 300:
        TypeAdapter(openapi.RegisterRequest).validate_python(document)
        TypeAdapter(openapi.ProgramDocument).validate_json(response.content)
    return response.json()


async def show(client, program, status=200, **headers):
    response = await client.get(f"/v1/programs/{program}", headers=headers)
    assert response.status_code == status, response.text
    return response.json()


async def evaluated(client, program, status=200, **headers):
    request = {"program": program, "variables": {"x": [[1.0, 2.0]], "w": [0.5, -0.25]}}
    response = await client.post("/v1/evaluate", json=request, headers=headers)
    assert response.status_code == status, response.text
    return response.json()


async def listed(client, **asked):
    response = await client.get("/v1/programs", params=asked)
    assert response.status_code == 200, response.text
    TypeAdapter(openapi.ProgramPage).validate_json(response.content)
    return response.json()


async def test_registering_returns_the_programs_description(new_client):
    told = await register(new_client, name="layer")
    assert told == {
        "id": ID,
        "name": "layer",
        "names": ["layer"],
        "variables": ["x", "w"],
        "outputs": "loss",
        "nodes": 8,
        "text": TEXT,
    }
    assert await register(new_client, status=200) == told
    assert await show(new_client, ID) == await show(new_client, "layer") == told


async def test_every_form_of_a_program_has_the_same_id(new_client):
    assert (await register(new_client))["id"] == ID
    assert (await register(new_client, GRAPH, status=200))["id"] == ID
    assert (await register(new_client, {"ref": ID}, status=200, name="a"))["id"] == ID
    assert (await register(new_client, {"name": "a"}, status=200, name="b"))["names"] == ["a", "b"]


async def test_a_registered_graph_is_returned_as_text(new_client):
    told = await register(new_client, GRAPH)
    assert Engine().parse(told["text"]).id == told["id"] == ID


async def test_location_and_etag(new_client):
    response = await new_client.post("/v1/programs", json={"program": TEXT})
    assert response.headers["location"] == f"/v1/programs/{ID}"
    response = await new_client.get(response.headers["location"])
    tag = response.headers["etag"]
    assert tag.startswith(f'W/"{ID}-')
    strong = tag.removeprefix("W/")
    for known in tag, strong, f'"x", {strong}', "*":
        response = await new_client.get(f"/v1/programs/{ID}", headers={"if-none-match": known})
        assert (response.status_code, response.content) == (304, b"")
        assert response.headers["etag"] == tag
    for known in '"x"', f'"{ID}"':
        response = await new_client.get(f"/v1/programs/{ID}", headers={"if-none-match": known})
        assert response.status_code == 200


async def test_the_etag_changes_with_the_description(new_client):
    """Names change, and a deleted program may be stored again as another text."""
    told: dict[str, bytes] = {}
    spaced, close = TEXT, TEXT.replace(" ", "")
    for program, name in (spaced, "a"), (spaced, "b"), ("x", "b"), ("x", "a"), (close, "b"):
        await new_client.post("/v1/programs", json={"program": program, "name": name})
        response = await new_client.get(f"/v1/programs/{ID}")
        assert told.setdefault(response.headers["etag"], response.content) == response.content
    await new_client.delete(f"/v1/programs/{ID}")
    await register(new_client, close, name="b")
    response = await new_client.get(f"/v1/programs/{ID}")
    told[response.headers["etag"]] = response.content
    assert len(told) == len(set(told.values())) == 5


@pytest.mark.parametrize(
    ("text", "outputs"),
    [
        ("x + 1", None),
        ("return x, y", ["x", "y"]),
        ("return x, y + 1", None),
        ("x = x * 2\ny = x", "y"),
    ],
)
async def test_outputs_are_named_by_the_return_statement(new_client, text, outputs):
    assert (await register(new_client, text))["outputs"] == outputs


async def test_registered_programs_can_be_computed(new_client):
    told = await register(new_client, name="layer")
    answers = [
        await evaluated(new_client, program)
        for program in (TEXT, {"ref": told["id"]}, {"name": "layer"}, {"name": "layer"})
    ]
    assert answers[0]["program"] == ID
    assert all(answer == answers[0] for answer in answers)


async def test_a_name_can_move_to_another_program(kept, served):
    async with served(**kept) as client:
        first = await register(client, "x", name="best")
        assert (await evaluated(client, {"name": "best"}))["program"] == first["id"]
        second = await register(client, "x + w", name="best")
        assert (await evaluated(client, {"name": "best"}))["program"] == second["id"]
        assert (await show(client, first["id"]))["names"] == []
        assert "name" not in await show(client, first["id"])


async def test_deleted_programs_and_their_names_are_unknown(kept, served):
    async with served(**kept) as client:
        for by in "id", "name":
            told = await register(client, name="a")
            await register(client, name="b", status=200)
            await register(client, "x", name="c", status=201 if by == "id" else 200)
            await evaluated(client, {"name": "a"})
            assert (await client.delete(f"/v1/programs/{told[by]}")).status_code == 204
            for program in {"ref": ID}, {"name": "a"}, {"name": "b"}:
                problem = await evaluated(client, program, 404)
                assert problem["missing"] == list(program.values())
            for reference in ID, "a", "b":
                assert (await show(client, reference, 404))["code"] == "unknown_ref"
                assert (await client.delete(f"/v1/programs/{reference}")).status_code == 404
            await show(client, "c")


async def test_pages_list_every_program_once(kept, served):
    async with served(**kept) as client:
        ids = [(await register(client, f"x + {i}", name=f"n{i}"))["id"] for i in range(7)]
        whole = await listed(client)
        assert [program["id"] for program in whole["programs"]] == sorted(ids)
        assert "after" not in whole
        assert all("text" not in program for program in whole["programs"])
        assert {program["name"] for program in whole["programs"]} == {f"n{i}" for i in range(7)}
        page = await listed(client, limit=3)
        found = page["programs"]
        while "after" in page:
            page = await listed(client, limit=3, after=page["after"])
            found += page["programs"]
        assert found == whole["programs"]
        assert len(await listed(client, limit=7)) == 1


@pytest.mark.parametrize(
    "limit",
    [
        "0",
        "-1",
        "1001",
        "x",
        "",
        "1.5",
        "²",
        f"{1:010}001",
        pytest.param(f"{1:010}{0:05000}", id="long"),
    ],
)
async def test_invalid_page_limits_are_refused(client, limit):
    response = await client.get("/v1/programs", params={"limit": limit})
    assert (response.status_code, response.json()["code"]) == (422, "invalid_request")


async def test_programs_are_isolated_per_owner(kept, served):
    one, other = {"authorization": "Bearer one"}, {"authorization": "Bearer other"}
    async with served(**kept) as client:
        await register(client, name="layer", headers=one)
        for foreign in other, {}:
            for reference in ID, "layer":
                await show(client, reference, 404, **foreign)
                response = await client.delete(f"/v1/programs/{reference}", headers=foreign)
                assert response.status_code == 404
            for program in {"ref": ID}, {"name": "layer"}:
                await evaluated(client, program, 404, **foreign)
            response = await client.get("/v1/programs", headers=foreign)
            assert response.json() == {"programs": []}
        await register(client, "x", name="layer", headers=other)
        assert (await evaluated(client, {"name": "layer"}, **one))["program"] == ID


async def test_programs_survive_a_restart(tmp_path, served):
    path = f"sqlite:{tmp_path / 'kept.db'}"
    async with served(store=path) as client:
        told = await register(client, name="layer")
    async with served(store=path) as client:
        assert await show(client, "layer") == told
        assert (await evaluated(client, {"name": "layer"}))["program"] == ID
        await register(client, status=200)


async def test_the_number_of_programs_is_limited(kept, served):
    async with served(**kept, max_programs_per_tenant=2) as client:
        for text in "x", "w":
            await register(client, text)
        assert (await register(client, "x + w", 413))["code"] == "over_budget"
        await register(client, "x", 200)
        limits = (await client.get("/v1/limits")).json()
        assert limits["programs"] == 2
        await client.delete(f"/v1/programs/{(await register(client, 'x', 200))['id']}")
        await register(client, "x + w")


async def test_a_program_with_a_refused_name_is_not_stored(kept, served):
    async with served(**kept, max_programs_per_tenant=2) as client:
        for name in "a", "b":
            await register(client, "x", name=name, status=201 if name == "a" else 200)
        assert (await register(client, name="c", status=413))["code"] == "over_budget"
        await show(client, ID, 404)
        await register(client, name="b")
        assert (await register(client, name="c", status=413))["code"] == "over_budget"
        assert (await show(client, ID))["names"] == ["b"]


async def test_a_program_that_another_process_deleted_is_unknown(tmp_path, served):
    settings = {"store": f"sqlite:{tmp_path / 'kept.db'}"}
    async with served(**settings) as client, served(**settings) as other:
        for program in {"ref": ID}, {"name": "layer"}:
            await register(client, name="layer")
            await evaluated(client, program)
            assert (await other.delete(f"/v1/programs/{ID}")).status_code == 204
            problem = await register(client, program, 404, name="again")
            assert (problem["code"], problem["missing"]) == ("unknown_ref", [ID])
            await show(client, "again", 404)


@pytest.mark.parametrize(
    ("document", "code", "pointer"),
    [
        ({}, "invalid_request", "/program"),
        ([], "invalid_request", ""),
        ({"program": 1}, "invalid_request", "/program"),
        ({"program": "x", "names": []}, "invalid_request", "/names"),
        ({"program": "x", "name": ID}, "invalid_request", "/name"),
        ({"program": "x", "name": ""}, "invalid_request", "/name"),
        ({"program": "x", "name": "a/b"}, "invalid_request", "/name"),
        ({"program": "x", "name": ["a"]}, "invalid_request", "/name"),
        ({"program": "x", "ref": "a"}, "invalid_request", "/ref"),
        ({"program": "x", "ref": ID}, "invalid_request", "/ref"),
        ({"program": "x +"}, "syntax_error", "/program"),
        ({"program": {"nodes": []}}, "invalid_program", "/program"),
        ({"program": {"ref": ID}}, "unknown_ref", None),
    ],
)
async def test_invalid_registrations_are_refused(client, document, code, pointer):
    before = await listed(client)
    response = await client.post("/v1/programs", json=document)
    problem = response.json()
    assert (problem["code"], problem.get("pointer")) == (code, pointer)
    assert await listed(client) == before


async def test_an_expected_id_is_checked(new_client):
    await register(new_client, ref=ID)
    response = await new_client.post("/v1/programs", json={"program": "x", "ref": ID})
    assert Engine().parse("x").id in response.json()["detail"]


@pytest.mark.thorough
@pytest.mark.parametrize("number", [math.nan, math.inf, 1e300, 2**63, -0.0, True, 3])
async def test_constants_of_a_graph_are_stored_bit_for_bit(tmp_path, number, served):
    graph = {"nodes": [{"id": "y", "op": "add", "args": ["x", number]}], "outputs": "y"}
    path = f"sqlite:{tmp_path / 'kept.db'}"
    body, headers = msgpack.packb({"program": graph}), {"content-type": "application/msgpack"}
    async with served(store=path) as client:
        response = await client.post("/v1/programs", content=body, headers=headers)
        assert response.status_code == 201, response.text
    async with served(store=path) as client:
        (told,) = (await listed(client))["programs"]
        assert told["id"] == Engine().parse(graph).id
        assert (await evaluated(client, {"ref": told["id"]}))["program"] == told["id"]


async def test_raw_bytes_in_a_graph_are_refused(client):
    graph = {"nodes": [{"id": "y", "op": "add", "args": ["x", b"raw"]}], "outputs": "y"}
    body, headers = msgpack.packb({"program": graph}), {"content-type": "application/msgpack"}
    response = await client.post("/v1/programs", content=body, headers=headers)
    assert response.json()["code"] == "invalid_program"
