"""What people are sent cannot run here, and what they type goes to this service alone."""

import json
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


@pytest.mark.parametrize(
    ("program", "variables", "sources"),
    [
        (f"# {HOSTILE}\nsum(x)", {"x": [1, 2]}, None),
        ("sum(x)", {"x": [1, 2], HOSTILE: 3}, None),
        ("sum(x)", {"x": [1, 2], "s": HOSTILE}, None),
        ("sum(x)", {"x": {HOSTILE: [1, 2]}}, None),
        (f"x + {HOSTILE}", {"x": 1}, None),
        (f'error("{HOSTILE}")', {"x": 1}, None),
        ("x", {"x": 1}, HOSTILE),
        ("x", {"x": {"value": 1, "dtype": HOSTILE}}, None),
        ("x", {"x": 1}, {HOSTILE: "x"}),
    ],
    ids=["program", "name", "string", "nested", "syntax", "operation", "source", "dtype", "key"],
)
def test_markup_in_a_link_is_text(visit, program, variables, sources):
    document = {"program": program, "variables": variables}
    if sources is not None:
        document["sources"] = sources
    opened = visit(fragment_of(document))
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


def test_the_answer_is_kept_while_the_service_is_away_and_asked_for_again(visit, tmp_path):
    with running(tmp_path) as address:
        opened = visit(address=address)
        page = opened.page
        expect(page.get_by_label("Value", exact=True)).to_contain_text("0.716854")
        page.get_by_label("with respect to").fill("")
        opened.write_variables(json.dumps({"x": 2}))
    opened.write("x**2 + 38")
    expect(page.get_by_role("alert")).to_contain_text("Service unreachable")
    expect(page.get_by_role("textbox", name="Program")).to_contain_text("x**2 + 38")
    with running(tmp_path, port=int(address.rpartition(":")[2])):
        expect(page.get_by_label("Value", exact=True)).to_contain_text("42")
        expect(page.get_by_role("alert")).to_have_count(0)
    compare = page.get_by_role("button", name="Compare with finite differences")
    compare.click()
    expect(page.locator(".check")).to_contain_text("Service unreachable")
    with running(tmp_path, port=int(address.rpartition(":")[2])):
        opened.write("x**2 + 39")
        expect(page.get_by_label("Value", exact=True)).to_contain_text("43")
        expect(page.get_by_role("alert")).to_have_count(0)
        compare.click()
        expect(page.locator(".check")).to_contain_text("x agrees")
