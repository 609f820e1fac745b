"""The guide is served from its folder, and nothing else is."""

from contextlib import asynccontextmanager

import pytest
from gradwire_service.app import create_app
from gradwire_service.routes import guide

from tests.service.conftest import client_of

PAGES = {
    "index.html": "<h1>Gradwire</h1>",
    "search.html": "<h1>Search</h1>",
    "searchindex.js": "Search.setIndex({})",
    "tutorial/first.html": "<h1>First</h1>",
}


@pytest.fixture
def folder(tmp_path):
    """A built guide, beside a file that is none of it."""
    (tmp_path / "secret.txt").write_text("secret")
    for name, text in PAGES.items():
        path = tmp_path / "guide" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "guide"


@asynccontextmanager
async def reading(folder):
    """A client of a service that has the guide in a folder."""
    app = create_app()
    app.router.routes[:0] = guide.router(folder).routes  # before those of the installed guide
    async with client_of(app) as client:
        yield client
    app.state.executors.shut()


@pytest.fixture
async def reader(folder):
    async with reading(folder) as client:
        yield client


async def test_every_page_is_served_with_a_strict_policy(reader):
    for name, text in PAGES.items():
        response = await reader.get(f"/guide/{name}")
        assert (response.status_code, response.text) == (200, text)
        policy = response.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["cache-control"] == "public, max-age=3600"


async def test_the_folder_is_its_first_page(reader):
    moved = await reader.get("/guide")
    assert (moved.status_code, moved.headers["location"]) == (308, "guide/")
    first = await reader.get("/guide", follow_redirects=True)
    assert first.url.path == "/guide/"
    assert first.text == PAGES["index.html"]


async def test_what_the_client_has_is_not_sent_again(reader):
    first = await reader.get("/guide/searchindex.js")
    again = await reader.get(
        "/guide/searchindex.js", headers={"if-none-match": first.headers["etag"]}
    )
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]


async def test_head_has_the_headers_alone(reader):
    get, head = [await reader.request(method, "/guide/") for method in ("GET", "HEAD")]
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == str(len(PAGES["index.html"]))
    assert head.headers["etag"] == get.headers["etag"]
    assert (await reader.post("/guide/")).status_code == 405


@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt",
        "..%2fsecret.txt",
        "%2e%2e/secret.txt",
        "tutorial/%2e%2e/%2e%2e/secret.txt",
        "..%5csecret.txt",
        "//etc/passwd",
        "%00",
        "no-such-page.html",
        "tutorial/first.html/more",
    ],
)
async def test_nothing_else_is_served(reader, path):
    response = await reader.get(f"/guide/{path}")
    assert response.status_code == 404
    assert response.headers["content-type"] == "application/problem+json"
    assert "secret" not in response.text


async def test_links_out_of_the_folder_are_not_followed(reader, folder):
    (folder / "linked.txt").symlink_to(folder.parent / "secret.txt")
    assert (await reader.get("/guide/linked.txt")).status_code == 404


@pytest.mark.parametrize("path", ["/guide", "/guide/", "/guide/tutorial/first.html"])
async def test_without_a_guide_the_problem_says_how_to_build_it(tmp_path, path):
    async with reading(tmp_path / "none") as client:
        response = await client.get(path)
    assert response.status_code == 404
    problem = response.json()
    assert problem["code"] == "not_found"
    assert "without the guide" in problem["detail"]
    assert "make docs-site" in problem["hint"]


async def test_a_browser_is_told_that_there_is_no_guide_by_a_page(tmp_path):
    # As Chromium asks when a link is followed.
    accept = {"accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
    async with reading(tmp_path / "none") as client:
        response = await client.get("/guide/", headers=accept)
        part = await client.get("/guide/tutorial/first.html", headers=accept)
    assert response.status_code == 404
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in response.headers["content-security-policy"]
    assert response.headers["cache-control"] == "no-store"
    assert "make docs-site" in response.text
    assert 'href=".."' in response.text
    assert part.headers["content-type"] == "application/problem+json"
