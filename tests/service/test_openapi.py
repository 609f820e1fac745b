"""The OpenAPI document describes actual bodies and headers."""

import base64
import runpy
from pathlib import Path

import pytest
from gradwire_service import examples
from gradwire_service.access.rules import required_scope
from gradwire_service.app import create_app
from gradwire_service.problems import KINDS, MEDIA_TYPE
from gradwire_service.settings import Settings
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator
from pydantic import SecretStr

ROOT = Path(__file__).parents[2]
JSON, MESSAGEPACK = "application/json", "application/msgpack"
TENSOR = {"dtype": "uint8", "shape": [3], "base64": base64.b64encode(b"abc").decode()}
KEYS = {401, 403, 429}
EXPLAINED = [
    {"program": "y = x * x", "variables": {"x": 3}, "query": "hessian", "time": True},
    {"program": "sum(tanh(x) / 0.0)", "variables": {"x": [0.0] * 100}},
    {"program": "z = exp(1j * x)\nreal(z * conj(z))", "variables": {"x": 0.5}},
    {"program": "for i in range(100):\n  x = sin(x) + 1\nx", "variables": {"x": 0.5}},
]
#: An optimisation that goes on until it is cancelled.
ENDLESS = {
    "program": "sum(x)",
    "variables": {"x": 1},
    "method": "sgd",
    "options": {"maxiter": 10**9, "learning_rate": 1e-9},
    "background": True,
}
ABOUT = {"X-Request-ID", "Server-Timing", "ETag", "Location", "Retry-After"}


@pytest.fixture(scope="module")
def document(app):
    return app.openapi()


@pytest.fixture
def client(new_client):
    return new_client


def operations(document):
    for path, item in document["paths"].items():
        for method, operation in item.items():
            yield f"{method} {path}", operation


def followed(document, part):
    """A parameter with its reference resolved."""
    name = part.get("$ref", "").rpartition("/")[2]
    return document["components"]["parameters"][name] if name else part


def test_requests_and_responses_are_described_in_both_encodings(document):
    for name, operation in operations(document):
        bodies = [operation["requestBody"]] if "requestBody" in operation else []
        if operation["tags"][0] not in ("service", "health"):
            bodies += [body for status, body in operation["responses"].items() if status < "300"]
        for body in bodies:
            content = body.get("content", {})
            if name.endswith(".json"):  # the path determines the media type
                assert set(content) == {JSON}
                continue
            assert (JSON in content) == (MESSAGEPACK in content), name
            if name == "get /v1/tensors/{ref}" and content:
                assert content[JSON]["schema"]["$ref"].endswith("/RawBytes")
                assert content[MESSAGEPACK]["schema"]["$ref"].endswith("/RawData")
            elif JSON in content:
                assert content[JSON]["schema"] == content[MESSAGEPACK]["schema"]


@pytest.fixture(scope="module")
def with_keys():
    """The document of a service with API keys."""
    app = create_app(Settings(cores=1, keys=SecretStr("[]")))
    app.state.executors.shut()
    return app.openapi()


@pytest.mark.thorough
def test_the_documents_are_valid_openapi(document, with_keys):
    assert list(OpenAPIV31SpecValidator(with_keys).iter_errors()) == []
    components = document["components"].copy()
    assert components["schemas"].items() <= with_keys["components"]["schemas"].items()
    components |= {"schemas": {name: {} for name in components["schemas"]}}  # seen above
    document = document | {"components": components}
    assert list(OpenAPIV31SpecValidator(document).iter_errors()) == []


@pytest.mark.parametrize(("which", "of_keys"), [("document", set()), ("with_keys", KEYS)])
def test_every_operation_has_the_general_error_responses(which, of_keys, request):
    document = request.getfixturevalue(which)
    known = {kind.status for kind in KINDS.values()}
    for name, operation in operations(document):
        described = set(map(int, operation["responses"]))
        assert {408, 414, 417, 431, 500, 503} & known <= described, name
        if operation["tags"][0] not in ("service", "health"):
            assert {400, 404, 406, 413, 415, 422, 504} | of_keys <= described, name
    everywhere = {int(s) for _, of in operations(document) for s in of["responses"]}
    assert known - everywhere == {405} | KEYS - of_keys  # 405 belongs to no operation


