"""What people are sent cannot run here, and what they type goes to this service alone."""

import subprocess
import sys

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import running
from tests.browser.links import fragment_of

HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=1</script>'
TITLE = "Gradwire: differentiate a program"


def assert_nothing_ran(opened):
    """Markup is shown as text."""
    page = opened.page
    assert page.title() == TITLE
    assert page.locator("img, iframe, object, script:not([src])").count() == 0


#: Markup in each part of a document, the first alone: program, names, texts, sources, dtypes.
MARKED = [
    {"program": f"# {HOSTILE}\nsum(x)", "variables": {"x": [1, 2], HOSTILE: 3, "s": HOSTILE}},
    {"program": "sum(x)", "variables": {"x": {HOSTILE: [1, 2]}}},
    {"program": f"x + {HOSTILE}", "variables": {"x": 1}},
    {"program": f'error("{HOSTILE}")', "variables": {"x": 1}},
    {"program": "x", "variables": {"x": 1}, "sources": HOSTILE},
    {"program": "x", "variables": {"x": {"value": 1, "dtype": HOSTILE}}},
    {"program": "x", "variables": {"x": 1}, "sources": {HOSTILE: "x"}},
]


def test_markup_in_a_link_is_text(visit):
    opened = visit()
    for document in MARKED:
        opened.page.goto("about:blank")  # or else the page would not be loaded again
        opened.page.goto(f"{opened.address}/{fragment_of(document)}")
        expect(opened.page.locator(".answer[aria-busy=false]")).not_to_contain_text("appear here")
        for tab in opened.page.get_by_role("tab").all():
            tab.click()
            opened.settle()
            assert_nothing_ran(opened)


def test_a_script_that_got_in_would_not_run(visit):
    """The policy is the second wall: it is tried as if the first had a hole."""
    opened = visit()
    with pytest.raises(Exception, match="TrustedHTML"):
        opened.page.evaluate("(text) => { document.body.innerHTML = text }", HOSTILE)
    assert_nothing_ran(opened)
    opened.page.evaluate("() => window.blocked = []")
    opened.page.evaluate(
        "() => document.addEventListener('securitypolicyviolation',"
        " (event) => window.blocked.push(event.effectiveDirective))"
    )
    opened.page.evaluate(
        "() => fetch('http://127.0.0.2:9/').catch(() => window.blocked.push('failed'))"
    )
    assert "connect-src" in opened.page.evaluate("() => window.blocked")
    opened.faults.clear()


def test_nothing_is_kept_and_no_cookies_are_set(visit):
    opened = visit()
    expect(opened.page.get_by_label("Value", exact=True)).to_contain_text("0.716854")
    kept = "() => [localStorage.length, sessionStorage.length, document.cookie]"
    assert opened.page.evaluate(kept) == [0, 0, ""]


def test_a_key_is_asked_for_and_kept_until_the_page_is_closed(visit, tmp_path):
    keys = tmp_path / "keys.json"
    command = "-m gradwire_service keys new --tenant somebody --name page --file".split()
    made = subprocess.run(
        [sys.executable, *command, keys], capture_output=True, text=True, check=True
    )
    key = next(word for word in made.stdout.split() if word.startswith("gw_"))
    with running(tmp_path, GRADWIRE_KEYS_FILE=str(keys)) as address:
        opened = visit(address=address)
        page = opened.page
        field = page.get_by_label("This service needs an API key")
        field.fill("gw_wrong")
        page.get_by_role("button", name="Use it").click()
        expect(page.locator(".key [role=alert]")).to_contain_text("unknown, revoked or expired")
        field.fill(key)
        page.get_by_role("button", name="Use it").click()
        expect(page.get_by_label("Value", exact=True)).to_contain_text("0.716854")
        page.get_by_role("tab", name="Code").click()
        code = page.locator(".code pre")
        expect(code).to_contain_text("$GRADWIRE_API_KEY")
        assert key not in page.content()
        assert key not in page.url
        kept = "() => JSON.stringify([localStorage, sessionStorage])"
        assert key not in page.evaluate(kept)
        page.reload()
        expect(page.get_by_label("This service needs an API key")).to_have_value("")


def test_a_comparison_is_asked_for_again_after_the_network_was_away(visit):
    opened = visit(offline=False)
    page = opened.page
    expect(page.get_by_label("Value", exact=True)).to_contain_text("0.716854")
    page.context.set_offline(True)
    compare = page.get_by_role("button", name="Compare with finite differences")
    compare.click()
    expect(page.locator(".check")).to_contain_text("Service unreachable")
    page.context.set_offline(False)
    page.get_by_label("with respect to").fill("")
    opened.write_variables('{"x": 2}')
    opened.write("x**2 + 39")
    expect(page.get_by_label("Value", exact=True)).to_contain_text("43")
    expect(page.get_by_role("alert")).to_have_count(0)
    compare.click()
    expect(page.locator(".check")).to_contain_text("x agrees")
