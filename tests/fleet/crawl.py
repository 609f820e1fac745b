"""Follows all references of a service's pages, and finds what would be loaded from other hosts.

As a program, it starts a service, crawls it, and prints the result: in a network without routes.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

import httpx

from tests.fleet.fleets import replica

PAGES = ("/", "/docs")
#: URL schemes that load nothing from a host.
_WITHIN = {"data", "blob", "about", "mailto", "urn"}
#: Attributes with which HTML and SVG load something; in ``a`` they are only links.
_LOADING = {"src", "href", "xlink:href", "srcset", "poster", "data", "action", "formaction"}
_CSS_ADDRESS = re.compile(r"""url\(\s*["']?([^"')]*)|@import\s+["']([^"']*)""")
#: Calls with a literal address, either absolute or on another host.
_SCRIPT_ADDRESS = re.compile(
    r"""(?:fetch|import|importScripts|Worker|EventSource|WebSocket|sendBeacon|\.open)\(\s*"""
    r"""(?:["'`][A-Z]+["'`]\s*,\s*)?["'`]((?:[a-z]+:)?//[^"'`]*)"""
)
_SCRIPT_IMPORT = re.compile(r"""(?:^|[;\n])\s*(?:import|export)\b[^;"'\n]*["']([^"']+)["']""")

_BROWSER_FLAGS = (
    "headless",
    "no-sandbox",
    "disable-gpu",
    "disable-quic",
    "no-first-run",
    "disable-background-networking",
    "disable-component-update",
    "disable-sync",
    "disable-default-apps",
    "disable-domain-reliability",
    "disable-features=NetworkTimeServiceQuerying,OptimizationHints",
)
#: A request in the browser's log that a page has made; those of the browser itself, for the time,
#: updates and much else, have no origin.
_REQUEST = re.compile(r'"initiator":"https?://[^"]*"[^\n]*?"url":"((?:https?|wss?)://[^"]*)"')


class Found(NamedTuple):
    """The result of a crawl."""

    loaded: dict[str, int]
    outside: list[str]
    policies: dict[str, str]


class _Addresses(HTMLParser):
    """Collects the addresses that a page loads, and its styles and scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = tag
        for name, value in attrs:
            if value and name in _LOADING and tag != "a":
                addresses = value.split(",") if name == "srcset" else [value]
                self.found += [address.split()[0] for address in addresses if address.strip()]
            elif value and name == "style":
                self.found += _of_styles(value)

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "style":
            self.found += _of_styles(data)
        elif self._inside == "script":
            self.found += _of_script(data)


def addresses(media_type: str, text: str) -> list[str]:
    """The addresses that a page, a style sheet, a script or a picture loads."""
    if media_type in {"text/html", "image/svg+xml"}:
        parser = _Addresses()
        parser.feed(text)
        return parser.found
    if media_type == "text/css":
        return _of_styles(text)
    return _of_script(text) if media_type == "text/javascript" else []


def _of_styles(text: str) -> list[str]:
    return [one or other for one, other in _CSS_ADDRESS.findall(text)]


def _of_script(text: str) -> list[str]:
    return [*_SCRIPT_ADDRESS.findall(text), *_SCRIPT_IMPORT.findall(text)]


async def crawl(client: httpx.AsyncClient, pages: list[str]) -> Found:
    """Load the pages and everything that they load from the same origin."""
    found, waiting = Found({}, [], {}), list(pages)
    while waiting:
        path = waiting.pop()
        if path in found.loaded:
            continue
        response = await client.get(path)
        found.loaded[path] = response.status_code
        media_type = response.headers.get("content-type", "").partition(";")[0]
        if response.status_code != 200:
            continue
        found.policies[path] = response.headers.get("content-security-policy", "")
        for address in addresses(media_type, response.text):
            parts = urlsplit(address)
            if parts.scheme in _WITHIN or address.startswith("#"):
                continue
            if parts.scheme or parts.netloc:
                found.outside.append(f"{path} loads {address}")
            else:
                waiting.append(urlsplit(urljoin(path, address)).path)
    return found


async def browsed(binary: str, address: str, folder: Path) -> tuple[str, set[str]]:
    """The page as a browser shows it, and every address that it requested."""
    log = folder / "net.json"
    browser = await asyncio.create_subprocess_exec(
        binary,
        *(f"--{flag}" for flag in _BROWSER_FLAGS),
        f"--user-data-dir={folder / 'profile'}",
        f"--log-net-log={log}",
        "--virtual-time-budget=10000",
        "--dump-dom",
        address,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    shown, _ = await browser.communicate()
    asked = _REQUEST.findall(log.read_text(errors="replace"))
    return shown.decode(errors="replace"), {*asked}


def has_route() -> bool:
    """True if other machines can be reached."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # a documentation address (RFC 5737); nothing is sent
        except OSError:
            return False
    return True


async def main(folder: Path, binary: str | None) -> None:
    """Serve, compute, crawl and browse; print the result."""
    async with replica(folder) as alone:
        async with alone.client() as client:
            asked = {"program": "y = sum(x**2)", "variables": {"x": [1, 2]}}
            gradient = await client.post("/v1/gradient", json=asked)
            await client.post("/v1/programs", json={"program": "y = x * x", "name": "f"})
            found = await crawl(client, [*PAGES, "/v1/programs/f/graph.svg"])
        told = found._asdict() | {"gradient": gradient.json(), "route": has_route()}
        if binary is not None:
            page = f"http://127.0.0.1:{alone.port}/docs"
            shown, asked_for = await browsed(binary, page, folder)
            told["operations_shown"] = shown.count("opblock-summary-path")
            origin = f"http://127.0.0.1:{alone.port}/"
            told["asked_outside"] = [one for one in asked_for if not one.startswith(origin)]
            told["asked_here"] = [urlsplit(one).path for one in asked_for if one.startswith(origin)]
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None))
