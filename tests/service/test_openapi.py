"""What the OpenAPI document says of bodies and headers is what requests get."""

import base64

import pytest
from gradwire_service.problems import MEDIA_TYPE
from jsonschema import Draft202012Validator

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
