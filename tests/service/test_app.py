"""The whole application: schema, request ids, and unknown paths."""

import asyncio
import gc
import json
import re
from typing import Any

import pytest
from gradwire_service import examples, openapi
from gradwire_service.openapi.requests import TAPE_KINDS
from gradwire_service.problems import KINDS
from gradwire_service.routes.exchange import Exchange
from gradwire_service.wire.envelope import FIELDS
from pydantic import TypeAdapter


async def schema(client):
    return (await client.get("/openapi.json")).json()


def references(part):
    if isinstance(part, dict):
        for name, inner in part.items():
            if name == "$ref":
                yield inner
            else:
                yield from references(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from references(inner)


async def test_the_schema_is_complete(client):
    document = await schema(client)
    assert document["openapi"].startswith("3.1")
    paths = ["/v1/ops", "/v1/limits", "/v1/explain", "/healthz", "/readyz", "/metrics", "/v1/tapes"]
    paths += ["/v1/tapes/{tape}", *[f"/v1/tapes/{{tape}}/{kind}" for kind in TAPE_KINDS]]
    paths += ["/v1/programs", "/v1/programs/{program}", "/v1/tensors", "/v1/tensors/{ref}"]
    paths += ["/v1/jobs", "/v1/jobs/{job}", "/v1/jobs/{job}/events", *map("/v1/{}".format, SOLVED)]
    paths += [f"/v1/programs/{{program}}/graph.{form}" for form in ("svg", "dot", "json")]
    assert set(document["paths"]) == {*paths, *[f"/v1/{kind}" for kind in FIELDS]}
    schemas = document["components"]["schemas"]
    assert set(references(document)) <= {
        f"#/components/{kind}/{name}" for kind, of in document["components"].items() for name in of
    }
    assert schemas["Problem"]["properties"]["code"]["enum"] == list(KINDS)


SOLVED = "minimize", "least_squares", "root"
CASES = [(kind, name) for kind, requests in examples.REQUESTS.items() for name in requests]
MODELS: dict[str, tuple[TypeAdapter[Any], TypeAdapter[Any]]] = {
    kind: (TypeAdapter(openapi.REQUESTS[kind]), TypeAdapter(openapi.RESPONSES[kind]))
    for kind in FIELDS
}


@pytest.mark.parametrize(("kind", "name"), CASES)
async def test_the_examples_work(client, kind, name):
    request = examples.REQUESTS[kind][name]["value"]
    taken, given = MODELS[kind]
    taken.validate_python(request)
    response = await client.post(f"/v1/{kind}", json=request)
    assert response.status_code == 200, response.text
    given.validate_json(response.content)


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nothing", 404, "not_found"),
        ("GET", "/healthz/", 404, "not_found"),
        ("GET", "/v1/gradient", 405, "method_not_allowed"),
        ("POST", "/healthz", 405, "method_not_allowed"),
        ("OPTIONS", "/v1/evaluate", 405, "method_not_allowed"),
        ("GET", "/%00%ff/..%2f", 404, "not_found"),
    ],
)
async def test_unknown_paths_and_methods_get_a_problem_document(client, method, path, status, code):
    response = await client.request(method, path)
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["code"] == code
    TypeAdapter(openapi.Problem).validate_python(response.json())
    assert ("allow" in response.headers) == (status == 405)


async def test_valid_request_ids_are_kept_others_are_generated(client):
    response = await client.get("/healthz", headers={"x-request-id": "mine-1"})
    assert response.headers["x-request-id"] == "mine-1"
    made = [(await client.get("/nothing")).headers["x-request-id"] for _ in range(2)]
    assert made[0] != made[1]
    for wrong in "", "a b", "x" * 129, "é":
        response = await client.get("/nothing", headers={"x-request-id": wrong.encode()})
        request_id = response.headers["x-request-id"]
        assert re.fullmatch(r"[0-9a-f]+-[0-9a-f]+", request_id)
        assert response.json()["instance"] == f"urn:gradwire:request:{request_id}"


async def test_an_unexpected_error_is_logged_with_the_request_id(new_app, new_client, caplog):
    @new_app.get("/bug")
    async def bug():
        raise ValueError("a secret")

    response = await new_client.get("/bug", headers={"x-request-id": "r7"})
    assert response.status_code == 500
    assert response.json()["code"] == "internal_error"
    assert "secret" not in response.text
    (record,) = caplog.records
    assert (record.getMessage(), record.request_id) == ("a request failed", "r7")
    assert isinstance(record.exc_info[1], ValueError)


@pytest.mark.parametrize("path", ["/v1/gradient", "/v1/tapes", "/v1/programs"])
@pytest.mark.parametrize("body", [b"{", b"[" * 100_000])
async def test_refused_requests_leave_no_reference_cycles(client, path, body):
    await client.post(path, content=body)
    gc.disable()
    gc.freeze()  # ignore objects that exist already
    try:
        assert (await client.post(path, content=body)).status_code == 400
        while exchanges():  # noqa: ASYNC110 - until a thread has released it
            await asyncio.sleep(0.01)
    finally:
        gc.unfreeze()
        gc.enable()


def exchanges():
    """The number of exchanges that only the garbage collector would free."""
    return sum(issubclass(type(found), Exchange) for found in gc.get_objects())


async def test_added_middleware_also_wraps_computations(new_app, new_client):
    seen = []

    class Watch:
        def __init__(self, inner):
            self.inner = inner

        async def __call__(self, scope, receive, send):
            seen.append(scope["path"])
            await self.inner(scope, receive, send)

    new_app.add_middleware(Watch)
    await new_client.get("/healthz")
    await new_client.post("/v1/evaluate", json={"program": "1 + 1"})
    assert seen == ["/healthz", "/v1/evaluate"]


def test_the_schema_is_valid_json(app):
    assert json.loads(json.dumps(app.openapi())) == app.openapi()


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("PUT", "/v1/programs", "GET, HEAD, POST"),
        ("POST", "/v1/programs/x", "DELETE, GET, HEAD"),
        ("POST", "/v1/tensors/sha256:a", "DELETE, GET, HEAD, PUT"),
        ("PUT", "/v1/tapes/x", "DELETE, GET, HEAD"),
        ("GET", "/v1/gradient", "POST"),
        ("POST", "/healthz", "GET, HEAD"),
    ],
)
async def test_the_allow_header_lists_all_methods_of_a_path(client, method, path, allow):
    response = await client.request(method, path)
    assert (response.status_code, response.headers["allow"]) == (405, allow)


async def test_every_get_route_supports_head(client):
    made = await client.post("/v1/programs", json={"program": "x + 1", "name": "f"})
    paths = ["/healthz", "/readyz", "/v1/limits", "/v1/ops", "/docs", "/openapi.json", "/metrics"]
    for path in [*paths, "/v1/programs", "/v1/programs/f", "/v1/programs/f/graph.svg"]:
        head = await client.head(path)
        whole = await client.get(path)
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["content-type"] == whole.headers["content-type"]
        if path != "/metrics":  # metrics count this request, too
            assert head.headers["content-length"] == whole.headers["content-length"]
    assert made.headers["location"]
    assert (await client.head("/v1/programs/none")).status_code == 404
