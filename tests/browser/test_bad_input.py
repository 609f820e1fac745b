"""Bad input and a service that goes away: the page says what happened and loses nothing typed."""

import base64
import json
import zlib
from contextlib import ExitStack

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import running
from tests.browser.links import text_of
from tests.fleet.processes import free_port

VALUE = {"name": "Value", "exact": True}


@pytest.mark.parametrize(
    "program",
    ["y = x + 1\n" * 100_000, "x" + " + 1" * 250_000, "a" * 1_000_000, "\n" * 1_000_000 + "x"],
    ids=["lines", "one line", "one name", "blank lines"],
)
def test_a_program_of_a_million_characters_is_answered_and_can_be_typed_in(visit, program):
    opened = visit()
    page = opened.page
    expect(page.get_by_role("region", **VALUE)).to_contain_text("0.716854")
    opened.write(program)
    box = page.get_by_role("textbox", name="Program")
    box.press("Control+End")
    page.keyboard.type("# typed at the end")
    expect(box).to_contain_text("# typed at the end")
    assert page.locator(".cm-line").count() < 300  # of the many lines only those to be seen
    last = page.locator(".answer")
    expect(last).to_have_attribute("aria-busy", "false")
    alert = page.get_by_role("alert")
    expect(alert.or_(page.get_by_text("float64").first).first).to_be_visible()
    assert alert.count() == 0 or "Service unreachable" not in alert.first.inner_text()


def test_a_program_too_long_for_a_link_says_so_and_asks_before_it_is_lost(visit):
    opened = visit()
    page = opened.page
    page.wait_for_url("**/#v1=*")
    # Text that cannot be made shorter.
    opened.write("x = 1  # " + page.evaluate(_RANDOM))
    notice = page.locator(".notice")
    expect(notice).to_contain_text("too long for a link")
    assert "#" not in page.url
    asked = []

    def stay(dialog):
        asked.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)
    with page.expect_event("dialog"):
        page.close(run_before_unload=True)
    assert asked == ["beforeunload"]
    assert not page.is_closed()
    opened.write("1 + 1")
    expect(notice).to_have_count(0)
    page.wait_for_url("**/#v1=*")


_RANDOM = """() => {
  const bytes = crypto.getRandomValues(new Uint8Array(60000));
  return btoa(String.fromCharCode(...bytes.subarray(0, 60000)));
}"""


def test_a_file_of_200_megabytes_is_refused_before_it_is_read(visit, tmp_path):
    opened = visit()
    page = opened.page
    large = tmp_path / "large.npy"
    with large.open("wb") as file:
        file.truncate(200_000_000)
    page.get_by_label("Files").set_input_files(large)
    note = page.locator(".variables-section [role=status]")
    expect(note).to_contain_text("large.npy is not loaded: it has 200 MB and was not read")
    expect(note).to_contain_text("at most 67.1 MB")
    expect(page.get_by_role("region", **VALUE)).to_contain_text("0.716854")
    expect(page.get_by_role("textbox", name="Program")).to_contain_text("tanh")
    assert page.locator("[data-path]").count() == 4


def test_a_file_of_200_megabytes_dropped_on_the_editor_is_refused(visit):
    opened = visit()
    page = opened.page
    program = page.locator(".editor.program .cm-content")
    before = program.inner_text()
    program.evaluate("""(element) => {
      const data = new DataTransfer();
      data.items.add(new File([new Uint8Array(200_000_000)], "large.csv"));
      const options = { dataTransfer: data, bubbles: true, cancelable: true, composed: true };
      element.dispatchEvent(new DragEvent("drop", options));
    }""")
    note = page.locator(".variables-section [role=status]")
    expect(note).to_contain_text("large.csv is not loaded: it has 200 MB")
    assert program.inner_text() == before


def test_variables_that_are_too_large_together_are_refused_before_they_are_sent(visit):
    opened = visit()
    page = opened.page
    for name in ("a", "b"):
        page.get_by_label("Name of the new variable").fill(name)
        page.get_by_label("Value of the new variable").fill("zeros(4000000)")
        page.get_by_role("button", name="Add", exact=True).click()
        expect(page.locator(f"[data-path={name}]")).to_contain_text("float64[4000000]")
    problem = page.get_by_role("alert").filter(has_text="Body too large")
    expect(problem).to_contain_text("the service reads at most 67108864")
    page.get_by_role("button", name="Remove b").click()
    expect(problem).to_have_count(0)


