"""``/docs``: Swagger UI, every part of it served from here."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.responses import Response

#: Nothing is loaded from, or sent to, any other host.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

_OURS = ("gradwire_service", "static")
_THEIRS = ("fastapi_swagger", "resources")  # a package of Swagger UI's published files

ASSETS: dict[str, tuple[tuple[str, str], str]] = {
    "docs.html": (_OURS, "text/html; charset=utf-8"),
    "docs.js": (_OURS, "text/javascript; charset=utf-8"),
    "swagger-ui-bundle.js": (_THEIRS, "text/javascript; charset=utf-8"),
    "swagger-ui.css": (_THEIRS, "text/css; charset=utf-8"),
    "favicon-32x32.png": (_THEIRS, "image/png"),
}


@cache
def _content(name: str) -> bytes:
    (package, folder), _ = ASSETS[name]
    file: Traversable = files(package) / folder / name
    return file.read_bytes()


def _asset(name: str) -> Response:
    headers = {
        "content-security-policy": CONTENT_SECURITY_POLICY,
        "cache-control": "public, max-age=3600",
    }
    return Response(_content(name), media_type=ASSETS[name][1], headers=headers)


def router() -> APIRouter:
    """The page and what it loads."""
    routes = APIRouter(include_in_schema=False)

    @routes.get("/docs")
    async def docs() -> Response:
        return _asset("docs.html")

    @routes.get("/docs/{name}")
    async def docs_part(name: str) -> Response:
        if name not in ASSETS:
            raise HTTPException(404)
        return _asset(name)

    return routes
