"""A real service and a real Chromium: the page as people use it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.fleet.processes import free_port
from tests.processes import until

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
#: A little less than what pytest allows a test.
PATIENCE_MS = 280_000
#: What keeps it from asking hosts of its own, and a container's small /dev/shm.
ARGUMENTS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage"
).split()


@contextmanager
def running(folder: Path, port: int | None = None, **environment: str) -> Iterator[str]:
    """The address of a service with these settings."""
    port = free_port() if port is None else port
    address = f"http://127.0.0.1:{port}"
    settings = {"GRADWIRE_PORT": str(port), "GRADWIRE_DRAIN_SECONDS": "0", **environment}
    with (folder / "service.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "gradwire_service", "serve"],
            env={**os.environ, **settings},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    try:
        _wait(address, process, folder)
        yield address
    finally:
        process.terminate()
        process.wait()


def _wait(address: str, process: subprocess.Popen[bytes], folder: Path) -> None:
    with httpx.Client(base_url=address, trust_env=False, timeout=None) as client:
        until(lambda: process.poll() is not None or _is_ready(client))
    if process.poll() is not None:
        pytest.fail(f"the service did not start:\n{(folder / 'service.log').read_text()}")


def _is_ready(client: httpx.Client) -> bool:
    try:
        return client.get("/readyz").status_code == 200
    except httpx.TransportError:
        return False


@pytest.fixture(scope="session")
def service(tmp_path_factory):
    """The address of a service that tests share and leave as it is."""
    with running(tmp_path_factory.mktemp("service")) as address:
        yield address


@pytest.fixture(scope="session")
def browser():
    """A Chromium."""
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    playwright = pytest.importorskip("playwright.sync_api")
    # On a busy machine all takes long; pytest ends a test that hangs.
    playwright.expect.set_options(timeout=PATIENCE_MS)
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield chromium
        chromium.close()


class Visit:
    """A page, what it reported and which requests it sent."""

    def __init__(self, page, address):
        self.page = page
        self.address = address
        self.faults: list[str] = []
        self.requests: list[Any] = []
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("request", self._see)

    def _see(self, request):
        self.requests.append(request)

    def _hear(self, message):
        # Chromium reports each answer of 400 or more, which the page shows as a problem.
        if message.type in {"error", "warning"} and "Failed to load resource" not in message.text:
            self.faults.append(message.text)

    @property
    def foreign(self):
        """Addresses of other hosts that it asked for."""
        urls = [request.url for request in self.requests]
        return [url for url in urls if not url.startswith((self.address, "data:", "blob:"))]

    def write(self, program):
        """Paste another program."""
        self._paste("Program", program)

    def write_variables(self, text):
        """Paste other variables."""
        self.page.get_by_role("radio", name="JSON").check()
        self._paste("Variables, as JSON", text)

    def controls(self):
        """Show the variables' sliders, grids and files."""
        self.page.get_by_role("radio", name="Controls").check()

    def later(self, milliseconds):
        """Have time passed for the page's timers, of a visit with a ``movable`` clock."""
        self.page.clock.run_for(milliseconds)

    def settle(self):
        """Wait for what moves and fades."""
        self.page.evaluate(
            "() => Promise.allSettled(document.getAnimations().map((one) => one.finished))"
        )

    def _paste(self, editor, text):
        box = self.page.get_by_role("textbox", name=editor)
        box.press("Control+a")
        box.evaluate(PASTE, text)


#: Text of several lines; keys would be completed and indented.
PASTE = """(element, text) => {
  const data = new DataTransfer();
  data.setData("text/plain", text);
  const options = { clipboardData: data, bubbles: true, cancelable: true };
  element.dispatchEvent(new ClipboardEvent("paste", options));
}"""


@pytest.fixture(scope="session")
def context(browser):
    """What visits share that ask for nothing of their own: the files that Chromium keeps."""
    with browser.new_context() as opened:
        yield opened


@pytest.fixture
def visit(browser, context, service):
    """Opens the page; at the end nothing was wrong on it and no other host was asked."""
    with visiting(browser, context, service) as start:
        yield start


@contextmanager
def visiting(browser, shared, service):
    """Give what opens the page, as ``visit`` does."""
    with ExitStack() as stack:
        visits = []

        def start(fragment="", address=service, *, movable=False, **context):
            own = movable or context
            opened = stack.enter_context(browser.new_context(**context)) if own else shared
            opened.set_default_timeout(PATIENCE_MS)
            if movable:
                opened.clock.install()
            page = opened.new_page()
            stack.callback(page.close)
            visits.append(Visit(page, address))
            visits[-1].page.goto(f"{address}/{fragment}")
            return visits[-1]

        yield start
        for one in visits:
            assert one.faults == []
            assert one.foreign == []