def test_a_service_that_goes_away_is_asked_again_and_nothing_typed_is_lost(visit, tmp_path):
    port = free_port()
    with ExitStack() as stack:
        first = stack.enter_context(ExitStack())
        address = first.enter_context(running(tmp_path, port))
        opened = visit(address=address)
        page = opened.page
        value = page.get_by_role("region", **VALUE)
        expect(value).to_contain_text("0.716854")
        first.close()
        opened.write_variables('{"x": 20}')
        opened.write("x + 1")
        page.get_by_label("with respect to").fill("")
        expect(page.get_by_role("alert")).to_contain_text("Service unreachable")
        expect(value).to_contain_text("0.716854")
        page.get_by_role("textbox", name="Program").press("Control+End")
        page.keyboard.type(" + 2")
        expect(page.get_by_role("textbox", name="Program")).to_have_text("x + 1 + 2")
        stack.enter_context(running(tmp_path, port))
        expect(value).to_contain_text("23")
        expect(page.get_by_role("alert")).to_have_count(0)
        expect(page.get_by_role("textbox", name="Program")).to_have_text("x + 1 + 2")


#: Links that hold no program, and what is said of them; the last is {"program": 3}, deflated.
LINKS = {
    "#v0=abcdef": "another version",
    "#v1=abcdef": "The link is damaged",
    "#v1=q1YqKMpPL0rMVbJSMK4FAA": "no program with its values",
}


def test_an_old_link_says_so_and_stays_until_something_is_typed(visit):
    opened = visit(movable=True)
    page = opened.page
    for fragment, said in LINKS.items():
        page.goto("about:blank")  # or else the page would not be loaded again
        page.goto(f"{opened.address}/{fragment}")
        expect(page.locator(".notice")).to_contain_text(said)
        opened.later(800)
        assert page.url.endswith(fragment)
        opened.write("1 + 1")
        page.wait_for_url(lambda url, old=fragment: not url.endswith(old))


def test_a_link_with_wrong_and_endless_formulas_is_opened_with_their_text(visit):
    formulas = {f"x{i}": "zeros(4000000)" for i in range(1000)}
    saved = {"program": "sum(y)", "generated": {"y": "ones(5)", "z": "norm(3)", **formulas}}
    packed = zlib.compressobj(9, zlib.DEFLATED, -15)
    content = packed.compress(json.dumps(saved).encode()) + packed.flush()
    page = visit("#v1=" + base64.urlsafe_b64encode(content).decode().rstrip("=")).page
    notice = page.locator(".notice")
    expect(notice).to_contain_text("z has the formula norm(3), which gives no values")
    expect(notice).to_contain_text("the other variables leave no room for it")
    expect(notice).to_contain_text("So have 997 others")
    expect(page.get_by_label("z, formula")).to_have_value("norm(3)")
    expect(page.get_by_label("x999, formula")).to_have_value("zeros(4000000)")


def test_an_old_link_in_the_address_loses_nothing_typed(visit):
    opened = visit()
    page = opened.page
    opened.write("sum(x) * 42")
    expect(page.get_by_role("region", **VALUE)).to_contain_text("420")
    page.wait_for_url(lambda url: "sum(x) * 42" in text_of(url))
    kept = page.url
    page.evaluate("location.hash = '#v0=old'")
    expect(page.locator(".notice")).to_contain_text("another version")
    expect(page.get_by_role("textbox", name="Program")).to_have_text("sum(x) * 42")
    expect(page).to_have_url(kept)


def test_variables_nested_without_end_are_refused_in_words(visit):
    opened = visit()
    opened.write_variables('{"x": ' + "[" * 20_000 + "]" * 20_000 + "}")
    opened.controls()
    section = opened.page.get_by_role("region", name="Variables")
    expect(section).to_contain_text("nested more than 100 levels deep")
