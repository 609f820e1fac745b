"""``/openapi.json``, and ``/docs``: Swagger UI, served without other hosts."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from typing import Any

import orjson
from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.responses import Response

from gradwire_service.routes.fixed import Fixed

#: Nothing is loaded from or sent to other hosts.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

_OURS = ("gradwire_service", "static")
_THEIRS = ("fastapi_swagger", "resources")  # a package with Swagger UI's published files

ASSETS: dict[str, tuple[tuple[str, str], str]] = {
    "docs.html": (_OURS, "text/html; charset=utf-8"),
    "docs.js": (_OURS, "text/javascript; charset=utf-8"),
    "swagger-ui-bundle.js": (_THEIRS, "text/javascript; charset=utf-8"),
    "swagger-ui.css": (_THEIRS, "text/css; charset=utf-8"),
    "favicon-32x32.png": (_THEIRS, "image/png"),
}


def _asset(name: str) -> Fixed:
    (package, folder), media_type = ASSETS[name]
    file = files(package) / folder / name
    headers = {
        "content-security-policy": CONTENT_SECURITY_POLICY,
        "cache-control": "public, max-age=3600",
    }
    return Fixed(file.read_bytes, media_type, headers)


def router(describe: Callable[[], dict[str, Any]]) -> APIRouter:
    """The routes of the OpenAPI document from ``describe``, and of the page and its assets."""
    routes = APIRouter(include_in_schema=False)
    document = Fixed(lambda: orjson.dumps(describe()), "application/json")
    assets = {name: _asset(name) for name in ASSETS}

    @routes.get("/openapi.json")
    async def openapi() -> Response:
        return await document.response()

    @routes.get("/docs")
    async def docs() -> Response:
        return await assets["docs.html"].response()

    @routes.get("/docs/{name}")
    async def docs_part(name: str) -> Response:
        if name not in assets:
            raise HTTPException(404)
        return await assets[name].response()

    return routes
