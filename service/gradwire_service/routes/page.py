"""``/``: the page on which programs are tried, served without other hosts."""

from __future__ import annotations

from importlib.resources import files

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.responses import Response

from gradwire_service.routes.fixed import Fixed

#: No other hosts, no inline scripts or styles; scripts cannot turn text into markup.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'"
)

_FOLDER = files("gradwire_service") / "page"
#: Files of the page by name, with their media types; `make page` builds them.
ASSETS = {
    "page.js": "text/javascript; charset=utf-8",
    "page.css": "text/css; charset=utf-8",
    "icon.svg": "image/svg+xml",
    "licenses.txt": "text/plain; charset=utf-8",
}


def _file(name: str, media_type: str, caching: str) -> Fixed:
    headers = {"content-security-policy": CONTENT_SECURITY_POLICY, "cache-control": caching}
    return Fixed((_FOLDER / name).read_bytes, media_type, headers)


def router() -> APIRouter:
    """The routes of the page and its files."""
    routes = APIRouter(include_in_schema=False)
    index = _file("index.html", "text/html; charset=utf-8", "no-cache")
    # The index asks for them with the digests of their contents.
    caching = "public, max-age=31536000, immutable"
    assets = {name: _file(name, media_type, caching) for name, media_type in ASSETS.items()}

    @routes.get("/")
    async def page() -> Response:
        return await index.response()

    @routes.get("/page/{name}")
    async def part(name: str) -> Response:
        if name not in assets:
            raise HTTPException(404)
        return await assets[name].response()

    return routes
