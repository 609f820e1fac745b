"""Security headers of every response."""

import pytest
from gradwire_service.wire.security_headers import security_headers

GOOD = {"program": "x * x", "variables": {"x": 3}}
NOTHING_LOADED = "default-src 'none'; frame-ancestors 'none'"


@pytest.mark.parametrize(
    "path", ["/v1/ops", "/v1/limits", "/healthz", "/metrics", "/openapi.json", "/nothing", "/docs"]
)
async def test_every_response_has_security_headers(client, path):
    await is_protected(await client.get(path), path)


async def is_protected(response, path):
    names = [name for name, _ in response.headers.multi_items() if name != "vary"]
    assert len(names) == len(set(names))
    headers = response.headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert ("cache-control" in headers) or ("etag" in headers)
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors" in policy
    assert "strict-transport-security" not in headers


async def test_responses_and_problems_must_not_be_cached(client):
    for request, status in (GOOD, 200), ({}, 422):
        response = await client.post("/v1/gradient", json=request)
        assert response.status_code == status
        await is_protected(response, "/v1/gradient")
        assert response.headers["cache-control"] == "no-store"
        assert response.headers["content-security-policy"] == NOTHING_LOADED


async def test_pictures_and_pages_have_their_own_content_security_policy(client):
    made = await client.post("/v1/programs", json={"program": "x * x"})
    picture = await client.get(f"/v1/programs/{made.json()['id']}/graph.svg")
    await is_protected(picture, ".svg")
    assert "style-src" in picture.headers["content-security-policy"]
    page = await client.get("/docs")
    assert "script-src 'self'" in page.headers["content-security-policy"]
    assert page.headers["cache-control"] == "public, max-age=3600"


def test_existing_headers_are_not_duplicated():
    said = (b"content-security-policy", b"default-src 'self'")
    assert {name for name, _ in security_headers([said])} == {
        b"x-content-type-options",
        b"referrer-policy",
        b"cache-control",
    }
    assert b"cache-control" not in dict(security_headers([(b"etag", b'"a"')]))
