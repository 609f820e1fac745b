"""``/guide``: the guide, the website that ``make docs-site`` builds from the pages of docs/."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles

from gradwire_service.problems import RequestError
from gradwire_service.routes.documentation import CONTENT_SECURITY_POLICY

#: Where the guide is, if it was built.
FOLDER = Path(__file__).parents[1] / "static" / "guide"
_HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "cache-control": "public, max-age=3600",
}
#: What people see who follow the page's link to a guide that is not there.
_NOT_BUILT = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="color-scheme" content="light dark">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Gradwire: no guide</title>
<h1>This service was installed without the guide</h1>
<p>In a checkout of Gradwire, <code>make docs-site</code> builds it, and this service shows it
after a restart. The same pages can be read in the folder <code>docs</code>. Wheels and images of
releases contain the guide.</p>
<p><a href="..">Back to the page</a></p>
</html>
"""


def router(folder: Path = FOLDER) -> APIRouter:
    """The routes of the guide in a folder.

    Paths that lead out of it do not exist. Answers have an ``ETag`` (RFC 9110, 8.8.3).
    """
    routes = APIRouter(include_in_schema=False)
    files = StaticFiles(directory=folder, html=True) if folder.is_dir() else None

    @routes.get("/guide")
    async def guide() -> Response:
        if files is None:
            raise _missing()
        return RedirectResponse("guide/", 308, _HEADERS)  # links are relative to the folder

    @routes.get("/guide/{path:path}")
    async def guide_part(path: str, request: Request) -> Response:
        if files is None:
            if path == "" and "text/html" in request.headers.get("accept", ""):
                return HTMLResponse(_NOT_BUILT, 404, {**_HEADERS, "cache-control": "no-store"})
            raise _missing()
        try:
            response = await files.get_response(path or ".", request.scope)
        except HTTPException as error:
            if error.status_code != 404:
                raise
            hint = "/guide/ lists every page, /guide/search.html searches them"
            raise RequestError("not_found", "the guide has no such page", hint=hint) from None
        response.headers.update(_HEADERS)
        return response

    return routes


def _missing() -> RequestError:
    detail = "this service was installed without the guide"
    hint = "`make docs-site` builds it; wheels and images of releases contain it"
    return RequestError("not_found", detail, hint=hint)
