"""What the OpenAPI document says of bodies and headers is what requests get."""

import base64

import pytest
from gradwire_service import examples
from gradwire_service.access.rules import required_scope
from gradwire_service.app import create_app
from gradwire_service.problems import KINDS, MEDIA_TYPE
from gradwire_service.settings import Settings
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator
from pydantic import SecretStr

JSON, MESSAGEPACK = "application/json", "application/msgpack"
TENSOR = {"dtype": "uint8", "shape": [3], "base64": base64.b64encode(b"abc").decode()}
ABOUT = {"X-Request-ID", "Server-Timing", "ETag", "Location", "Retry-After"}


@pytest.fixture
def document(app):
    return app.openapi()


def operations(document):
    for path, item in document["paths"].items():
        for method, operation in item.items():
            yield f"{method} {path}", operation


def followed(document, part):
    """A parameter, or the one that it refers to."""
    name = part.get("$ref", "").rpartition("/")[2]
    return document["components"]["parameters"][name] if name else part


def test_documents_come_and_go_in_both_encodings(document):
    for name, operation in operations(document):
        bodies = [operation["requestBody"]] if "requestBody" in operation else []
        if operation["tags"][0] not in ("service", "health"):
            bodies += [body for status, body in operation["responses"].items() if status < "300"]
        for body in bodies:
            content = body.get("content", {})
            if name.endswith(".json"):  # the path says what it is
                assert set(content) == {JSON}
                continue
            assert (JSON in content) == (MESSAGEPACK in content), name
            if name == "get /v1/tensors/{ref}" and content:
                assert content[JSON]["schema"]["$ref"].endswith("/RawBytes")
                assert content[MESSAGEPACK]["schema"]["$ref"].endswith("/RawData")
            elif JSON in content:
                assert content[JSON]["schema"] == content[MESSAGEPACK]["schema"]


@pytest.mark.parametrize("keys", [None, "[]"])
def test_it_is_openapi(keys):
    app = create_app(Settings(pool_threads=1, keys=keys))
    app.state.capacity.close()
    assert list(OpenAPIV31SpecValidator(app.openapi()).iter_errors()) == []


def test_every_operation_says_what_any_request_may_be_refused_with(document):
    known = {kind.status for kind in KINDS.values()}
    for name, operation in operations(document):
        described = set(map(int, operation["responses"]))
        assert {408, 414, 417, 431, 500, 503} & known <= described, name
        if operation["tags"][0] not in ("service", "health"):
            assert {400, 401, 403, 404, 406, 413, 415, 422, 429, 504} <= described, name
    everywhere = {int(s) for _, of in operations(document) for s in of["responses"]}
    assert known - everywhere == {405}  # of what is no operation


def test_links_lead_somewhere(document):
    known = {operation["operationId"]: operation for _, operation in operations(document)}
    followed_from = set()
    for name, operation in operations(document):
        for response in operation["responses"].values():
            for link in response.get("links", {}).values():
                followed_from.add(name)
                (parameter,) = link["parameters"]
                taken = known[link["operationId"]]["parameters"]
                assert parameter in [one.get("name") for one in taken]
    makers = {name for name, operation in operations(document) if "201" in operation["responses"]}
    assert followed_from == makers


def test_every_operation_has_an_example(document):
    for name, operation in operations(document):
        if operation["tags"][0] in ("service", "health"):
            for body in operation["responses"]["200"]["content"].values():
                Draft202012Validator(body["schema"]).validate(body["example"])
        for parameter in operation["parameters"]:
            told = followed(document, parameter)
            Draft202012Validator(told["schema"]).validate(told["example"])
        if "requestBody" in operation:
            asked = operation["requestBody"]["content"][JSON]
            schema = asked["schema"] | {"components": document["components"]}
            assert asked["examples"], name
            for example in asked["examples"].values():
                Draft202012Validator(schema).validate(example["value"])


async def test_the_examples_of_what_is_kept_work(client):
    (program,), (tensor,), (tape,) = [
        [one["value"] for one in shown.values()]
        for shown in (examples.PROGRAM, examples.TENSOR, examples.TAPE)
    ]
    known = examples.PARAMETERS
    assert (await client.post("/v1/programs", json=program)).status_code == 201
    types = {"type": known["type"], "target": known["target"], "source": known["source"]}
    drawn = await client.get(f"/v1/programs/{known['program']}/graph.svg", params=types)
    assert drawn.status_code == 200
    stored = await client.put(f"/v1/tensors/{known['ref']}", json=tensor)
    assert stored.status_code == 201
    made = await client.post("/v1/tapes", json=tape)
    assert made.status_code == 201
    for kind, shown in examples.TAPE_REQUESTS.items():
        for example in shown.values():
            path = f"/v1/tapes/{made.json()['tape']}/{kind}"
            answer = await client.post(path, json=example["value"])
            assert answer.status_code == 200, answer.text


