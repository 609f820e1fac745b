"""The guide as it is built: complete, without other hosts, in the wheel, and served."""

import re
import shutil
import socket
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import httpx
import pytest
import uvicorn
from fastapi import FastAPI
from gradwire_service.app import create_app
from gradwire_service.routes import guide

from tests.browser.conftest import ARGUMENTS, CHROMIUM

pytest.importorskip("sphinx")

ROOT = Path(__file__).parents[2]
WHERE = guide.FOLDER.relative_to(ROOT)
#: Elements that load what their attribute names.
LOADING = {"script": "src", "img": "src", "iframe": "src", "object": "data", "source": "src"}


class Page(HTMLParser):
    """What a page loads, links to and can be linked to by."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.inline: list[str] = []
        self._open = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self._open = tag if tag == "script" and "src" not in named else ""
        self.anchors |= {value for name, value in attrs if name == "id" and value}
        self.inline += [f"{name}={value}" for name, value in attrs if name.startswith("on")]
        if (address := named.get(LOADING.get(tag, ""))) is not None:
            self.loads.append(address)
        if (address := named.get("href")) is not None:
            leads = tag == "a" or named.get("rel") in {"next", "prev", "index", "search"}
            (self.links if leads else self.loads).append(address)

    def handle_data(self, data: str) -> None:
        if self._open and data.strip():
            self.inline.append(data)


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The site, built by the command of `make docs-site`; warnings are errors."""
    folder = tmp_path_factory.mktemp("guide") / "site"
    command = [sys.executable, str(ROOT / "tools/guide.py"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site) -> dict[Path, Page]:
    return {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}


def test_the_image_has_the_guide():
    """All that the guide is made of is copied, and the wheel is built after it."""
    from tools.guide import ADOPTED  # which needs Sphinx

    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    guide, build = (
        dockerfile.partition(f"AS {name}\n")[2].partition("\nFROM ")[0]
        for name in ("guide", "wheel")
    )
    elsewhere = [source for source in ADOPTED.values() if not source.startswith("docs/")]
    for source in [*elsewhere, "docs", "tools/guide.py"]:
        assert re.search(rf"^COPY {source} ", guide, flags=re.MULTILINE), source
    assert 0 < build.index(f"COPY --from=guide /guide {WHERE}\n") < build.index("pip wheel")


def test_every_page_of_docs_is_there(site, pages):
    written = {path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")}
    built = {path.relative_to(site) for path in pages}
    # A folder's README is its index.
    pages_of = {path.with_name("index.md") if path.stem == "README" else path for path in written}
    assert {path.with_suffix(".html") for path in pages_of} <= built
    assert len(built) > 110


def test_nothing_is_loaded_from_other_hosts(site, pages):
    for path, page in pages.items():
        assert page.loads
        for address in page.loads:
            assert not re.match(r"[a-z]+:|//", address), (path, address)
            assert (path.parent / urldefrag(address.partition("?")[0])[0]).exists(), address
    for path in site.rglob("*.css"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"@import|url\(\s*['\"]?(?:https?:)?//", text), path


def test_there_is_no_script_in_any_page(pages):
    assert not {path: page.inline for path, page in pages.items() if page.inline}


def test_links_lead_to_pages_and_their_anchors(site, pages):
    for path, page in pages.items():
        for link in page.links:
            if re.match(r"https?:", link):
                continue
            address, anchor = urldefrag(link)
            target = (path.parent / unquote(address)).resolve() if address else path
            assert target in pages, (path, link)
            assert not anchor or unquote(anchor) in pages[target].anchors, (path, link)


def test_the_search_knows_every_page(site, pages):
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    (names,) = re.findall(r'"?docnames"?:\[(.*?)\]', index)
    known = set(re.findall(r'"([^"]+)"', names))
    shown = {path.relative_to(site).with_suffix("").as_posix() for path in pages}
    assert shown - known == {"search"}


@pytest.fixture
def wheel(site, tmp_path) -> Path:
    """The service's wheel, built from a checkout with the site in its place."""
    source = tmp_path / "source"
    for name in ("pyproject.toml", "README.md", "LICENSE", ".gitignore"):
        source.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, source)
    ignored = shutil.ignore_patterns("__pycache__", "guide")
    for name in ("engine/gradwire_engine", "service/gradwire_service"):
        shutil.copytree(ROOT / name, source / name, ignore=ignored)
    shutil.copytree(site, source / WHERE)
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=source, check=True, capture_output=True)
    return next(tmp_path.glob("*.whl"))


def test_the_wheel_contains_it_though_git_ignores_it(site, wheel):
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    assert f"/{WHERE.as_posix()}/" in ignored
    within = WHERE.relative_to("service").as_posix()
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if name.startswith(f"{within}/")}
        compressed = sum(archive.getinfo(name).compress_size for name in packed)
    files = {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}
    assert packed == {f"{within}/{name}" for name in files}
    assert compressed < 2_000_000


@pytest.fixture
def app(site) -> Iterator[FastAPI]:
    """A service that has this site."""
    app = create_app()
    app.router.routes[:0] = guide.router(site).routes
    yield app
    app.state.executors.shut()


async def test_the_service_serves_it_and_its_search(app):
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
        first = await client.get("/guide", follow_redirects=True)
        assert "<title>Gradwire</title>" in first.text
        for path in "search.html", "searchindex.js", "_static/searchtools.js", "_static/icon.svg":
            assert (await client.get(f"/guide/{path}")).status_code == 200, path


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_a_browser_finds_pages_under_the_content_security_policy(app):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, ws="none"))
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/guide/search.html?q=cotangent"
        options = [*ARGUMENTS, "--headless", "--virtual-time-budget=20000", "--dump-dom"]
        command = [str(CHROMIUM), *options, "--enable-logging=stderr", address]
        try:
            shown = subprocess.run(command, capture_output=True, text=True, check=True)
        finally:
            server.should_exit = True
            thread.join()
    assert re.search(r"found \d+ pages? matching", shown.stdout)
    assert 'href="explanation/reverse-mode.html' in shown.stdout
    assert "Content Security Policy" not in shown.stderr