@pytest.mark.parametrize("which", ["document", "with_keys"])
def test_every_tag_is_described_where_it_is_used(which, request):
    document = request.getfixturevalue(which)
    described = {tag["name"]: tag["description"] for tag in document["tags"]}
    assert described.keys() == {tag for _, of in operations(document) for tag in of["tags"]}
    assert all(described.values())


def test_links_point_to_existing_operations(document):
    known = {operation["operationId"]: operation for _, operation in operations(document)}
    followed_from = set()
    for name, operation in operations(document):
        for response in operation["responses"].values():
            for link in response.get("links", {}).values():
                followed_from.add(name)
                (parameter,) = link["parameters"]
                taken = known[link["operationId"]]["parameters"]
                assert parameter in [one.get("name") for one in taken]
    makers = {
        name
        for name, operation in operations(document)
        if not {"201", "202"}.isdisjoint(operation["responses"])
    }
    assert followed_from == makers


def test_every_operation_has_an_example(document):
    """Each conforms to its schema; response examples have the names of the request examples."""

    def hold(body):
        schema = body["schema"] | {"components": document["components"]}
        assert body["examples"]
        for example in body["examples"].values():
            Draft202012Validator(schema).validate(example["value"])
        return list(body["examples"])

    for name, operation in operations(document):
        for parameter in operation["parameters"]:
            told = followed(document, parameter)
            # Forms prefill a parameter's example, so only required parameters have one.
            shown = told["schema"].get("examples", [told.get("example")])
            assert told.get("required", False) == ("example" in told)
            for example in shown:
                Draft202012Validator(told["schema"]).validate(example)
        answered = next(of for status, of in operation["responses"].items() if status >= "200")
        answered = operation["responses"].get("201", answered).get("content", {})
        asked = operation.get("requestBody", {}).get("content", {})
        bodies = [content[JSON] for content in (asked, answered) if JSON in content]
        named = [hold(body) for body in bodies]
        assert named in ([], named[:1] * len(named)), name


def test_numbers_have_64_bit_formats(document):
    def places(part):
        if isinstance(part, dict):
            if part.get("type") in ("integer", "number"):
                yield part
            part = [inner for name, inner in part.items() if name != "examples"]
        if isinstance(part, list):
            for inner in part:
                yield from places(inner)

    numbers = list(places([document["components"]["schemas"], document["paths"]["/v1/limits"]]))
    assert len(numbers) > 30
    assert all(number["format"] in ("int64", "double") for number in numbers)


async def test_example_responses_are_the_actual_responses():
    tool = runpy.run_path(str(ROOT / "tools/example_answers.py"))
    now = await tool["answers"]()
    assert alike(examples.answers(), now), "run: make docs"


def alike(shown, found):
    """True if two documents are equal up to rounding."""
    if isinstance(shown, dict) and isinstance(found, dict):
        # where the largest error of a check is rounding, so is the place of it
        unsure = {"at"} if max(shown.get("error", 1), found.get("error", 1)) < 1e-9 else set()
        same = (alike(shown[k], found[k]) for k in shown.keys() - unsure)
        return shown.keys() == found.keys() and all(same)
    if isinstance(shown, list) and isinstance(found, list):
        if len(shown) == len(found) and all(isinstance(x, float) for x in shown + found):
            # steps of an optimisation enlarge rounding, the more the closer they are to the end
            size = max(map(abs, shown), default=0.0)
            return found == pytest.approx(shown, rel=1e-6, abs=1e-8 * size + 1e-12)
        return len(shown) == len(found) and all(map(alike, shown, found))
    if isinstance(shown, float) and isinstance(found, float):
        return found == pytest.approx(shown, rel=1e-6, abs=1e-12)
    return type(shown) is type(found) and shown == found


async def test_the_examples_with_stored_resources_work(client):
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