def test_every_refusal_is_a_problem(document):
    for name, operation in operations(document):
        for status, response in operation["responses"].items():
            assert int(status) < 400 or set(response["content"]) == {MEDIA_TYPE}, name


async def test_responses_are_as_described(client, document):
    """The status, media type, headers and document of every response that succeeds."""
    seen = set()

    async def ask(method, path, template=None, **request):
        response = await client.request(method, path, **request)
        name = f"{method.lower()} {template or path}"
        described = dict(operations(document))[name]["responses"][str(response.status_code)]
        assert {header for header in ABOUT if header in response.headers} == set(
            described["headers"]
        ), name
        content = described.get("content")
        if content:
            media_type = response.headers["content-type"].partition(";")[0]
            assert media_type in content
            if media_type == JSON:
                schema = content[JSON]["schema"] | {"components": document["components"]}
                Draft202012Validator(schema).validate(response.json())
        else:
            assert not response.content
        seen.add(name)
        return response

    program = {"program": "y = x * x", "variables": {"x": 3}}
    further = {"jvp": {"tangents": {"x": 1}}, "hvp": {"vectors": {"x": 1}}}
    for accepted in JSON, MESSAGEPACK:
        headers = {"accept": accepted}
        tape = (await client.post("/v1/tapes", json=program | {"persistent": True})).json()["tape"]
        await ask("POST", "/v1/tapes", json=program, headers=headers)
        for kind in "evaluate", "gradient", "jacobian", "hessian", "jvp", "hvp", "check":
            asked = further.get(kind, {})
            await ask("POST", f"/v1/{kind}", json=program | asked, headers=headers)
            if kind != "evaluate":
                of_tape = f"/v1/tapes/{tape}/{kind}", f"/v1/tapes/{{tape}}/{kind}"
                await ask("POST", *of_tape, json=asked, headers=headers)
        await ask("GET", f"/v1/tapes/{tape}", "/v1/tapes/{tape}", headers=headers)
        await ask("DELETE", f"/v1/tapes/{tape}", "/v1/tapes/{tape}", headers=headers)

        for _ in range(2):
            await ask("POST", "/v1/programs", json={"program": "y = x", "name": "it"})
            stored = await ask("PUT", "/v1/tensors", json=TENSOR)
        ref = stored.json()["ref"]
        await ask("PUT", f"/v1/tensors/{ref}", "/v1/tensors/{ref}", json=TENSOR, headers=headers)
        await ask("GET", "/v1/programs", headers=headers)
        tensor = f"/v1/tensors/{ref}", "/v1/tensors/{ref}"
        known = "/v1/programs/it", "/v1/programs/{program}"
        forms = "graph.svg", "graph.dot", "graph.json"
        graphs = [tuple(f"{path}/{form}" for path in known) for form in forms]
        for path in (tensor, known, *graphs):
            found = await ask("GET", *path)
            unchanged = await ask("GET", *path, headers={"if-none-match": found.headers["etag"]})
            assert unchanged.status_code == 304
        await ask("HEAD", *tensor)
        for path in (tensor, known):
            await ask("DELETE", *path, headers=headers)
    for plain in "/v1/ops", "/v1/limits", "/healthz", "/readyz", "/metrics":
        await ask("GET", plain)
    assert seen == {name for name, _ in operations(document)}


def test_headers_of_requests_are_described(document):
    for name, operation in operations(document):
        parameters = [followed(document, parameter) for parameter in operation["parameters"]]
        headers = {parameter["name"] for parameter in parameters if parameter["in"] == "header"}
        assert {"X-Request-ID", "Accept-Encoding"} <= headers
        assert ("Content-Encoding" in headers) == ("requestBody" in operation), name
        assert ("If-None-Match" in headers) == ("304" in operation["responses"]), name


def test_scopes_are_described(app, document):
    """Where no keys are asked for each is optional; what is public is so in either case."""
    with_keys = create_app(Settings(keys=SecretStr("[]"))).openapi()
    without = dict(operations(document))
    for name, operation in operations(with_keys):
        method, path = name.split()
        scope = required_scope(method.upper(), path)
        expected: list[dict[str, list[str]]] = [] if scope is None else [{"key": [scope]}]
        assert operation["security"] == expected
        if name in without:
            assert without[name]["security"] == ([{}, *expected] if expected else [])
        if scope is None:
            assert not {"401", "403", "429"} & operation["responses"].keys()
            continue
        for status in "401", "403":
            assert "WWW-Authenticate" in operation["responses"][status]["headers"]
        assert "Retry-After" in operation["responses"]["429"]["headers"]
    assert with_keys["paths"].keys() - document["paths"].keys() == {"/v1/tenants"}
    assert with_keys["components"]["securitySchemes"]["key"]["scheme"] == "bearer"
    OpenAPIV31SpecValidator(with_keys).validate()
