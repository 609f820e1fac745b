"""The page in Chromium: when it is ready, and when an answer follows the last key."""

from __future__ import annotations

import shutil
from statistics import median
from typing import Any

from measure import table
from servers import GRADWIRE, running

_ARGUMENTS = "--no-sandbox --disable-gpu --disable-background-networking --disable-sync".split()
#: Milliseconds from the start of the navigation to the first answer on the screen.
_READY = """() => new Promise((resolve) => {
  const look = () => document.querySelector('[aria-label="Value"]')
    ? requestAnimationFrame(() => resolve(performance.now())) : requestAnimationFrame(look);
  look();
})"""
#: From the next key to the next change of the value, for as many keys as are typed.
_WATCH = """() => {
  window.answered = [];
  let pressed = null;
  addEventListener("keydown", () => { pressed = performance.now(); }, true);
  let shown = document.querySelector('[aria-label="Value"]').textContent;
  new MutationObserver(() => {
    const value = document.querySelector('[aria-label="Value"]')?.textContent ?? shown;
    if (value === shown || pressed === null) return;
    shown = value;
    window.answered.push(performance.now() - pressed);
    pressed = null;
  }).observe(document.body, { subtree: true, childList: true, characterData: true });
}"""


def report(*, quick: bool) -> list[str]:
    """Bars: ready within 1 s, an answer within 60 ms of the last key (median)."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return ["playwright is not installed"]
    chromium = shutil.which("chromium")
    if chromium is None:
        return ["chromium is not installed"]
    with running(GRADWIRE) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=_ARGUMENTS)
        address = f"http://127.0.0.1:{server.port}/"
        ready = [_ready(browser, address) for _ in range(3 if quick else 10)]
        answered = _answered(browser, address, 20 if quick else 100)
        browser.close()
    rows = [_row("ready, first answer shown", ready), _row("answer after a key", answered)]
    return [table("The page, milliseconds", ("", "median", "least", "most"), rows)]


def _row(name: str, times: list[float]) -> tuple[str, ...]:
    return name, f"{median(times):.0f}", f"{min(times):.0f}", f"{max(times):.0f}"


def _ready(browser: Any, address: str) -> float:
    """In a profile of its own, with nothing cached."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(address, wait_until="commit")
    milliseconds: float = page.evaluate(_READY)
    context.close()
    return milliseconds


def _answered(browser: Any, address: str, keys: int) -> list[float]:
    page = browser.new_page()
    page.goto(address)
    page.evaluate(_READY)
    page.get_by_role("textbox", name="Program").press("Control+End")
    page.keyboard.type(" + 1")
    page.wait_for_timeout(500)
    page.evaluate(_WATCH)
    for count in range(1, keys + 1):
        # A digit more is a new program, which the service has not seen.
        page.keyboard.type(str(1 + count % 9))
        if count % 8 == 0:
            for _ in range(7):
                page.keyboard.press("Backspace")
        page.wait_for_timeout(300)
    times: list[float] = page.evaluate("() => window.answered")
    return times