def test_every_error_response_is_a_problem(document):
    for name, operation in operations(document):
        for status, response in operation["responses"].items():
            assert int(status) < 400 or set(response["content"]) == {MEDIA_TYPE}, name


@pytest.mark.thorough
async def test_responses_are_as_described(client, document):
    """Checks status, media type, headers and document of every successful response."""
    seen, known = set(), dict(operations(document))

    async def ask(method, path, template=None, **request):
        response = await client.request(method, path, **request)
        name = f"{method.lower()} {template or path}"
        described = known[name]["responses"][str(response.status_code)]
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
        for example in EXPLAINED:
            await ask("POST", "/v1/explain", json=example, headers=headers)
        await ask("GET", f"/v1/tapes/{tape}", "/v1/tapes/{tape}", headers=headers)
        await ask("DELETE", f"/v1/tapes/{tape}", "/v1/tapes/{tape}", headers=headers)

        for _ in range(2):
            await ask("POST", "/v1/programs", json={"program": "y = x", "name": "it"})
            stored = await ask("PUT", "/v1/tensors", json=TENSOR)
        ref = stored.json()["ref"]
        await ask("PUT", f"/v1/tensors/{ref}", "/v1/tensors/{ref}", json=TENSOR, headers=headers)
        await ask("GET", "/v1/programs", headers=headers)
        tensor = f"/v1/tensors/{ref}", "/v1/tensors/{ref}"
        kept = "/v1/programs/it", "/v1/programs/{program}"
        forms = "graph.svg", "graph.dot", "graph.json"
        graphs = [tuple(f"{path}/{form}" for path in kept) for form in forms]
        for path in (tensor, kept, *graphs):
            found = await ask("GET", *path)
            unchanged = await ask("GET", *path, headers={"if-none-match": found.headers["etag"]})
            assert unchanged.status_code == 304
        await ask("HEAD", *tensor)
        for path in (tensor, kept):
            await ask("DELETE", *path, headers=headers)
        for kind in "minimize", "least_squares", "root":
            await ask("POST", f"/v1/{kind}", json=program, headers=headers)
        begun = await ask("POST", "/v1/minimize", json=ENDLESS)
        job = begun.headers["location"], "/v1/jobs/{job}"
        for _ in range(2):  # while it runs, and once it is cancelled
            await ask("GET", *job, headers=headers)
            await ask("DELETE", *job, headers=headers)
            await ask("GET", "/v1/jobs", headers=headers)
        ended = await ask("POST", "/v1/minimize", json=program | {"background": True})
        job = ended.headers["location"], "/v1/jobs/{job}"
        await ask("GET", f"{job[0]}/events", "/v1/jobs/{job}/events")
        await ask("GET", *job, headers=headers)
    for plain in "/v1/ops", "/v1/limits", "/healthz", "/readyz", "/metrics":
        await ask("GET", plain)
    assert seen == known.keys()


def test_request_headers_are_described(document):
    for name, operation in operations(document):
        parameters = [followed(document, parameter) for parameter in operation["parameters"]]
        headers = {parameter["name"] for parameter in parameters if parameter["in"] == "header"}
        assert "X-Request-ID" in headers
        assert ("Content-Encoding" in headers) == ("requestBody" in operation), name
        assert ("If-None-Match" in headers) == ("304" in operation["responses"]), name


def test_scopes_are_described_if_keys_are_required(with_keys, document):
    for name, operation in operations(with_keys):
        method, path = name.split()
        scope = required_scope(method.upper(), path)
        assert operation["security"] == ([] if scope is None else [{"key": [scope]}])
        if scope is None:
            assert not {"401", "403", "429"} & operation["responses"].keys()
            continue
        for status in "401", "403":
            assert "WWW-Authenticate" in operation["responses"][status]["headers"]
        assert "Retry-After" in operation["responses"]["429"]["headers"]
    assert with_keys["paths"].keys() - document["paths"].keys() == {"/v1/tenants"}
    assert with_keys["components"]["securitySchemes"]["key"]["scheme"] == "bearer"
    assert "securitySchemes" not in document["components"]
    assert all("security" not in operation for _, operation in operations(document))
