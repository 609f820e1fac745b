"""The documentation page loads nothing from other hosts."""

import re

import pytest
from gradwire_service.routes.documentation import ASSETS


async def test_the_page_loads_only_from_this_host(client):
    page = (await client.get("/docs")).text
    referred = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert referred
    for address in referred:
        assert ":" not in address
        assert not address.startswith("/")
        assert (await client.get(f"/{address}")).status_code == 200
    assert not re.search(r"https?:|//", page)


async def test_the_script_calls_no_other_host(client):
    script = (await client.get("/docs/docs.js")).text
    assert "validatorUrl: null" in script
    assert not re.search(r"https?:|\"//", script)


async def test_the_styles_load_nothing_from_other_hosts(client):
    styles = (await client.get("/docs/swagger-ui.css")).text
    loaded = re.findall(r"url\(\s*['\"]?([^'\")]{0,40})", styles)
    assert all(address.startswith(("data:", "#")) for address in loaded)
    assert "@import" not in styles


@pytest.mark.parametrize("path", ["/docs", *(f"/docs/{name}" for name in ASSETS)])
async def test_the_content_security_policy_allows_only_this_host(client, path):
    response = await client.get(path)
    assert response.status_code == 200
    policy = response.headers["content-security-policy"]
    directives = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert directives["default-src"] == "'none'"
    for name, sources in directives.items():
        assert set(sources.split()) <= {"'none'", "'self'", "data:", "'unsafe-inline'"}, name
    assert "unsafe" not in directives["script-src"]
    assert response.headers["x-content-type-options"] == "nosniff"


async def test_nothing_else_is_served(client):
    for name in "__init__.py", "..%2fapp.py", "%2e%2e/app.py":
        assert (await client.get(f"/docs/{name}")).status_code == 404


async def test_the_page_follows_the_browsers_dark_mode(client):
    """The class that the script sets exists in Swagger UI's styles."""
    script = (await client.get("/docs/docs.js")).text
    (name,) = re.findall(r'classList\.toggle\("([\w-]+)"', script)
    assert 'matchMedia("(prefers-color-scheme: dark)")' in script
    styles = (await client.get("/docs/swagger-ui.css")).text
    assert re.search(rf"html\.{name}\{{[^}}]*color-scheme:dark", styles)
    assert '<meta name="color-scheme" content="light dark">' in (await client.get("/docs")).text
