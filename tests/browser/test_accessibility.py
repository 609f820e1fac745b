"""The page by keyboard, by screen reader, in both themes, on a phone, and without jumps."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

AXE = Path(__file__).parents[2] / "clients/page/node_modules/axe-core/axe.min.js"
#: The rules that colours decide, of those that run by themselves.
OF_COLOURS = ["color-contrast", "link-in-text-block"]
LARGE = {"width": 1200, "height": 800}
PHONE = {"width": 360, "height": 740}


def assert_accessible(opened, where="document"):
    """Axe finds nothing, and nothing by its rules of colours in the dark theme."""
    if not AXE.exists():
        pytest.skip("the page's tools are not installed: make page")
    page = opened.page
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    for theme, rules in ("light", {}), ("dark", {"runOnly": OF_COLOURS}):
        page.emulate_media(color_scheme=theme)
        opened.settle()
        found = page.evaluate(f"(rules) => axe.run({where}, rules)", rules)["violations"]
        shown = [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found]
        assert shown == [], theme
    width = page.evaluate("() => document.documentElement.scrollWidth")
    assert width <= page.viewport_size["width"]  # there is no scrolling sideways


@pytest.mark.parametrize("size", [LARGE, PHONE], ids=["large", "phone"])
def test_axe_finds_nothing_in_any_tab(visit, size):
    opened = visit(viewport=size)
    page = opened.page
    expect(page.get_by_label("Value", exact=True)).to_contain_text("0.716854")
    for tab in page.get_by_role("tab").all():
        tab.click()
        opened.settle()
        assert_accessible(opened)


def test_tabs_are_chosen_by_arrows(visit):
    page = visit().page
    tabs = page.get_by_role("tab")
    tabs.first.focus()
    page.keyboard.press("ArrowRight")
    expect(tabs.nth(1)).to_be_focused()
    expect(tabs.nth(1)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("End")
    expect(tabs.last).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(tabs.first).to_be_focused()


def test_the_keyboard_leaves_the_editor(visit):
    """Tab indents; Escape and then Tab goes on, as in every editor by CodeMirror."""
    page = visit().page
    editor = page.get_by_role("textbox", name="Program")
    editor.focus()
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(editor).not_to_be_focused()


def test_what_is_chosen_is_marked_where_the_system_replaces_colours(visit):
    page = visit(forced_colors="active").page
    background = "(element) => getComputedStyle(element).backgroundColor"
    chosen, other = (
        page.locator(".choice label", has_text=name).evaluate(background)
        for name in ("Controls", "JSON")
    )
    assert chosen != other
    border = "(element) => getComputedStyle(element).borderBottomColor"
    chosen, other = (
        page.get_by_role("tab", name=name).evaluate(border) for name in ("Answer", "Tape")
    )
    canvas = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert chosen != canvas
    assert other == canvas


def test_nothing_jumps_while_the_page_loads_and_answers(visit):
    opened = visit(viewport=LARGE)
    page = opened.page
    expect(page.get_by_label("Value", exact=True)).to_contain_text("0.716854")
    page.wait_for_load_state("networkidle")
    opened.settle()
    shift = page.evaluate(
        """() => new Promise((resolve) => {
          let sum = 0;
          new PerformanceObserver((list) => {
            for (const entry of list.getEntries()) if (!entry.hadRecentInput) sum += entry.value;
          }).observe({ type: "layout-shift", buffered: true });
          setTimeout(() => resolve(sum), 200);
        })"""
    )
    assert shift < 0.01
