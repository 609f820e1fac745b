"""The table of scopes: it covers every route, and unknown paths need a key."""

import pytest
from gradwire_service.access.rules import SCOPES, required_scope
from hypothesis import given
from hypothesis import strategies as st

PUBLIC = {
    "/",
    "/healthz",
    "/readyz",
    "/docs",
    "/docs/{name}",
    "/guide",
    "/guide/{path:path}",
    "/page/{name}",
    "/openapi.json",
    "/v1/ops",
    "/v1/limits",
}
ADMIN = {"/metrics"}
STORED = "/v1/programs", "/v1/tensors"


def expected(method, path):
    """The same rules, implemented independently."""
    if path in PUBLIC:
        return None
    if path in ADMIN:
        return "admin"
    if method in {"GET", "HEAD"} or not path.startswith(STORED):
        return "compute"
    return "write"


def test_every_route_requires_its_documented_scope(app):
    paths = app.openapi()["paths"]
    asked = [(method.upper(), path) for path, methods in paths.items() for method in methods]
    assert len(asked) > 30
    for method, path in [*asked, *(("GET", path) for path in PUBLIC)]:
        assert required_scope(method, path) == expected(method, path), (method, path)


@given(st.sampled_from(["GET", "POST", "DELETE", "BREW"]), st.from_regex(r"/[a-z/.%]{0,30}"))
def test_unknown_paths_need_a_key(method, path):
    if path not in PUBLIC and not path.startswith(("/docs/", "/guide/", "/page/")):
        assert required_scope(method, path) in SCOPES


@pytest.mark.parametrize(
    "path",
    [
        "",
        "//",
        "//healthz",
        "/healthz/",
        "/HEALTHZ",
        "/healthz/../metrics",
        "/v1/ops/",
        "/docsx",
        "/pages/x",
    ],
)
def test_paths_that_resemble_public_ones_need_a_key(path):
    assert required_scope("GET", path) is not None
