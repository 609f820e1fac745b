"""Cross-origin requests: no origin is allowed by default."""

import pytest
from gradwire_service.openapi.headers import _ANSWERED as ANSWERED
from gradwire_service.openapi.headers import _ASKED as ASKED
from gradwire_service.settings import Settings

PAGE = "https://page.example"
#: The headers that pages may send: the documented ones, and others.
SENT = [*ASKED, "Gradwire-Placement", "Gradwire-Program", "traceparent", "tracestate"]
PATHS = [
    "/v1/gradient",
    "/v1/tapes/none/gradient",
    "/v1/programs",
    "/v1/tensors",
    "/healthz",
    "/no",
]


def names(value):
    return {name.strip().lower() for name in value.split(",")}


async def preflight(client, path, origin=PAGE, method="POST", headers="authorization"):
    asked = {
        "origin": origin,
        "access-control-request-method": method,
        "access-control-request-headers": headers,
    }
    return await client.options(path, headers=asked)


def allowed(response):
    return {name for name in response.headers if name.startswith("access-control")}


def refused(response, origin=PAGE):
    """A refused preflight names the origin, and the setting that would allow it."""
    assert (response.status_code, allowed(response)) == (405, set())
    problem = response.json()
    assert problem["code"] == "method_not_allowed"
    assert origin in problem["detail"]
    assert "GRADWIRE_CORS_ORIGINS" in problem["hint"]
    assert response.headers["allow"].split(", ") == ["DELETE", "GET", "HEAD", "POST", "PUT"]


async def test_no_origin_is_allowed_by_default(client):
    asked = {"program": "x", "variables": {"x": 1}}
    response = await client.post("/v1/evaluate", json=asked, headers={"origin": PAGE})
    assert response.status_code == 200
    assert not allowed(response)
    refused(await preflight(client, "/v1/evaluate"))


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("method", ["GET", "PUT", "POST", "DELETE"])
async def test_allowed_origins_pass_the_preflight(served, path, method):
    async with served(cors_origins=f"https://other.example, {PAGE}") as client:
        response = await preflight(client, path, method=method, headers=", ".join(SENT))
        assert response.status_code == 200
        assert response.headers["access-control-allow-origin"] == PAGE
        assert method in response.headers["access-control-allow-methods"]
        sent = names(response.headers["access-control-allow-headers"])
        assert {*map(str.lower, SENT), "authorization", "content-type"} <= sent
        assert "origin" in names(response.headers["vary"])
        assert response.headers["x-request-id"]
        assert response.headers["x-content-type-options"] == "nosniff"
        strange = await preflight(client, path, origin="https://page.example.other")
        refused(strange, "https://page.example.other")


@pytest.mark.parametrize("asked", [{"method": "PATCH"}, {"headers": "x-secret"}])
async def test_preflights_with_unknown_headers_or_methods_are_refused(served, asked):
    async with served(cors_origins=PAGE) as client:
        response = await preflight(client, "/v1/evaluate", **asked)
        refused(response)
        assert "POST" in response.json()["hint"]
        assert "Authorization" in response.json()["hint"]


async def test_preflights_are_refused_before_authentication(served):
    async with served(keys="[]") as client:
        refused(await preflight(client, "/v1/evaluate"))
        plain = await client.options("/v1/evaluate")
        assert plain.status_code == 401


async def test_allowed_origins_can_read_responses_and_errors(served):
    async with served(cors_origins=PAGE) as client:
        good = await client.post("/v1/evaluate", json={"program": "1"}, headers={"origin": PAGE})
        bad = await client.post("/v1/evaluate", json={}, headers={"origin": PAGE})
        none = await client.get("/no", headers={"origin": PAGE})
        assert [one.status_code for one in (good, bad, none)] == [200, 422, 404]
        for response in good, bad, none:
            assert response.headers["access-control-allow-origin"] == PAGE
            assert set(map(str.lower, ANSWERED)) <= names(
                response.headers["access-control-expose-headers"]
            )
            assert "access-control-allow-credentials" not in response.headers
        other = {"origin": "https://other.example"}
        strange = await client.post("/v1/evaluate", json={"program": "1"}, headers=other)
        assert "access-control-allow-origin" not in strange.headers


async def test_a_wildcard_allows_all_origins_without_credentials(served):
    async with served(cors_origins="*") as client:
        asked = {"origin": PAGE, "cookie": "a=b"}
        response = await client.get("/healthz", headers=asked)
        assert "access-control-allow-credentials" not in response.headers
        assert (await preflight(client, "/v1/ops")).status_code == 200


@pytest.mark.parametrize("origins", ["page.example", "https://page.example/", "null", "https://*"])
def test_invalid_origins_are_refused(origins):
    with pytest.raises(ValueError, match="is not an origin"):
        Settings(cors_origins=origins)


def test_several_origins_may_be_listed(monkeypatch):
    monkeypatch.setenv("GRADWIRE_CORS_ORIGINS", "https://a.example , http://[::1]:80,")
    assert Settings().cors_origins == ("https://a.example", "http://[::1]:80")
