"""Without network routes everything works, and no page loads anything from other hosts."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.fleet.crawl import addresses, crawl

REPOSITORY = Path(__file__).parents[2]
#: A network namespace with only the loopback, in a user namespace if that needs privileges.
ALONE = ["unshare", "--net", *([] if os.geteuid() == 0 else ["--map-root-user"]), "sh", "-c"]
BROWSERS = ("chromium", "chromium-headless-shell", "google-chrome")
POLICY = {"default-src 'none'", "connect-src 'self'", "script-src 'self'"}


def permitted():
    """True if a network namespace can be created here."""
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        return False
    try:
        made = subprocess.run([*ALONE, "ip link set lo up"], capture_output=True, check=False)
    except OSError:
        return False
    return made.returncode == 0


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """The results of the crawl without routes."""
    if not permitted():
        pytest.skip("a network of its own is not permitted here")
    browser = next(filter(None, map(shutil.which, BROWSERS)), "")
    act = 'ip link set lo up && exec "$0" -m tests.fleet.crawl "$@"'
    arguments = [
        sys.executable,
        str(tmp_path_factory.mktemp("alone")),
        *([browser] * bool(browser)),
    ]
    found = subprocess.run(
        [*ALONE, act, *arguments],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr[-4000:]
    return json.loads(found.stdout)


def test_there_is_no_route_and_the_service_computes(told):
    assert told["route"] is False
    assert told["gradient"]["gradients"] == {"x": [2.0, 4.0]}


def test_every_page_is_complete_and_loads_nothing_from_other_hosts(told):
    assert told["outside"] == []
    loaded = told["loaded"]
    missing = {path for path, status in loaded.items() if status != 200} - {"/"}
    assert not missing
    assert {"/docs", "/docs/docs.js", "/docs/swagger-ui.css", "/docs/swagger-ui-bundle.js"} <= set(
        loaded
    )
    for path in "/docs", "/docs/docs.js":
        assert {part.strip() for part in told["policies"][path].split(";")} >= POLICY


def test_a_browser_shows_the_documentation_and_contacts_no_other_host(told):
    if "operations_shown" not in told:
        pytest.skip("there is no browser")
    assert told["asked_outside"] == []
    assert "/openapi.json" in told["asked_here"]
    assert told["operations_shown"] > 25


OUTSIDE = [
    ("text/html", '<script src="https://cdn.example/a.js"></script>'),
    ("text/html", "<link rel=stylesheet href=//cdn.example/a.css>"),
    ("text/html", '<img srcset="a.png 1x, https://cdn.example/a.png 2x">'),
    ("text/html", "<style>@import 'https://cdn.example/a.css';</style>"),
    ("text/html", '<p style="background: url(https://cdn.example/a.png)">'),
    ("text/html", "<script>fetch('https://cdn.example/a')</script>"),
    ("image/svg+xml", '<svg><image xlink:href="https://cdn.example/a.png"/></svg>'),
    ("text/css", "@font-face { src: url(//cdn.example/a.woff2) }"),
    ("text/javascript", 'import x from "https://cdn.example/a.js"'),
    ("text/javascript", 'new WebSocket("wss://cdn.example/a")'),
    ("text/javascript", 'x.open("GET", "https://cdn.example/a")'),
]


@pytest.mark.parametrize(("media_type", "text"), OUTSIDE)
def test_the_crawler_finds_what_a_page_loads(media_type, text):
    assert any("cdn.example" in address for address in addresses(media_type, text))

    async def crawled():
        def answer(request):
            headers = {"content-type": media_type}
            return httpx.Response(200, text=text, headers=headers)

        transport = httpx.MockTransport(answer)
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            return await crawl(client, ["/page"])

    assert asyncio.run(crawled()).outside


def test_links_do_not_count_as_loaded():
    assert addresses("text/html", '<a href="https://example.org">there</a>') == []
