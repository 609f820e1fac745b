"""The page's files: from this host alone, and absent where they are switched off."""

import re

import pytest
from gradwire_service.app import create_app
from gradwire_service.routes.page import ASSETS
from gradwire_service.settings import Settings
from httpx import ASGITransport, AsyncClient


async def test_the_index_names_files_of_this_host_with_their_digests(client):
    index = await client.get("/")
    assert index.headers["content-type"] == "text/html; charset=utf-8"
    assert index.headers["cache-control"] == "no-cache"
    loaded = re.findall(r'<(?:script|link)[^>]* (?:src|href)="([^"]*)"', index.text)
    assert len(loaded) == 3
    for address in loaded:
        assert re.fullmatch(r"page/[\w.]+\?v=[0-9a-f]{16}", address)
        part = await client.get(f"/{address}")
        assert part.status_code == 200
        assert "immutable" in part.headers["cache-control"]


@pytest.mark.parametrize("path", ["/", *(f"/page/{name}" for name in ASSETS)])
async def test_the_content_security_policy_is_strict(client, path):
    policy = (await client.get(path)).headers["content-security-policy"]
    directives = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert directives["default-src"] == "'none'"
    assert directives["script-src"] == directives["style-src"] == "'self'"
    assert directives["require-trusted-types-for"] == "'script'"
    assert "unsafe" not in policy


async def test_nothing_else_is_served(client):
    for name in "index.html", "..%2fapp.py", "%2e%2e/app.py":
        assert (await client.get(f"/page/{name}")).status_code == 404


async def test_it_can_be_switched_off():
    transport = ASGITransport(create_app(Settings(page=False)))
    async with AsyncClient(transport=transport, base_url="http://service") as client:
        for path in "/", "/page/page.js", "/guide", "/guide/index.html":
            reply = await client.get(path)
            assert (reply.status_code, reply.json()["detail"]) == (404, "this path does not exist")
        assert (await client.get("/docs")).status_code == 200
